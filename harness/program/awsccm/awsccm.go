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
	"nodestorm/sim/fault"
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
	scene     *scene.Scene
	client    client.Client
	args, env []string
	rights    []*unstructured.Unstructured
	way       deploy.APIAccess
}

// Way is its way to the API server where that can be broken, or nil.
func (m *manager) Way() *apifault.Proxy { return m.way.Proxy }

// Settings are its command line and environment, but for what says where it is.
func (m *manager) Settings() []string { return slices.Concat(m.args, m.env) }

// bring installs a release, the target or one beside it, and starts it, and waits until it is ready. Virtual time passes as real time does
// until then.
func bring(ctx context.Context, s *scene.Scene, t builds.Target, isTarget bool) (err error) {
	m := &manager{build: t, scene: s}
	if err := m.readChart(); err != nil {
		return err
	}
	if m.client, err = client.New(s.World.Admin(), client.Options{}); err != nil {
		return err
	}
	if err := deploy.Create(ctx, m.client, m.rights...); err != nil {
		return fmt.Errorf("installing %s: %w", t.Ref, err)
	}
	broken, rules := false, []fault.Fault(nil) // only the target's way can be broken
	if isTarget {
		for _, v := range s.Settings.Env {
			m.env = append(m.env, v.Name+"="+v.Value)
		}
		broken, rules, s.Target = s.Broken(), s.Rules, m
	}
	if m.way, err = (deploy.Account{Namespace: namespace, Name: t.Program()}).Reach(s.World.Cluster, broken, rules); err != nil {
		return err
	}
	scene.CloudOf[*cloud.Region](s).Relieve()
	s.Run(t.Program(), m)
	spec, err := m.spec()
	if err != nil {
		return err
	}
	_, err = s.World.StartComponent(ctx, spec)
	return err
}

// Upgrade has another release take the place of the one that runs, as its chart does: its rights come first. One runs at a time, as
// with a DaemonSet on one control plane.
func (m *manager) Upgrade(ctx context.Context, to builds.Target, left scene.LeftBehind) error {
	before := m.rights
	m.build = to
	if err := m.readChart(); err != nil {
		return err
	}
	if left.Roles {
		m.rights = before
	}
	if err := deploy.Upgrade(ctx, m.client, before, m.rights); err != nil {
		return fmt.Errorf("upgrading to %s: %w", to.Ref, err)
	}
	spec, err := m.spec()
	if err != nil {
		return err
	}
	return m.scene.World.Replace(ctx, spec)
}

// readChart has its arguments and rights be those of its release's chart.
func (m *manager) readChart() error {
	objects, err := deploy.Chart(m.build.Asset(chart), release, namespace, nil)
	if err != nil {
		return fmt.Errorf("rendering the chart of %s: %w", m.build.Ref, err)
	}
	m.args, m.rights = nil, nil
	for _, o := range objects {
		switch {
		case o.GetKind() == "DaemonSet":
			if m.args, err = arguments(o); err != nil {
				return fmt.Errorf("reading the DaemonSet of %s: %w", m.build.Ref, err)
			}
		case deploy.Rights(o):
			m.rights = append(m.rights, o)
		}
	}
	if m.args == nil {
		return fmt.Errorf("the chart of %s has no DaemonSet with arguments", m.build.Ref)
	}
	return nil
}

// arguments are those of the DaemonSet's container, which has a template as a Deployment has one.
func arguments(o *unstructured.Unstructured) ([]string, error) {
	c, err := deploy.Container(o)
	return c.Args, err
}

// spec is how it is started: with EKS's configuration, which is a file of the world, and with a key of the account.
func (m *manager) spec() (spec process.Spec, err error) {
	w, t := m.scene.World, m.build
	port, err := world.FreePort()
	if err != nil {
		return spec, err
	}
	region := scene.CloudOf[*cloud.Region](m.scene)
	config := filepath.Join(w.Dir(), "aws.conf")
	if err := os.WriteFile(config, []byte(region.CloudConfig()), 0o600); err != nil {
		return spec, err
	}
	place := []string{
		"--cloud-config=" + config,
		"--configure-cloud-routes=false", // of EKS, where the VPC routes
		"--leader-elect=false",           // there is only one
		"--kubeconfig=" + m.way.Kubeconfig,
		"--authentication-kubeconfig=" + m.way.Kubeconfig,
		"--authorization-kubeconfig=" + m.way.Kubeconfig,
		"--authentication-skip-lookup", // nothing but us asks it
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--webhook-secure-port=0",
	}
	return container.Program(w, t, container.Settings{}, process.Spec{
		Name:  t.Program(),
		Env:   slices.Concat(m.env, region.Environment()),
		Args:  slices.Concat(m.args, place),
		Ready: world.HTTPReady(fmt.Sprintf("https://127.0.0.1:%d/healthz", port)),
	}), nil
}
