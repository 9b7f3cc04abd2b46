package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/utils/resources"
)

// idPrefix is how provider IDs begin; an instance's name follows.
const idPrefix = "instances://"

// provider implements cloudprovider.CloudProvider.
type provider struct {
	client    client.Client
	cloud     *cloud
	catalogue *catalogue
}

func newProvider(k client.Client, c *cloud) *provider {
	return &provider{client: k, cloud: c, catalogue: &catalogue{cloud: c, out: map[offering]time.Time{}}}
}

// Name implements cloudprovider.CloudProvider.
func (*provider) Name() string { return "instances" }

// GetSupportedNodeClasses implements cloudprovider.CloudProvider.
func (*provider) GetSupportedNodeClasses() []status.Object { return []status.Object{&FakeNodeClass{}} }

// GetInstanceTypes implements cloudprovider.CloudProvider: those of all NodePools.
func (p *provider) GetInstanceTypes(ctx context.Context, _ *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return p.catalogue.all(ctx)
}

// Create launches an instance of the cheapest offering that fits and can be had.
func (p *provider) Create(ctx context.Context, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	class, err := p.class(ctx, claim)
	if err != nil {
		return nil, err
	}
	types, err := p.catalogue.all(ctx)
	if err != nil {
		return nil, err
	}
	choice := ranked(claim, types)
	if len(choice) == 0 {
		return nil, cloudprovider.NewInsufficientCapacityError(errors.New("no offering that is known to be there fits all requirements"))
	}
	var out []error
	for _, o := range choice {
		i, err := p.cloud.launch(ctx, instance{
			Name: claim.Name, Type: o.kind, Zone: o.zone, CapacityType: o.capacityType, Image: class.image(), UserData: userData(claim, o),
			Tags: map[string]string{v1.NodePoolLabelKey: claim.Labels[v1.NodePoolLabelKey]},
		})
		switch {
		case refused(err, "resource_unavailable"):
			p.catalogue.ranOut(o)
			out = append(out, fmt.Errorf("%s in %s, %s: %w", o.kind, o.zone, o.capacityType, err))
			if len(out) == mostTries {
				return nil, cloudprovider.NewInsufficientCapacityError(errors.Join(out...))
			}
		// mutant: a quota is an error like any other
		case refused(err, "resource_limit_exceeded"): // a quota: to the provider for AWS it is one of its capacity errors
			return nil, cloudprovider.NewInsufficientCapacityError(err)
		case refused(err, "not_ready"):
			return nil, cloudprovider.NewNodeClassNotReadyError(err)
		case err != nil:
			return nil, fmt.Errorf("launching instance %q: %w", claim.Name, err)
		default:
			return p.claim(*i, types), nil
		}
	}
	return nil, cloudprovider.NewInsufficientCapacityError(errors.Join(out...))
}

// mostTries is how many offerings one launch tries.
const mostTries = 20

// class is the one of a NodeClaim, if anything can be launched with it.
func (p *provider) class(ctx context.Context, claim *v1.NodeClaim) (*FakeNodeClass, error) {
	class := &FakeNodeClass{}
	if err := p.client.Get(ctx, client.ObjectKey{Name: claim.Spec.NodeClassRef.Name}, class); err != nil {
		err := fmt.Errorf("getting FakeNodeClass %q: %w", claim.Spec.NodeClassRef.Name, err)
		if apierrors.IsNotFound(err) { // as in the provider for AWS
			return nil, cloudprovider.NewInsufficientCapacityError(err)
		}
		return nil, err
	}
	if ready := class.StatusConditions().Get(status.ConditionReady); ready.IsFalse() {
		return nil, cloudprovider.NewNodeClassNotReadyError(errors.New(ready.Message))
	}
	return class, nil
}

// ranked are the offerings that a NodeClaim can do with, the cheapest first.
func ranked(claim *v1.NodeClaim, types []*cloudprovider.InstanceType) []offering {
	wanted := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...)
	var all []offering
	prices := map[offering]float64{}
	for _, t := range types {
		if wanted.Compatible(t.Requirements, scheduling.AllowUndefinedWellKnownLabels) != nil || !resources.Fits(claim.Spec.Resources.Requests,
			t.Allocatable()) {
			continue
		}
		for _, o := range t.Offerings.Available().Compatible(wanted) {
			is := offering{t.Name, o.Requirements.Get(corev1.LabelTopologyZone).Any(), o.Requirements.Get(v1.CapacityTypeLabelKey).Any()}
			all = append(all, is)
			prices[is] = o.Price
		}
	}
	slices.SortFunc(all, func(a, b offering) int {
		return cmp.Or(cmp.Compare(prices[a], prices[b]), cmp.Compare(a.kind, b.kind), cmp.Compare(a.zone, b.zone), cmp.Compare(a.capacityType,
			b.capacityType))
	})
	return all
}

// userData makes an instance join the cluster, with a Node that no pod goes to before Karpenter has
// given it its labels.
func userData(claim *v1.NodeClaim, o offering) string {
	taints := []string{v1.UnregisteredNoExecuteTaint.ToString()}
	for _, t := range slices.Concat(claim.Spec.Taints, claim.Spec.StartupTaints) {
		taints = append(taints, t.ToString())
	}
	labels := []string{corev1.LabelInstanceTypeStable + "=" + o.kind, corev1.LabelTopologyZone + "=" + o.zone}
	flags := []string{
		"--provider-id=" + idPrefix + "$(curl -sf http://169.254.169.254/latest/meta-data/hostname)",
		"--node-labels=" + strings.Join(labels, ","),
		"--register-with-taints=" + strings.Join(taints, ","),
		"--kube-reserved=cpu=" + reservedCPU + ",memory=" + reservedMemory,
	}
	return `#cloud-config
runcmd:
  - echo "KUBELET_EXTRA_ARGS=` + strings.Join(flags, " ") + `" > /etc/default/kubelet
  - kubeadm join 10.0.0.2:6443 --token nodest.0123456789abcdef --discovery-token-unsafe-skip-ca-verification
`
}

// claim is an instance in Karpenter's words.
func (*provider) claim(i instance, types []*cloudprovider.InstanceType) *v1.NodeClaim {
	c := &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: i.Name, CreationTimestamp: metav1.NewTime(i.Created),
			Labels: map[string]string{
				corev1.LabelInstanceTypeStable: i.Type, corev1.LabelTopologyZone: i.Zone, v1.CapacityTypeLabelKey: i.CapacityType,
			},
		},
		Status: v1.NodeClaimStatus{ProviderID: idPrefix + i.Name, ImageID: i.Image},
	}
	if pool := i.Tags[v1.NodePoolLabelKey]; pool != "" {
		c.Labels[v1.NodePoolLabelKey] = pool
	}
	if i.State == "deleting" {
		now := metav1.Now()
		c.DeletionTimestamp = &now
	}
	if k := slices.IndexFunc(types, func(t *cloudprovider.InstanceType) bool { return t.Name == i.Type }); k >= 0 {
		c.Status.Capacity, c.Status.Allocatable = maps.Clone(types[k].Capacity), maps.Clone(types[k].Allocatable())
		for _, label := range []string{corev1.LabelArchStable, corev1.LabelOSStable} {
			c.Labels[label] = types[k].Requirements.Get(label).Any()
		}
	}
	return c
}

// Delete has the instance be terminated, and says so until it is gone.
func (p *provider) Delete(ctx context.Context, claim *v1.NodeClaim) error {
	name, err := nameOf(claim.Status.ProviderID)
	if err != nil {
		return err
	}
	return notFound(p.cloud.terminate(ctx, name))
}

// Get implements cloudprovider.CloudProvider.
func (p *provider) Get(ctx context.Context, providerID string) (*v1.NodeClaim, error) {
	name, err := nameOf(providerID)
	if err != nil {
		return nil, err
	}
	i, err := p.cloud.instance(ctx, name)
	if err != nil {
		return nil, notFound(err)
	}
	types, err := p.catalogue.all(ctx)
	if err != nil {
		return nil, err
	}
	return p.claim(*i, types), nil
}

// List are all instances that Karpenter has launched.
func (p *provider) List(ctx context.Context) ([]*v1.NodeClaim, error) {
	all, err := p.cloud.instances(ctx)
	if err != nil {
		return nil, err
	}
	types, err := p.catalogue.all(ctx)
	if err != nil {
		return nil, err
	}
	var claims []*v1.NodeClaim
	for _, i := range all {
		if _, ours := i.Tags[v1.NodePoolLabelKey]; ours {
			claims = append(claims, p.claim(i, types))
		}
	}
	return claims, nil
}

// imageDrift is why an instance is to be replaced whose class has another image by now.
const imageDrift cloudprovider.DriftReason = "ImageDrift"

// IsDrifted implements cloudprovider.CloudProvider.
func (p *provider) IsDrifted(ctx context.Context, claim *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	class := &FakeNodeClass{}
	if err := p.client.Get(ctx, client.ObjectKey{Name: claim.Spec.NodeClassRef.Name}, class); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	// A class that is not ready says nothing: nothing can be launched in place of what there is. Its status
	// can be of what it said before, which v1.0 does not tell.
	ready := class.StatusConditions().Get(status.ConditionReady)
	// mutant: what a class said before it was changed is drift
	if !ready.IsTrue() || ready.ObservedGeneration != 0 && ready.ObservedGeneration != class.Generation {
		return "", nil
	}
	if claim.Status.ImageID != class.image() {
		return imageDrift, nil
	}
	return "", nil
}

// notFound has Karpenter know that an instance is gone.
func notFound(err error) error {
	if refused(err, "not_found") {
		return cloudprovider.NewNodeClaimNotFoundError(err)
	}
	return err
}

func nameOf(providerID string) (string, error) {
	name, ours := strings.CutPrefix(providerID, idPrefix)
	if !ours || name == "" {
		return "", fmt.Errorf("provider ID %q is not of this cloud: want %sNAME", providerID, idPrefix)
	}
	return name, nil
}

const (
	// leaksEvery and leakAfter are those of the provider for AWS (nodeclaim/garbagecollection).
	leaksEvery = 2 * time.Minute
	leakAfter  = time.Minute
)

// collect terminates instances that no NodeClaim knows of, and deletes their Nodes, as it is each provider's to do: a
// launch whose answer was lost and whose NodeClaim was deleted then leaves one behind.
func (p *provider) collect(ctx context.Context) error {
	launched, err := p.List(ctx)
	if err != nil {
		return err
	}
	var claims v1.NodeClaimList
	if err := p.client.List(ctx, &claims); err != nil {
		return err
	}
	var failed []error
	for _, l := range launched {
		known := slices.ContainsFunc(claims.Items, func(c v1.NodeClaim) bool {
			// mutant: an instance that is being launched counts as lost
			return c.Status.ProviderID == l.Status.ProviderID || c.Name == l.Name
		})
		// mutant: an instance without a NodeClaim stays
		if !known && l.DeletionTimestamp == nil && time.Since(l.CreationTimestamp.Time) > leakAfter {
			log.FromContext(ctx).Info("terminating an instance without a NodeClaim", "provider-id", l.Status.ProviderID)
			failed = append(failed, p.end(ctx, l))
		}
	}
	return errors.Join(failed...)
}

// end terminates an instance and deletes its Node.
func (p *provider) end(ctx context.Context, launched *v1.NodeClaim) error {
	if err := p.Delete(ctx, launched); cloudprovider.IgnoreNodeClaimNotFoundError(err) != nil {
		return err
	}
	var nodes corev1.NodeList
	if err := p.client.List(ctx, &nodes); err != nil {
		return err
	}
	for _, n := range nodes.Items {
		// mutant: the Node of an instance that was collected stays
		if n.Spec.ProviderID == launched.Status.ProviderID {
			return client.IgnoreNotFound(p.client.Delete(ctx, &n))
		}
	}
	return nil
}
