// Package descheduler brings the released descheduler into a world as its own chart does with the Deployment that it can make: rights and
// flags are those of the release's files, and the process has the rights of its service account, no more.
package descheduler

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"nodestorm/harness/builds"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/world"
	"nodestorm/harness/world/container"
	"nodestorm/harness/world/process"
)

const (
	chart = "charts/descheduler" // where a release has it
	// mounted is where the Deployment has its policy, which is a file of the world here.
	mounted = "--policy-config-file="
)

// descheduler is one release in one world.
type descheduler struct{ deploy.Process }

// bring installs a release and starts it, and waits until it is ready. Virtual time passes as real time does until then.
func bring(ctx context.Context, s *scene.Scene, t builds.Target, every time.Duration, p policy) error {
	of, err := render(t.Asset(chart), every, p)
	if err != nil {
		return fmt.Errorf("rendering the chart of %s: %w", t.Ref, err)
	}
	c, err := client.New(s.World.Admin(), client.Options{})
	if err != nil {
		return err
	}
	if err := deploy.Create(ctx, c, of.rights...); err != nil {
		return fmt.Errorf("installing %s: %w", t.Ref, err)
	}
	d := &descheduler{}
	d.Args = of.args
	account := deploy.Account{Namespace: metav1.NamespaceSystem, Name: t.Program()}
	if d.Access, err = account.Reach(s.World.Cluster, s.Breaks[t.Program()], nil); err != nil {
		return err
	}
	port, err := world.FreePort()
	if err != nil {
		return err
	}
	file := filepath.Join(s.World.Dir(), "descheduler.yaml")
	if err := os.WriteFile(file, []byte(of.policy), 0o600); err != nil {
		return err
	}
	s.Run(t.Program(), d)
	_, err = s.World.StartComponent(ctx, container.Program(s.World, t, container.Settings{}, process.Spec{
		Name: t.Program(),
		Args: slices.Concat(d.Args, []string{
			mounted + file,
			"--kubeconfig=" + d.Access.Kubeconfig,
			"--bind-address=127.0.0.1",
			fmt.Sprintf("--secure-port=%d", port),
		}),
		Ready: world.HTTPReady(fmt.Sprintf("https://127.0.0.1:%d/healthz", port)),
	}))
	return err
}

// installation is what a chart makes of a policy.
type installation struct {
	args   []string
	policy string
	rights []*unstructured.Unstructured
}

// render is the chart in a folder with a Deployment, as its documentation has it for a descheduler that runs all the time.
func render(dir string, every time.Duration, p policy) (of installation, err error) {
	objects, err := deploy.Chart(dir, builds.Descheduler, metav1.NamespaceSystem, map[string]any{
		"kind": "Deployment", "deschedulingInterval": every.String(),
		"deschedulerPolicyAPIVersion": p.APIVersion, "deschedulerPolicy": p.fields,
	})
	if err != nil {
		return of, err
	}
	for _, o := range objects {
		switch {
		case deploy.Rights(o):
			of.rights = append(of.rights, o)
		case o.GetKind() == "Deployment":
			main, err := deploy.Container(o)
			if err != nil {
				return of, err
			}
			of.args = slices.DeleteFunc(main.Args, func(arg string) bool { return strings.HasPrefix(arg, mounted) })
		case o.GetKind() == "ConfigMap":
			var m corev1.ConfigMap
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &m); err != nil {
				return of, err
			}
			of.policy = m.Data["policy.yaml"]
		}
	}
	if of.args == nil || of.policy == "" {
		return of, errors.New("it has no Deployment with arguments, or no policy.yaml")
	}
	return of, nil
}
