// Package awsccm brings the released cloud controller manager of AWS into a world as its own chart would: rights and flags are those
// of the release's files, and the process has the rights of its service account, no more. It calls AWS by its names.
package awsccm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"nodestorm/harness/builds"
	cloud "nodestorm/harness/cloud/aws"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/world"
	"nodestorm/harness/world/container"
	"nodestorm/harness/world/process"
	"nodestorm/sim/fault/apifault"
)

const (
	// chart is where a release has it; release is what it is called when it is installed, and namespace where.
	chart     = "charts/aws-cloud-controller-manager"
	release   = "aws-cloud-controller-manager"
	namespace = "kube-system"
)

// manager is one release in one world.
type manager struct {
	build     builds.Target
	args, env []string
	way       *apifault.Proxy // nil without
}

// Way is its way to the API server where that can be broken, or nil.
func (m *manager) Way() *apifault.Proxy { return m.way }

// Settings are its command line and environment, but for what says where it is.
func (m *manager) Settings() []string { return slices.Concat(m.args, m.env) }

// bring installs a release, the target or one beside it, and starts it, and waits until it is ready. Virtual time passes as real time does
// until then.
func bring(ctx context.Context, s *scene.Scene, t builds.Target) error {
	objects, err := deploy.Chart(t.Asset(chart), release, namespace, nil)
	if err != nil {
		return fmt.Errorf("rendering the chart of %s: %w", t.Ref, err)
	}
	m := &manager{build: t}
	var rights []*unstructured.Unstructured
	for _, o := range objects {
		switch {
		case o.GetKind() == "DaemonSet":
			if m.args, err = arguments(o); err != nil {
				return fmt.Errorf("reading the DaemonSet of %s: %w", t.Ref, err)
			}
		case deploy.Rights(o):
			rights = append(rights, o)
		}
	}
	if m.args == nil {
		return fmt.Errorf("the chart of %s has no DaemonSet with arguments", t.Ref)
	}
	c, err := client.New(s.World.Admin(), client.Options{})
	if err != nil {
		return err
	}
	if err := deploy.Create(ctx, c, rights...); err != nil {
		return fmt.Errorf("installing %s: %w", t.Ref, err)
	}
	if t.Ref == s.Rig.Target.Ref {
		for _, v := range s.Settings.Env {
			m.env = append(m.env, v.Name+"="+v.Value)
		}
		s.Target = m
	}
	scene.CloudOf[*cloud.Region](s).Relieve()
	s.Run(t.Program(), m)
	return m.start(ctx, s)
}

// arguments are those of the DaemonSet's container, which has a template as a Deployment has one.
func arguments(o *unstructured.Unstructured) ([]string, error) {
	c, err := deploy.Container(o)
	return c.Args, err
}

// start runs it with EKS's configuration, which is a file of the world, and with a key of the account.
func (m *manager) start(ctx context.Context, s *scene.Scene) error {
	w, t := s.World, m.build
	broken, rules := s.Broken(), s.Rules
	if s.Target != m { // only the target's way can be broken
		broken, rules = false, nil
	}
	way, err := deploy.Account{Namespace: namespace, Name: t.Program()}.Reach(w.Cluster, broken, rules)
	if err != nil {
		return err
	}
	m.way = way.Proxy
	port, err := world.FreePort()
	if err != nil {
		return err
	}
	region := scene.CloudOf[*cloud.Region](s)
	config := filepath.Join(w.Dir(), "aws.conf")
	if err := os.WriteFile(config, []byte(region.CloudConfig()), 0o600); err != nil {
		return err
	}
	place := []string{
		"--cloud-config=" + config,
		"--configure-cloud-routes=false", // of EKS, where the VPC routes
		"--leader-elect=false",           // there is only one
		"--kubeconfig=" + way.Kubeconfig,
		"--authentication-kubeconfig=" + way.Kubeconfig,
		"--authorization-kubeconfig=" + way.Kubeconfig,
		"--authentication-skip-lookup", // nothing but us asks it
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--webhook-secure-port=0",
	}
	_, err = w.StartComponent(ctx, container.Program(w, t, container.Settings{}, process.Spec{
		Name:  t.Program(),
		Env:   slices.Concat(m.env, region.Environment()),
		Args:  slices.Concat(m.args, place),
		Ready: world.HTTPReady(fmt.Sprintf("https://127.0.0.1:%d/healthz", port)),
	}))
	return err
}
