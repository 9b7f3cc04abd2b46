// Package vpa brings the parts of the released Vertical Pod Autoscaler into a world as its own chart does: rights, flags, CRDs and the
// webhook are those of the release's files, and each process has the rights of its service account, no more. A recommender goes by
// what a scenario says that pods use; where there is none, recommendations are what a scenario says, too.
package vpa

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"nodestorm/harness/builds"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/world"
	"nodestorm/harness/world/container"
	"nodestorm/harness/world/process"
	"nodestorm/sim/fault"
	"nodestorm/sim/history/audit"
)

// release is what the chart is installed as.
const release = "vertical-pod-autoscaler"

// part is one of its programs in one world.
type part struct {
	deploy.Process
	build   builds.Target
	account deploy.Account
}

// installation is what the chart makes, apart from Deployments.
type installation struct {
	crds    []*apiextensionsv1.CustomResourceDefinition
	folders []string // with more CRDs: up to v1.7 they are not among the chart's templates
	rights  []*unstructured.Unstructured
	webhook *unstructured.Unstructured
}

// bring installs the release that the parts are of, starts them, and waits until they are ready. Virtual time passes as real time
// does until then.
func bring(ctx context.Context, s *scene.Scene, gates string, parts ...*part) error {
	of, err := render(gates, parts...)
	if err != nil {
		return fmt.Errorf("rendering the chart of %s: %w", parts[0].build.Ref, err)
	}
	c, err := client.New(s.World.Admin(), client.Options{})
	if err != nil {
		return err
	}
	crds := envtest.CRDInstallOptions{
		CRDs: of.crds, Paths: of.folders, PollInterval: 10 * time.Millisecond, // real: time may jump in between
	}
	if _, err := envtest.InstallCRDs(s.World.Admin(), crds); err != nil {
		return fmt.Errorf("installing the CRDs of %s: %w", parts[0].build.Ref, err)
	}
	if err := deploy.Create(ctx, c, of.rights...); err != nil {
		return fmt.Errorf("installing %s: %w", parts[0].build.Ref, err)
	}
	for _, p := range parts {
		if p.build.Name != builds.VPAAdmission {
			if err := p.start(ctx, s, nil); err != nil {
				return err
			}
			continue
		}
		serve, err := serveWebhook(s.World, of.webhook)
		if err != nil {
			return err
		}
		if err := p.start(ctx, s, serve); err != nil {
			return err
		}
		if err := deploy.Create(ctx, c, of.webhook); err != nil { // it would be in the way of pods before it is served
			return fmt.Errorf("installing %s: %w", p.build.Ref, err)
		}
	}
	return nil
}

// serveWebhook has the API server find the webhook where it is served, and returns the flags that have the program serve it there.
func serveWebhook(w *world.World, webhook *unstructured.Unstructured) (flags []string, err error) {
	at, err := deploy.NewWebhooks(w.Cluster, w.Dir(), builds.VPAAdmission)
	if err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("--port=%d", at.Port), "--tls-cert-file=" + filepath.Join(at.Dir, "tls.crt"),
		"--tls-private-key=" + filepath.Join(at.Dir, "tls.key"), "--client-ca-file=" + filepath.Join(at.Dir, "ca.crt"),
	}, at.Redirect(webhook)
}

// start starts the program with these flags and those that say where it is.
func (p *part) start(ctx context.Context, s *scene.Scene, place []string) (err error) {
	name := p.build.Program()
	broken, rules, env := s.Breaks[name], []fault.Fault(nil), []string{"NAMESPACE=" + p.account.Namespace}
	if s.Rig.Target.Name == p.build.Name {
		broken, rules, s.Target = s.Broken(), s.Rules, p
		p.Args = append(p.Args, s.Settings.Flags...)
		for _, v := range s.Settings.Env {
			env = append(env, v.Name+"="+v.Value)
		}
	}
	if p.Access, err = p.account.Reach(s.World.Cluster, broken, rules, audit.ProgramGroup(name)); err != nil {
		return err
	}
	port, err := world.FreePort()
	if err != nil {
		return err
	}
	s.Run(name, p)
	_, err = s.World.StartComponent(ctx, container.Program(s.World, p.build, container.Settings{}, process.Spec{
		Name:  name,
		Args:  slices.Concat(p.Args, place, []string{"--kubeconfig=" + p.Access.Kubeconfig, fmt.Sprintf("--address=127.0.0.1:%d", port)}),
		Env:   env,
		Ready: world.HTTPReady(fmt.Sprintf("http://127.0.0.1:%d/health-check", port)),
	}))
	return err
}

// values are what the chart calls its parts.
var values = map[string]string{
	builds.VPARecommender: "recommender", builds.VPAUpdater: "updater", builds.VPAAdmission: "admissionController",
}

// render is the chart of the parts' release, with the Deployments of those.
func render(gates string, parts ...*part) (of installation, err error) {
	set := map[string]any{}
	for _, key := range values {
		set[key] = map[string]any{"enabled": false}
	}
	var extra []any
	if gates != "" {
		extra = []any{"--feature-gates=" + gates}
	}
	for _, p := range parts {
		set[values[p.build.Name]] = map[string]any{"enabled": true, "extraArgs": extra}
	}
	chart := parts[0].build.Asset(filepath.FromSlash(builds.ChartedPrograms[parts[0].build.Name].Chart))
	objects, err := deploy.Chart(chart, release, metav1.NamespaceSystem, set)
	if err != nil {
		return of, err
	}
	if of.crds, err = deploy.CRDs(objects); err != nil {
		return of, err
	}
	if folder := filepath.Join(chart, "crds"); isFolder(folder) {
		of.folders = []string{folder}
	}
	for _, o := range objects {
		switch kind := o.GetKind(); {
		case deploy.Rights(o):
			of.rights = append(of.rights, o)
		case kind == "MutatingWebhookConfiguration":
			of.webhook = o
		case kind == "Deployment":
			for _, p := range parts {
				if strings.HasSuffix(o.GetName(), strings.TrimPrefix(p.build.Name, "vpa")) {
					err = errors.Join(err, p.read(o))
				}
			}
		}
		if err != nil {
			return of, err
		}
	}
	for _, p := range parts {
		if p.Args == nil || len(of.crds)+len(of.folders) == 0 || p.build.Name == builds.VPAAdmission && of.webhook == nil {
			return of, fmt.Errorf("it lacks a Deployment of %s, CRDs, or the MutatingWebhookConfiguration", p.build.Name)
		}
	}
	return of, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// read has the program be as its Deployment says.
func (p *part) read(deployment *unstructured.Unstructured) error {
	main, err := deploy.Container(deployment)
	if err != nil {
		return err
	}
	account, _, err := unstructured.NestedString(deployment.Object, "spec", "template", "spec", "serviceAccountName")
	p.Args, p.account = main.Args, deploy.Account{Namespace: metav1.NamespaceSystem, Name: account}
	return err
}
