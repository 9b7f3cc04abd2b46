package karpenter

import (
	"context"
	"fmt"
	"slices"

	"nodestorm/harness/builds"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/world"
	"nodestorm/harness/world/container"
	"nodestorm/harness/world/process"
	"nodestorm/sim/fault"
	"nodestorm/sim/fault/apifault"
)

// Start runs the controller and waits until it is ready. Virtual time passes as
// real time does until then. Where it is to be broken, its way to the API server has these
// rules, and may get more.
func (k *Karpenter) Start(ctx context.Context, broken bool, rules ...fault.Fault) (p *process.Process, err error) {
	if k.way, err = (deploy.Account{Namespace: Name, Name: Name, Later: k.delayNodes()}).Reach(k.world.Cluster, broken, rules); err != nil {
		return nil, err
	}
	spec, err := k.spec()
	if err != nil {
		return nil, err
	}
	return k.world.StartComponent(ctx, spec)
}

// spec is how the release is started.
func (k *Karpenter) spec() (spec process.Spec, err error) {
	if k.port == 0 {
		if k.port, err = world.FreePort(); err != nil {
			return spec, err
		}
	}
	health, err := world.FreePort()
	if err != nil {
		return spec, err
	}
	env := append(slices.Clone(k.env), outsideEnv(k.way.Kubeconfig, k.port, health)...)
	if k.cloud != nil {
		env = append(env, k.cloud.Environment()...)
	}
	return container.Program(k.world, k.target, container.Settings{}, process.Spec{
		Name:  Name,
		Args:  k.flags,
		Env:   env,
		Lines: logLines(k.world.History()),
		Ready: world.HTTPReady(fmt.Sprintf("http://127.0.0.1:%d/readyz", health)),
	}), nil
}

// Upgrade has another release take the place of the one that runs, as its documentation says: its CRDs and what its chart
// has beside the Deployment come first, then the controller is replaced. One replica runs, so that there is none for a moment.
func (k *Karpenter) Upgrade(ctx context.Context, to builds.Target, left scene.LeftBehind) error {
	k.target = to
	if !left.CRDs {
		if err := k.installCRDs(left.Refused); err != nil {
			return err
		}
	}
	before := k.rights
	if err := k.readChart(); err != nil {
		return err
	}
	k.setVariables()
	if left.Roles {
		k.rights = before
	}
	if err := deploy.Upgrade(ctx, k.client, before, k.rights); err != nil {
		return fmt.Errorf("upgrading to %s: %w", to.Ref, err)
	}
	spec, err := k.spec()
	if err != nil {
		return err
	}
	return k.world.Replace(ctx, spec)
}

// delayNodes has Nodes come as late as machines register, where the provider kwok of the release cannot: before v1.4 it made them
// as soon as it was asked for a machine.
func (k *Karpenter) delayNodes() *apifault.Later {
	if k.cloud != nil || k.delays || k.Registers <= 0 {
		return nil
	}
	return &apifault.Later{Match: apifault.Match{Verbs: []string{"create"}, Resource: "nodes"}, By: k.Registers}
}

// MetricsURL is where its metrics are, which is the same for a release that takes its place.
func (k *Karpenter) MetricsURL() string { return fmt.Sprintf("http://127.0.0.1:%d/metrics", k.port) }

// Way is its way to the API server where that can be broken, or nil.
func (k *Karpenter) Way() *apifault.Proxy { return k.way.Proxy }
