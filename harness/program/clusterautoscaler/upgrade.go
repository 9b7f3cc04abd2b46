package clusterautoscaler

import (
	"context"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"nodestorm/harness/builds"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/sentences/scene"
)

// Upgrade has another release take the place of the one that runs, with the flags that it knows of those that were wanted, and with
// the rights that its documentation or the manifest gives it. The one that runs ends first: in a Deployment there are both for a
// moment, and the new one waits for the lease then.
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
	if err := a.cfg.World.End(ctx, Name); err != nil {
		return err
	}
	if err := a.leaveLease(ctx); err != nil {
		return fmt.Errorf("the lease of %s: %w", a.cfg.Target.Ref, err)
	}
	next.client, next.way, next.ways = a.client, a.way, a.ways
	*a = *next
	spec, err := a.spec()
	if err != nil {
		return err
	}
	return a.cfg.World.Replace(ctx, spec)
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
