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
	// Healthy says that the node is Ready, as far as Cluster API has seen.
	Healthy bool
}

func (m Machine) String() string { return strings.TrimSpace(m.Name + " " + m.Phase + " " + m.Node) }

// Running is the phase of a machine that has a node.
const Running = "Running"

// Machines are those of a MachineDeployment, in no order.
func (a *ClusterAPI) Machines(ctx context.Context, deployment string) ([]Machine, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: core, Version: version, Kind: "MachineList"})
	err := a.client.List(ctx, list, client.InNamespace(Namespace), client.MatchingLabels{deploymentLabel: deployment})
	if err != nil {
		return nil, fmt.Errorf("listing the machines of %q: %w", deployment, err)
	}
	found := make([]Machine, 0, len(list.Items))
	for _, m := range list.Items {
		found = append(found,
			Machine{Name: m.GetName(), Phase: text(&m, "status", "phase"), Node: text(&m, "status", "nodeRef", "name"),
				Healthy: condition(&m, "NodeHealthy") == "True"})
	}
	return found, nil
}

// AwaitRunning waits until a MachineDeployment has so many machines, all of them
// Running with a node that is Ready, for at most d of virtual time.
func (a *ClusterAPI) AwaitRunning(ctx context.Context, deployment string, want int, d time.Duration) (machines []Machine, err error) {
	err = a.cfg.World.Await(ctx, d, func(ctx context.Context) (err error) {
		if machines, err = a.Machines(ctx, deployment); err != nil {
			return err
		}
		running := 0
		for _, m := range machines {
			if m.Phase == Running && m.Healthy {
				running++
			}
		}
		if running != want || len(machines) != want {
			return fmt.Errorf("machines %v of %q, want %d that are Running", machines, deployment, want)
		}
		return nil
	})
	return machines, err
}

// AwaitPhase waits until a MachineDeployment has so many machines in a phase.
func (a *ClusterAPI) AwaitPhase(ctx context.Context, deployment, phase string, want int, d time.Duration) error {
	return a.cfg.World.Await(ctx, d, func(ctx context.Context) error {
		machines, err := a.Machines(ctx, deployment)
		if err != nil {
			return err
		}
		found := 0
		for _, m := range machines {
			if m.Phase == phase {
				found++
			}
		}
		if found != want {
			return fmt.Errorf("machines %v of %q, want %d that are %s", machines, deployment, want, phase)
		}
		return nil
	})
}

// AwaitPool waits until a MachinePool has so many instances, each with a node that is
// Ready.
func (a *ClusterAPI) AwaitPool(ctx context.Context, name string, want int, d time.Duration) error {
	pool := object(core+"/"+version, "MachinePool", name)
	return a.cfg.World.Await(ctx, d, func(ctx context.Context) error {
		if err := a.client.Get(ctx, client.ObjectKeyFromObject(pool), pool); err != nil {
			return err
		}
		ready, _, _ := unstructured.NestedInt64(pool.Object, "status", "readyReplicas")
		if instances := len(a.Instances(name)); ready != int64(want) || instances != want {
			return fmt.Errorf("MachinePool %q has %d instances, %d of them ready, want %d", name, instances, ready, want)
		}
		return nil
	})
}

// AwaitGone waits until none of the machines is there any more.
func (a *ClusterAPI) AwaitGone(ctx context.Context, machines []Machine, d time.Duration) error {
	return a.cfg.World.Await(ctx, d, func(ctx context.Context) error {
		var left []Machine
		for _, m := range machines {
			err := a.client.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: m.Name}, object(core+"/"+version, "Machine", m.Name))
			switch {
			case err == nil:
				left = append(left, m)
			case !apierrors.IsNotFound(err):
				return err
			}
		}
		if len(left) > 0 {
			return fmt.Errorf("machines %v are still there", left)
		}
		return nil
	})
}

// Instances are those of the cloud that a MachineDeployment's machines or a MachinePool
// has.
func (a *ClusterAPI) Instances(deployment string) []fakecloud.Instance {
	return slices.DeleteFunc(a.cloud.Instances(), func(i fakecloud.Instance) bool { return i.Labels[groupLabel] != deployment })
}
