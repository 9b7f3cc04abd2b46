package sentences

import (
	"context"
	"fmt"

	"nodestorm/harness/run/then"
)

func (s *scenario) registerClusterAPIFaults(on sentences) {

	on.When(`^`+span+` pass$`, s.pass)

	observe(on, then.Calm)
	on.Then(`^the MachineDeployment `+name+` still has `+number+` machines? `+span+` later$`, s.stillMachines)
}

// pass lets time pass: what goes on meanwhile is not this step's business.
func (s *scenario) pass(ctx context.Context, span string) error {
	d, err := duration(span)
	if err != nil {
		return err
	}
	return s.sleep(ctx, d)
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
