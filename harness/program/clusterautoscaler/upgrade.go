package clusterautoscaler

import (
	"context"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"nodestorm/harness/builds"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/world/process"
)

// Upgrade has another release take the place of the one that runs, with the flags that it knows of those that were wanted, and with
// the rights that its documentation or the manifest gives it. As in a Deployment there are both for a moment, and the new one waits
// for the lease; where machines have one name, the one that runs ends first.
func (a *Autoscaler) Upgrade(ctx context.Context, to builds.Target, left scene.LeftBehind) error {
	cfg := a.cfg
	cfg.Target = to
	next, err := prepare(ctx, cfg)
	if err != nil {
		return err
	}
	if next.rights = a.rights; !left.Roles {
		if next.rights, err = next.readRights(); err != nil {
			return err
		}
	}
	if err := deploy.Upgrade(ctx, a.client, a.rights, next.rights); err != nil {
		return fmt.Errorf("upgrading to %s: %w", to.Ref, err)
	}
	if !process.NamesHosts() {
		if err := a.endFirst(ctx); err != nil {
			return err
		}
	}
	a.cfg, a.known, a.line, a.settings, a.env, a.rights = next.cfg, next.known, next.line, next.settings, next.env, next.rights
	return a.rollOut(ctx, left.Lease)
}

// endFirst ends the one that runs before another one comes.
func (a *Autoscaler) endFirst(ctx context.Context) error {
	for _, name := range a.cfg.World.Replicas(Name) {
		if err := a.cfg.World.End(ctx, name); err != nil {
			return err
		}
	}
	if err := a.leaveLease(ctx); err != nil {
		return fmt.Errorf("the lease of %s: %w", a.cfg.Target.Ref, err)
	}
	return nil
}

// leaveLease has the lease of the one that has ended be another's than that of the one that comes. Cluster Autoscaler holds it by the
// name of its pod and does not give it up, so that the next pod waits until it has run out; processes of one machine share a name.
func (a *Autoscaler) leaveLease(ctx context.Context) error {
	key := client.ObjectKey{Namespace: a.account.Namespace, Name: a.leaseName()}
	var lease coordinationv1.Lease
	if err := a.client.Get(ctx, key, &lease); err != nil {
		return client.IgnoreNotFound(err) // it elects no leader
	}
	// mutant: a lease passes to the next release without a wait
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		return nil
	}
	holder := Name + "-" + a.cfg.Target.Version
	lease.Spec.HolderIdentity = &holder
	return a.client.Update(ctx, &lease)
}

// leaseName is what the lease is called by which it leads.
func (a *Autoscaler) leaseName() string {
	for _, f := range a.line {
		if f.name == "leader-elect-resource-name" {
			return f.value
		}
	}
	return Name
}
