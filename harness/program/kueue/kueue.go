// Package kueue brings the released Kueue into a world as its own chart does: rights, CRDs, webhooks and configuration are those of the
// release's files, and the process has the rights of its service account, no more. There is one process, without
// the visibility server, which would listen on all addresses.
package kueue

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"nodestorm/harness/builds"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/world"
	"nodestorm/harness/world/container"
	"nodestorm/harness/world/process"
	"nodestorm/sim/history/audit"
	"nodestorm/sim/pki"
)

const (
	namespace = "kueue-system" // what its documentation installs it in
	// secret keeps the certificate of its webhooks, as the chart calls it.
	secret = builds.Kueue + "-webhook-server-cert"
	// mounted is where the Deployment has its configuration, which is a file of the world here, and config that file's key.
	mounted = "--config="
	config  = "controller_manager_config.yaml"
)

// kueue is one release in one world.
type kueue struct{ deploy.Process }

// bring installs a release and starts it, and waits until it is ready. Virtual time passes as real time does until then.
func bring(ctx context.Context, s *scene.Scene, t builds.Target) error {
	of, err := render(t.Asset(builds.ChartedPrograms[builds.Kueue].Chart))
	if err != nil {
		return fmt.Errorf("rendering the chart of %s: %w", t.Ref, err)
	}
	at := place{dir: filepath.Join(s.World.Dir(), t.Program())}
	if err := os.Mkdir(at.dir, 0o700); err != nil {
		return err
	}
	for _, port := range []*int{&at.webhooks, &at.health} {
		if *port, err = world.FreePort(); err != nil {
			return err
		}
	}
	_ = s.World.Reach(at.webhooks) // for as long as the world is there
	c, err := client.New(s.World.Admin(), client.Options{})
	if err != nil {
		return err
	}
	if err := of.install(ctx, s.World, c, at); err != nil {
		return fmt.Errorf("installing %s: %w", t.Ref, err)
	}
	k := &kueue{}
	k.Args = of.args
	if k.Access, err = of.account.Reach(s.World.Cluster, s.Breaks[t.Program()], nil, audit.ProgramGroup(t.Program())); err != nil {
		return err
	}
	file := filepath.Join(at.dir, config)
	if err := of.configure(file, at); err != nil {
		return fmt.Errorf("reading the configuration of %s: %w", t.Ref, err)
	}
	s.Run(t.Program(), k)
	starting, ctx := errgroup.WithContext(ctx)
	starting.Go(func() error { return at.mount(ctx, s.World, c) })
	starting.Go(func() error {
		_, err := s.World.StartComponent(ctx, container.Program(s.World, t, container.Settings{}, process.Spec{
			Name:  t.Program(),
			Args:  append(slices.Clone(k.Args), mounted+file, "--kubeconfig="+k.Access.Kubeconfig),
			Ready: world.HTTPReady(fmt.Sprintf("http://127.0.0.1:%d/readyz", at.health)),
		}))
		return err
	})
	return starting.Wait()
}

// place is where the program is: ports of loopback, and a folder of the world.
type place struct {
	webhooks, health int
	dir              string
}

// mount waits until the program has made the certificate of its webhooks, and puts it where kubelets mount its Secret upstream.
func (p place) mount(ctx context.Context, w *world.World, c client.Client) error {
	return w.Await(ctx, time.Minute, func(ctx context.Context) error {
		var kept corev1.Secret
		if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: secret}, &kept); err != nil {
			return err
		}
		pair := pki.Pair{Cert: kept.Data[corev1.TLSCertKey], Key: kept.Data[corev1.TLSPrivateKeyKey]}
		if len(pair.Cert) == 0 || len(pair.Key) == 0 {
			return fmt.Errorf("the Secret %s has no certificate yet", secret)
		}
		_, _, err := pair.Write(p.dir, "tls")
		return err
	})
}

// installation is what the chart makes.
type installation struct {
	args    []string
	account deploy.Account
	config  map[string]any
	objects []*unstructured.Unstructured // rights, CRDs, webhooks, and what these need
}

// render is the chart in a folder.
func render(dir string) (of installation, err error) {
	objects, err := deploy.Chart(dir, builds.Kueue, namespace, map[string]any{"controllerManager": map[string]any{
		"featureGates": []any{map[string]any{"name": "VisibilityOnDemand", "enabled": false}},
	}})
	if err != nil {
		return of, err
	}
	for _, o := range objects {
		switch kind := o.GetKind(); {
		case deploy.Rights(o), deploy.IsCRD(o), strings.HasSuffix(kind, "WebhookConfiguration"), kind == "Service", kind == "Secret":
			of.objects = append(of.objects, o)
		case kind == "Deployment":
			err = of.read(o)
		case kind == "ConfigMap":
			var m corev1.ConfigMap
			if err = runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &m); err == nil {
				err = yaml.Unmarshal([]byte(m.Data[config]), &of.config)
			}
		}
		if err != nil {
			return of, err
		}
	}
	if of.args == nil || of.config == nil || !slices.ContainsFunc(of.objects, deploy.IsCRD) {
		return of, fmt.Errorf("it has no Deployment with arguments, no %s, or no CRDs", config)
	}
	return of, nil
}

// read has the program be as its Deployment says.
func (of *installation) read(deployment *unstructured.Unstructured) error {
	main, err := deploy.Container(deployment)
	if err != nil {
		return err
	}
	account, _, err := unstructured.NestedString(deployment.Object, "spec", "template", "spec", "serviceAccountName")
	of.account = deploy.Account{Namespace: namespace, Name: account}
	of.args = slices.DeleteFunc(main.Args, func(arg string) bool { return strings.HasPrefix(arg, mounted) })
	return err
}

// install creates the objects, of which webhooks lead to the place, and waits until the API server serves its kinds.
func (of *installation) install(ctx context.Context, w *world.World, c client.Client, at place) error {
	for _, o := range of.objects {
		if err := deploy.LeadTo(o, at.webhooks); err != nil {
			return err
		}
	}
	crds, err := deploy.CRDs(of.objects)
	if err != nil {
		return err
	}
	rest := append(slices.DeleteFunc(of.objects, deploy.IsCRD), deploy.Namespace(namespace))
	if err := deploy.Create(ctx, c, rest...); err != nil {
		return err
	}
	_, err = envtest.InstallCRDs(w.Admin(), envtest.CRDInstallOptions{
		CRDs: crds, PollInterval: 10 * time.Millisecond, // real: time may jump in between
	})
	return err
}

// configure writes the chart's configuration into a file, with what says where it is: nothing that a pod would have.
func (of *installation) configure(file string, where place) error {
	at := maps.Clone(of.config)
	leader, _, err := unstructured.NestedMap(at, "leaderElection")
	if err != nil {
		return err
	}
	if leader == nil {
		leader = map[string]any{}
	}
	leader["resourceNamespace"] = namespace // upstream it is the pod's
	at["leaderElection"] = leader
	at["namespace"] = namespace
	at["health"] = map[string]any{"healthProbeBindAddress": fmt.Sprintf("127.0.0.1:%d", where.health)}
	at["metrics"] = map[string]any{"bindAddress": "0"} // which nothing asks for
	at["webhook"] = map[string]any{"host": "127.0.0.1", "port": where.webhooks, "certDir": where.dir}
	text, err := yaml.Marshal(at)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}
