package vcenter

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"

	"nodestorm/fakecloud"
)

// run brings the inventory up to date after every change of an instance.
func (s *Server) run(ctx context.Context) {
	defer close(s.ended)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.kick:
		}
		if err := s.reconcile(ctx); err != nil && ctx.Err() == nil {
			panic("vsphere: " + err.Error()) // of vcsim, in our own process: nothing is left to rely on
		}
	}
}

// reconcile makes the inventory what the cloud is now.
func (s *Server) reconcile(ctx context.Context) (err error) {
	there := map[int64]bool{}
	for _, i := range s.cloud.Instances() {
		there[i.ID] = true
		m := s.machines[i.ID]
		if m == nil {
			if m, err = s.create(ctx, i); err != nil {
				return fmt.Errorf("making virtual machine %q: %w", i.Name, err)
			}
			s.machines[i.ID] = m
		}
		if err := s.show(ctx, m, i); err != nil {
			return fmt.Errorf("virtual machine %q: %w", i.Name, err)
		}
	}
	for id, m := range s.machines {
		if !there[id] {
			delete(s.machines, id)
			s.change(m, types.VirtualMachinePowerStatePoweredOff)
			s.model.Map().WithLock(s.context(), m.VirtualMachine, func() {
				m.UnregisterVM(s.context(), &types.UnregisterVM{This: m.Self})
			})
		}
	}
	return nil
}

// show gives a machine its instance's power state, and what the tools in its guest say
// while it runs.
func (s *Server) show(ctx context.Context, m *machine, i fakecloud.Instance) error {
	state := power(i.State)
	if m.Runtime.PowerState == state {
		return nil
	}
	s.change(m, state)
	if state != types.VirtualMachinePowerStatePoweredOn {
		return nil
	}
	spec := types.VirtualMachineConfigSpec{ExtraConfig: []types.BaseOptionValue{
		&types.OptionValue{Key: "SET.guest.hostName", Value: i.Name},
	}}
	if ip := address(i); ip.IsValid() {
		spec.ExtraConfig = append(spec.ExtraConfig, &types.OptionValue{Key: "SET.guest.ipAddress", Value: ip.String()})
	}
	task, err := object.NewVirtualMachine(s.client.Client, m.Self).Reconfigure(ctx, spec)
	if err != nil {
		return err
	}
	return task.Wait(ctx)
}

// address is the instance's in its first network, or its public one.
func address(i fakecloud.Instance) netip.Addr {
	for _, n := range i.Networks {
		return n.IP
	}
	return i.PublicIPv4
}

func (s *Server) change(m *machine, state types.VirtualMachinePowerState) {
	ctx := s.context()
	s.model.Map().WithLock(ctx, m.VirtualMachine, func() {
		s.model.Map().Update(ctx, m.VirtualMachine, []types.PropertyChange{
			{Name: "runtime.powerState", Val: state},
			{Name: "summary.runtime.powerState", Val: state},
		})
	})
}

// context is whom vcsim's locks are held for: each operation of ours is one.
func (s *Server) context() *simulator.Context {
	ctx := *s.model.Service.Context
	return &ctx
}
