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
	"nodestorm/sim/history/audit"
)

// account is the release's.
func (k *Karpenter) account() deploy.Account {
	return deploy.Account{Namespace: Name, Name: Name, Later: k.delayNodes()}
}

// Start runs the controller and waits until all of its replicas are ready. Virtual time passes as
// real time does until then. Where it is to be broken, its way to the API server has these
// rules, and may get more.
func (k *Karpenter) Start(ctx context.Context, broken bool, rules ...fault.Fault) (err error) {
	if k.way, err = k.account().Reach(k.world.Cluster, broken, rules); err != nil {
		return err
	}
	if err := k.rollOut(ctx, false); err != nil {
		return err
	}
	return k.awaitWebhooks(ctx)
}

// rollOut has processes of the release come, and those of the release before it go, as the Deployment of its chart says.
func (k *Karpenter) rollOut(ctx context.Context, kill bool) error {
	surge, unavailable, err := deploy.Rolling(k.deployment, k.Replicas)
	if err != nil {
		return fmt.Errorf("the Deployment of %s: %w", k.target.Ref, err)
	}
	return k.world.RollOut(ctx, world.Rollout{
		Program: Name, Replicas: k.Replicas, Surge: surge, Unavailable: unavailable, Kill: kill, Spec: k.spec,
	})
}

// spec is how one of the release's processes is started.
func (k *Karpenter) spec(name string) (spec process.Spec, err error) {
	metrics, err := world.FreePort()
	if err != nil {
		return spec, err
	}
	health, err := world.FreePort()
	if err != nil {
		return spec, err
	}
	at := ports{metrics: metrics}
	webhooks, err := k.webhookEnv(&at)
	if err != nil {
		return spec, err
	}
	way := k.way
	// Where the way can be broken it is the same for all.
	if name != Name && way.Proxy == nil {
		if way, err = k.account().Reach(k.world.Cluster, false, nil, audit.ReplicaGroup(name)); err != nil {
			return spec, err
		}
	}
	env := slices.Concat(k.env, outsideEnv(way.Kubeconfig, metrics, health), webhooks)
	if k.cloud != nil {
		env = append(env, k.cloud.Environment()...)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ports[name] = at
	return container.Program(k.world, k.target, container.Settings{}, process.Spec{
		Name:  name,
		Args:  k.flags,
		Env:   env,
		Lines: logLines(k.world.History(), name, &k.Leader),
		Ready: world.HTTPReady(fmt.Sprintf("http://127.0.0.1:%d/readyz", health)),
	}), nil
}

// Upgrade has another release take the place of the one that runs, as its documentation says: its CRDs and what its chart
// has beside the Deployment come first, then the controller is replaced as the Deployment's strategy says.
func (k *Karpenter) Upgrade(ctx context.Context, to builds.Target, left scene.LeftBehind) error {
	k.target = to
	before, hooks := k.rights, k.hooks.objects
	if err := k.readChart(); err != nil {
		return err
	}
	if !left.CRDs {
		if err := k.installCRDs(left.Refused); err != nil {
			return err
		}
	}
	if left.Roles {
		k.rights = before
	}
	if err := deploy.Upgrade(ctx, k.client, slices.Concat(before, hooks), slices.Concat(k.rights, k.hooks.objects)); err != nil {
		return fmt.Errorf("upgrading to %s: %w", to.Ref, err)
	}
	return k.rollOut(ctx, left.Lease)
}

// delayNodes has Nodes come as late as machines register, where the provider kwok of the release cannot: before v1.4 it made them
// as soon as it was asked for a machine.
func (k *Karpenter) delayNodes() *apifault.Later {
	if k.cloud != nil || k.delays || k.Registers <= 0 {
		return nil
	}
	return &apifault.Later{Match: apifault.Match{Verbs: []string{"create"}, Resource: "nodes"}, By: k.Registers}
}

// MetricsURL is where the metrics of the process are that leads.
func (k *Karpenter) MetricsURL() string {
	leader := k.OrFirst()
	k.mu.Lock()
	defer k.mu.Unlock()
	return fmt.Sprintf("http://127.0.0.1:%d/metrics", k.ports[leader].metrics)
}

// Way is its way to the API server where that can be broken, or nil.
func (k *Karpenter) Way() *apifault.Proxy { return k.way.Proxy }
