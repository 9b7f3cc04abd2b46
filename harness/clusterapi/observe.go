package clusterapi

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"nodestorm/fakecloud"
)

// Machine is what Cluster API says of one.
type Machine struct {
	Name  string
	Phase string // Pending, Provisioning, Provisioned, Running, Deleting, Failed …
	Node  string // empty until Cluster API has found it
}

func (m Machine) String() string { return strings.TrimSpace(m.Name + " " + m.Phase + " " + m.Node) }

// Running is the phase of a machine that has a node.
const Running = "Running"

// Machines are those of a MachineDeployment, in no order.
func (a *ClusterAPI) Machines(ctx context.Context, deployment string) ([]Machine, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: core, Version: version, Kind: "MachineList"})
	err := a.client.List(ctx, list, client.InNamespace(Namespace), client.MatchingLabels{core + "/deployment-name": deployment})
	if err != nil {
		return nil, fmt.Errorf("listing the machines of %q: %w", deployment, err)
	}
	found := make([]Machine, 0, len(list.Items))
	for _, m := range list.Items {
		found = append(found, Machine{Name: m.GetName(), Phase: text(&m, "status", "phase"), Node: text(&m, "status", "nodeRef", "name")})
	}
	return found, nil
}

// Replicas is how many machines a MachineDeployment is to have.
func (a *ClusterAPI) Replicas(ctx context.Context, deployment string) (int64, error) {
	md := object(core+"/"+version, "MachineDeployment", Namespace, deployment)
	if err := a.client.Get(ctx, client.ObjectKeyFromObject(md), md); err != nil {
		return 0, err
	}
	replicas, _, err := unstructured.NestedInt64(md.Object, "spec", "replicas")
	return replicas, err
}

// AwaitRunning waits until a MachineDeployment has so many machines, all of them
// Running with a node, for at most d of virtual time.
func (a *ClusterAPI) AwaitRunning(ctx context.Context, deployment string, want int, d time.Duration) (machines []Machine, err error) {
	err = a.await(ctx, d, func(ctx context.Context) (ok bool, err error) {
		if machines, err = a.Machines(ctx, deployment); err != nil {
			return false, err
		}
		running := 0
		for _, m := range machines {
			if m.Phase == Running && m.Node != "" {
				running++
			}
		}
		return running == want && len(machines) == want, nil
	})
	if err != nil {
		return nil, fmt.Errorf("machines %v of %q, want %d that are Running: %w", machines, deployment, want, err)
	}
	return machines, nil
}

// AwaitGone waits until none of the machines is there any more.
func (a *ClusterAPI) AwaitGone(ctx context.Context, machines []Machine, d time.Duration) error {
	var left []Machine
	err := a.await(ctx, d, func(ctx context.Context) (bool, error) {
		left = nil
		for _, m := range machines {
			err := a.client.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: m.Name}, object(core+"/"+version, "Machine", Namespace, m.Name))
			switch {
			case err == nil:
				left = append(left, m)
			case !apierrors.IsNotFound(err):
				return false, err
			}
		}
		return len(left) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("machines %v are still there: %w", left, err)
	}
	return nil
}

// Instances are those of the cloud that a MachineDeployment's machines have.
func (a *ClusterAPI) Instances(deployment string) []fakecloud.Instance {
	return slices.DeleteFunc(a.cloud.Instances(), func(i fakecloud.Instance) bool { return i.Labels[groupLabel] != deployment })
}
