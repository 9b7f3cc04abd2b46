package steps

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"nodestorm/harness/clusterapi"
	"nodestorm/sim/history"
	"nodestorm/sim/workload"
)

func (s *scenario) registerClusterAPIFaults(on sentences) {
	effects := map[string]clusterapi.Effect{
		"are stuck in Provisioning":                       clusterapi.StuckInProvisioning,
		"fail to be provisioned":                          clusterapi.FailsToProvision,
		"never join":                                      clusterapi.NeverJoins,
		"get a provider ID and are lost before they join": clusterapi.LostBeforeJoining,
	}
	for _, words := range slices.Sorted(maps.Keys(effects)) {
		on.Given(`^further machines of the MachineDeployment `+name+` `+words+`$`, func(deployment string) error {
			return s.injectMachines(deployment, effects[words])
		})
	}
	on.Given(`^a finalizer of the provider holds every machine of the MachineDeployment `+name+`$`, s.holdDeletion)
	on.Given(`^the MachineDeployment `+name+` counts a new machine as available `+span+` after its node is Ready$`, s.minReady)
	on.Given(`^a Deployment `+name+` of `+number+` pods? that requests? `+cpus+` and takes `+span+` to stop is Running$`, s.slowDeployment)
	on.Given(`^a Deployment `+name+` of `+number+` pods? that requests? `+cpus+` and cannot be evicted is Running$`, s.protectedDeployment)

	on.When(`^the provider reports every machine of the MachineDeployment `+name+` as failed$`, s.reportFailed)
	on.When(`^somebody pauses the MachineDeployment `+name+`$`, s.pause)
	on.When(`^another controller sets the MachineDeployment `+name+` to `+number+`$`, s.setReplicas)
	on.When(`^`+span+` pass$`, s.pass)

	on.Then(`^no pod is evicted within `+span+`$`, s.noPodEvicted)
	on.Then(`^no machine is deleted within `+span+`$`, s.noMachineDeleted)
	on.Then(`^the MachineDeployment `+name+` still has `+number+` machines? `+span+` later$`, s.stillMachines)
}

func (s *scenario) injectMachines(deployment string, effect clusterapi.Effect) error {
	if s.capi == nil {
		return errNoClusterAPI
	}
	return s.capi.Inject(clusterapi.Fault{Name: fmt.Sprintf("machines of %s: %s", deployment, effect), Deployment: deployment, Effect: effect})
}

func (s *scenario) holdDeletion(deployment string) error {
	return s.injectMachines(deployment, clusterapi.DeletionHeld)
}

func (s *scenario) reportFailed(deployment string) error {
	return s.injectMachines(deployment, clusterapi.ReportedFailed)
}

func (s *scenario) minReady(ctx context.Context, deployment, soak string) error {
	d, err := duration(soak)
	if err != nil {
		return err
	}
	if s.capi == nil {
		return errNoClusterAPI
	}
	return s.capi.SetMinReady(ctx, deployment, d)
}

func (s *scenario) slowDeployment(ctx context.Context, name string, replicas int, cpus, stop string) error {
	d, err := duration(stop)
	if err != nil {
		return err
	}
	return s.runDeployment(ctx, name, replicas, workload.Template{CPU: cpus, Grace: d, StopAfter: d})
}

// protectedDeployment has a budget that allows no disruption at all.
func (s *scenario) protectedDeployment(ctx context.Context, name string, replicas int, cpus string) error {
	if err := s.runDeployment(ctx, name, replicas, workload.Template{CPU: cpus}); err != nil {
		return err
	}
	return s.demand().Create(ctx, workload.Budget(namespace, name, 0))
}

func (s *scenario) runDeployment(ctx context.Context, name string, replicas int, template workload.Template) error {
	d, err := workload.Deployment(namespace, name, int32(replicas), template)
	if err != nil {
		return err
	}
	if err := s.demand().Create(ctx, d); err != nil {
		return err
	}
	ctx, cancel := s.alive(ctx)
	defer cancel(nil)
	return s.demand().WaitRunning(ctx, workload.Selection{Namespace: namespace, Name: name}, replicas, 10*time.Minute)
}

func (s *scenario) pause(ctx context.Context, deployment string) error {
	if s.capi == nil {
		return errNoClusterAPI
	}
	return s.capi.Pause(ctx, deployment)
}

func (s *scenario) setReplicas(ctx context.Context, deployment string, replicas int) error {
	if s.capi == nil {
		return errNoClusterAPI
	}
	return s.capi.SetReplicas(ctx, deployment, replicas)
}

// pass lets time pass: what goes on meanwhile is not this step's business.
func (s *scenario) pass(ctx context.Context, span string) error {
	d, err := duration(span)
	if err != nil {
		return err
	}
	_, err = s.within(ctx, d, s.seq(), func(history.Record) bool { return false })
	if errors.Is(err, errWindow) {
		return nil
	}
	return err
}

func (*scenario) noPodEvicted(d string) (observation, error) {
	bound := subject{"no pod has been bound to a node", func(r history.Record) bool {
		return r.Source == history.API && r.Object.Resource == "pods" && r.Detail["subresource"] == "binding" && r.Code < 300
	}}
	return never(d, bound, func(r history.Record) error {
		if r.Source == history.API && r.Verb == "create" && r.Object.Resource == "pods" && r.Detail["subresource"] == "eviction" {
			return fmt.Errorf("%s evicts the pod %q %s after the start", r.Actor, r.Object.Name, r.Virtual.Round(time.Millisecond))
		}
		return nil
	})
}

func (*scenario) noMachineDeleted(d string) (observation, error) {
	machine := subject{"there has been no machine", func(r history.Record) bool {
		return r.Source == history.API && r.Object.Resource == "machines" && r.Code < 300
	}}
	return never(d, machine, func(r history.Record) error {
		if r.Source == history.API && r.Verb == "delete" && r.Object.Resource == "machines" && r.Code < 300 {
			return fmt.Errorf("%s deletes the machine %q %s after the start", r.Actor, r.Object.Name, r.Virtual.Round(time.Millisecond))
		}
		return nil
	})
}

func (s *scenario) stillMachines(ctx context.Context, deployment string, want int, later string) error {
	if err := s.pass(ctx, later); err != nil {
		return err
	}
	if s.capi == nil {
		return errNoClusterAPI
	}
	machines, err := s.capi.Machines(ctx, deployment)
	if err == nil && len(machines) != want {
		err = fmt.Errorf("MachineDeployment %q has the machines %v", deployment, machines)
	}
	return err
}
