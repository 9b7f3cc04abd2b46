package sentences

import (
	"context"
	"fmt"
)

func (s *scenario) registerClusterAPIFaults(on sentences) {

	on.When(`^`+span+` pass$`, s.pass)

	on.Then(`^no pod is evicted within `+span+`$`, named(`
- never: {source: api, verb: create, resource: pods, code: {exists: true}, detail: {subresource: eviction}}
  ever: true
- happens: {source: api, resource: pods, detail: {subresource: binding}}
  ever: true
`))
	on.Then(`^no machine is deleted within `+span+`$`, named(`
- never: {source: api, verb: delete, resource: machines}
  ever: true
- happens: {source: api, resource: machines}
  ever: true
`))
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
