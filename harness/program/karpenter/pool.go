package karpenter

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"nodestorm/sim/machine/node"
)

// providerIDPrefix is how the kwok provider's Nodes begin their provider ID.
const providerIDPrefix = "kwok://"

// Machines makes the fleet stand in for the kubelets of the kwok provider's
// Nodes, each with the profile of the moment it appears.
func Machines(profile func() node.Profile) func(*corev1.Node) (node.Profile, bool) {
	return func(n *corev1.Node) (node.Profile, bool) {
		if !strings.HasPrefix(n.Spec.ProviderID, providerIDPrefix) {
			return node.Profile{}, false
		}
		p := profile()
		p.BootDelay = 0 // the Node object is the registration; see Pool.RegistrationDelay
		p.GoneWithNode = true
		return p, true
	}
}

// Pool is a NodePool and the KWOKNodeClass of the same name.
type Pool struct {
	Name string
	// InstanceTypes are names of the kwok provider's, such as "c-4x-amd64-linux".
	// Empty means all.
	InstanceTypes []string
	// RegistrationDelay is from the launch to the Node's registration.
	RegistrationDelay time.Duration
}

// CreatePool creates the pool and waits until Karpenter says that it is ready.
func (k *Karpenter) CreatePool(ctx context.Context, p Pool) error {
	class := object(classVersion, ClassKind.Kind, p.Name, map[string]any{
		"nodeRegistrationDelay": p.RegistrationDelay.String(),
	})
	k.Adapt(class)
	if err := k.client.Create(ctx, class); err != nil {
		return fmt.Errorf("creating %s %q: %w", class.GetKind(), p.Name, err)
	}
	if k.cloud == nil {
		if err := k.MakeReady(ctx, p.Name); err != nil {
			return err
		}
	}

	requirements := []any{}
	if len(p.InstanceTypes) > 0 {
		values := []any{}
		for _, t := range p.InstanceTypes {
			values = append(values, t)
		}
		requirements = append(requirements, map[string]any{"key": corev1.LabelInstanceTypeStable, "operator": "In", "values": values})
	}
	requirements = append(requirements, map[string]any{"key": corev1.LabelArchStable, "operator": "In", "values": []any{"amd64"}})
	template := map[string]any{
		"nodeClassRef": map[string]any{"group": ClassKind.Group, "kind": ClassKind.Kind, "name": p.Name},
		"requirements": requirements,
	}
	pool := object(poolVersion, PoolKind.Kind, p.Name, map[string]any{
		"template": map[string]any{"spec": template},
	})
	k.Adapt(pool)
	if err := k.client.Create(ctx, pool); err != nil {
		return fmt.Errorf("creating NodePool %q: %w", p.Name, err)
	}
	return k.AwaitPool(ctx, p.Name)
}

// PoolKind and ClassKind are the kinds of NodePools, and of the kwok provider's classes.
var (
	PoolKind  = schema.GroupKind{Group: "karpenter.sh", Kind: "NodePool"}
	ClassKind = schema.GroupKind{Group: "karpenter.kwok.sh", Kind: "KWOKNodeClass"}
)

const (
	poolVersion  = "karpenter.sh/v1"
	classVersion = "karpenter.kwok.sh/v1alpha1"
)

// MakeReady has a node class be ready, which is the provider's to say: kwok's has nothing
// that could be unready.
func (k *Karpenter) MakeReady(ctx context.Context, name string) error {
	class := object(classVersion, ClassKind.Kind, name, nil)
	if err := k.client.Get(ctx, client.ObjectKey{Name: name}, class); err != nil {
		return fmt.Errorf("making KWOKNodeClass %q ready: %w", name, err)
	}
	_ = unstructured.SetNestedSlice(class.Object, []any{map[string]any{
		"type": "Ready", "status": "True", "reason": "Ready", "message": "",
		"lastTransitionTime": metav1.NewTime(k.world.Clock().Now()).UTC().Format(time.RFC3339),
	}}, "status", "conditions")
	if err := k.client.Status().Update(ctx, class); err != nil {
		return fmt.Errorf("making KWOKNodeClass %q ready: %w", name, err)
	}
	return nil
}

// AwaitPool waits, in real time, until Karpenter says that a NodePool is ready.
func (k *Karpenter) AwaitPool(ctx context.Context, name string) error {
	pool := object(poolVersion, PoolKind.Kind, name, nil)
	ctx, cancel := k.world.Alive(ctx) // nothing makes it ready once Karpenter has died
	defer cancel(nil)
	var last string
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		if err := k.client.Get(ctx, client.ObjectKey{Name: name}, pool); err != nil {
			return false, err
		}
		var status string
		status, last = readiness(pool)
		return status == "True", nil
	})
	if err != nil {
		return fmt.Errorf("waiting for NodePool %q to be ready (%s): %w", name, last, cmp.Or(context.Cause(ctx), err))
	}
	return nil
}

// readiness is the status of the Ready condition, and all conditions in a line.
func readiness(o *unstructured.Unstructured) (status, all string) {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		c, _ := c.(map[string]any)
		if c["type"] == "Ready" {
			status, _ = c["status"].(string)
		}
		all += fmt.Sprintf("%v=%v %v; ", c["type"], c["status"], c["reason"])
	}
	return status, all
}

func object(apiVersion, kind, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion,
		"kind":       kind,
		"metadata":   map[string]any{"name": name},
		"spec":       spec,
	}}
}
