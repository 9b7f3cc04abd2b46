package clusterapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"nodestorm/fakecloud"
)

// poolLabel is the instance's label that says which NodestormMachinePool it belongs
// to: namespace/name.
const poolLabel = "nodestorm-machine-pool"

// pool makes and ends the instances of a NodestormMachinePool, as a cloud's own
// scaling groups do: Cluster API says how many, the pool lists them, and
// there is no Machine for any of them. The oldest goes first.
func (p *Provider) pool(ctx context.Context, u *unstructured.Unstructured) error {
	owner, instances := p.owner(u), p.poolInstances(u)
	want := 0
	switch {
	case u.GetDeletionTimestamp() != nil && len(instances) == 0:
		return p.setFinalizers(ctx, infraPools, u)
	case u.GetDeletionTimestamp() != nil:
	case owner == nil:
		return nil // Cluster API has not adopted it yet
	case len(u.GetFinalizers()) == 0:
		return p.setFinalizers(ctx, infraPools, u, finalizer)
	default:
		replicas, _, _ := unstructured.NestedInt64(owner.Object, "spec", "replicas")
		want = int(replicas)
	}
	live := slices.DeleteFunc(slices.Clone(instances), func(i fakecloud.Instance) bool { return i.State == fakecloud.Deleting })
	for ; len(live) > want; live = live[1:] {
		oldest := live[0].ID
		if err := p.cfg.Cloud.Update(func(tx *fakecloud.Tx) error { tx.Delete(oldest); return nil }); err != nil {
			return err
		}
	}
	if len(live) < want {
		secret := text(owner, "spec", "template", "spec", "bootstrap", "dataSecretName")
		if secret == "" {
			return nil
		}
		labels := map[string]string{poolLabel: u.GetNamespace() + "/" + u.GetName(), groupLabel: u.GetName()}
		for range want - len(live) { // a change of the cloud has the pool looked at again
			if err := p.createInstance(ctx, u, secret, labels, fmt.Sprintf("%s-%d", u.GetName(), p.made.Add(1))); err != nil {
				return err
			}
		}
	}
	return p.tellPool(ctx, u, live)
}

// poolInstances are the pool's own, the oldest first.
func (p *Provider) poolInstances(u *unstructured.Unstructured) []fakecloud.Instance {
	instances := slices.DeleteFunc(p.cfg.Cloud.Instances(), func(i fakecloud.Instance) bool {
		return i.Labels[poolLabel] != u.GetNamespace()+"/"+u.GetName() || i.State == fakecloud.Gone
	})
	slices.SortFunc(instances, func(a, b fakecloud.Instance) int { return cmp.Compare(a.ID, b.ID) })
	return instances
}

// tellPool says which instances the pool has that run.
func (p *Provider) tellPool(ctx context.Context, u *unstructured.Unstructured, instances []fakecloud.Instance) error {
	ids := []any{}
	for _, i := range instances {
		if i.State == fakecloud.Running {
			ids = append(ids, ProviderIDPrefix+strconv.FormatInt(i.ID, 10))
		}
	}
	if err := p.patch(ctx, infraPools, u, "", map[string]any{"spec": map[string]any{"providerIDList": ids}}); err != nil {
		return err
	}
	return p.patch(ctx, infraPools, u, "status", map[string]any{
		"ready": len(ids) > 0, "replicas": int64(len(ids)), "initialization": map[string]any{"provisioned": len(ids) > 0},
	})
}
