package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// offering is what of a type can be launched where.
type offering struct{ kind, zone, capacityType string }

// catalogue is what the cloud offers, as far as the provider knows: clouds do not tell what has run
// out, so that is learnt from launches that fail, and forgotten again.
type catalogue struct {
	cloud *cloud

	mu      sync.Mutex
	types   []instanceType
	asked   time.Time
	out     map[offering]time.Time // since when
	made    []*cloudprovider.InstanceType
	madeFor int // of out
}

const (
	// typesFor is how long the cloud is not asked again, and outFor how long an offering counts
	// as run out: both as in the provider for AWS (pkg/cache: InstanceTypesZonesAndOfferingsTTL,
	// UnavailableOfferingsTTL).
	typesFor = 5 * time.Minute
	outFor   = 3 * time.Minute
)

// all are the instance types. They are not to be changed.
func (c *catalogue) all(ctx context.Context) ([]*cloudprovider.InstanceType, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.asked.IsZero() || now.Sub(c.asked) > typesFor {
		types, err := c.cloud.types(ctx)
		if err != nil {
			return nil, fmt.Errorf("asking for the cloud's instance types: %w", err)
		}
		c.types, c.asked, c.made = types, now, nil
	}
	for o, since := range c.out {
		if now.Sub(since) > outFor {
			delete(c.out, o)
			c.made = nil
		}
	}
	if c.made == nil || c.madeFor != len(c.out) {
		c.made, c.madeFor = nil, len(c.out)
		for _, t := range c.types {
			c.made = append(c.made, c.typeOf(t))
		}
	}
	return slices.Clone(c.made), nil
}

// ranOut notes that the cloud has no capacity for an offering.
func (c *catalogue) ranOut(o offering) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out[o] = time.Now()
	c.made = nil
}

// What a kubelet keeps for itself, which its user data says as well, and what it evicts pods at, its
// default.
const (
	reservedCPU, reservedMemory = "100m", "10Mi"
	evictionMemory              = "100Mi"
)

// usable is the part of an instance's memory that Linux is sure to have: the provider for AWS takes
// 7.5 % off (VM_MEMORY_OVERHEAD_PERCENT).
const usable = 0.925

func (c *catalogue) typeOf(t instanceType) *cloudprovider.InstanceType {
	var zones, capacityTypes []string
	var offerings []cloudprovider.Offering
	for _, o := range t.Offers {
		zones, capacityTypes = append(zones, o.Zone), append(capacityTypes, o.CapacityType)
		_, out := c.out[offering{t.Name, o.Zone, o.CapacityType}]
		offerings = append(offerings, cloudprovider.Offering{
			Requirements: scheduling.NewRequirements(in(v1.CapacityTypeLabelKey, o.CapacityType), in(corev1.LabelTopologyZone, o.Zone)),
			Price:        o.Price, Available: !out,
		})
	}
	return &cloudprovider.InstanceType{
		Name: t.Name,
		Requirements: scheduling.NewRequirements(
			in(corev1.LabelInstanceTypeStable, t.Name), in(corev1.LabelArchStable, t.Architecture), in(corev1.LabelOSStable, string(corev1.Linux)),
			in(corev1.LabelTopologyZone, zones...), in(v1.CapacityTypeLabelKey, capacityTypes...),
		),
		Offerings: offeringsOf(offerings),
		Capacity: corev1.ResourceList{
			corev1.ResourceCPU:              *resource.NewQuantity(int64(t.CPU), resource.DecimalSI),
			corev1.ResourceMemory:           *resource.NewQuantity(int64(t.MemoryGiB*usable*(1<<30)), resource.BinarySI),
			corev1.ResourceEphemeralStorage: *resource.NewQuantity(int64(t.DiskGB)*1_000_000_000, resource.BinarySI),
			corev1.ResourcePods:             *resource.NewQuantity(110, resource.DecimalSI),
		},
		Overhead: &cloudprovider.InstanceTypeOverhead{
			KubeReserved: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse(reservedCPU), corev1.ResourceMemory: resource.MustParse(reservedMemory),
			},
			EvictionThreshold: corev1.ResourceList{
				corev1.ResourceMemory:           resource.MustParse(evictionMemory),
				corev1.ResourceEphemeralStorage: *resource.NewQuantity(int64(t.DiskGB)*100_000_000, resource.BinarySI),
			},
		},
	}
}

func in(label string, values ...string) *scheduling.Requirement {
	return scheduling.NewRequirement(label, corev1.NodeSelectorOpIn, values...)
}
