package steps

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nodestorm/sim/history"
)

func (s *scenario) registerClusterAPIFaults(on sentences) {

	on.When(`^`+span+` pass$`, s.pass)

	on.Then(`^no pod is evicted within `+span+`$`, s.noPodEvicted)
	on.Then(`^no machine is deleted within `+span+`$`, s.noMachineDeleted)
	on.Then(`^the MachineDeployment `+name+` still has `+number+` machines? `+span+` later$`, s.stillMachines)
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
