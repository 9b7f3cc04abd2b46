package vcenter

import (
	"context"
	"fmt"

	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"

	"nodestorm/fakecloud"
)

// machine is an instance's virtual machine. vcsim finds its methods by name: these
// come before its own.
type machine struct {
	*simulator.VirtualMachine
	cloud *fakecloud.Cloud
	id    int64
}

func (m *machine) PowerOnVMTask(ctx *simulator.Context, _ *types.PowerOnVM_Task) soap.HasFault {
	return &methods.PowerOnVM_TaskBody{Res: &types.PowerOnVM_TaskResponse{
		Returnval: m.task(ctx, "powerOn", fakecloud.Running, func(tx *fakecloud.Tx) { tx.Power(m.id, "start_server") }),
	}}
}

func (m *machine) PowerOffVMTask(ctx *simulator.Context, _ *types.PowerOffVM_Task) soap.HasFault {
	return &methods.PowerOffVM_TaskBody{Res: &types.PowerOffVM_TaskResponse{
		Returnval: m.task(ctx, "powerOff", fakecloud.Off, func(tx *fakecloud.Tx) { tx.Power(m.id, "stop_server") }),
	}}
}

func (m *machine) DestroyTask(ctx *simulator.Context, _ *types.Destroy_Task) soap.HasFault {
	return &methods.Destroy_TaskBody{Res: &types.Destroy_TaskResponse{
		Returnval: m.task(ctx, "destroy", fakecloud.Gone, func(tx *fakecloud.Tx) { tx.Delete(m.id) }),
	}}
}

// task does something to the instance and ends when it has come to a state; a power
// operation that finds it there already is refused, as by a vCenter.
func (m *machine) task(ctx *simulator.Context, name string, to fakecloud.State, do func(*fakecloud.Tx)) types.ManagedObjectReference {
	task := simulator.CreateTask(m.Self, name, func(*simulator.Task) (types.AnyType, types.BaseMethodFault) {
		came := make(chan fakecloud.State, 16) // an instance has no life this long in one operation
		stop := m.cloud.Watch(func(c fakecloud.Change) {
			if c.Instance.ID == m.id {
				select {
				case came <- c.To:
				default:
				}
			}
		})
		defer stop()
		var fault types.BaseMethodFault
		_ = m.cloud.Update(func(tx *fakecloud.Tx) error {
			switch i := tx.Instances.Get(m.id); {
			case i == nil:
				fault = &types.ManagedObjectNotFound{Obj: m.Self}
			case i.State == to:
				fault = &types.InvalidPowerState{ExistingState: power(i.State)}
			case i.Locked():
				fault = &types.TaskInProgress{}
			default:
				do(tx)
			}
			return nil
		})
		if fault != nil {
			return nil, fault
		}
		for state := range came {
			switch state {
			case to, fakecloud.Gone:
				return nil, nil
			case fakecloud.Running, fakecloud.Off: // it has come to nothing
				return nil, &types.GenericVmConfigFault{Reason: "the cloud's action failed"}
			}
		}
		return nil, nil
	})
	return task.Run(ctx)
}

func power(s fakecloud.State) types.VirtualMachinePowerState {
	switch s {
	case fakecloud.Running, fakecloud.Stopping:
		return types.VirtualMachinePowerStatePoweredOn
	}
	return types.VirtualMachinePowerStatePoweredOff
}

// create makes an instance's virtual machine. It is as long there as the instance.
func (s *Server) create(ctx context.Context, i fakecloud.Instance) (*machine, error) {
	t := s.cloud.Catalogue().ServerType(i.Type)
	if t == nil {
		return nil, fmt.Errorf("server type %q is not in the catalogue", i.Type)
	}
	backing, err := s.network.EthernetCardBackingInfo(ctx)
	if err != nil {
		return nil, err
	}
	nic, err := object.EthernetCardTypes().CreateEthernetCard("vmxnet3", backing)
	if err != nil {
		return nil, err
	}
	spec := types.VirtualMachineConfigSpec{
		Name: i.Name, Uuid: UUID(i.ID), GuestId: string(types.VirtualMachineGuestOsIdentifierUbuntu64Guest),
		NumCPUs: int32(t.Cores), MemoryMB: int64(t.MemoryGB * 1024),
		Files: &types.VirtualMachineFileInfo{VmPathName: "[LocalDS_0]"},
	}
	if spec.DeviceChange, err = (object.VirtualDeviceList{nic}).ConfigSpec(types.VirtualDeviceConfigSpecOperationAdd); err != nil {
		return nil, err
	}
	task, err := s.folder.CreateVM(ctx, spec, s.pools[i.Location], nil)
	if err != nil {
		return nil, err
	}
	if err := task.Wait(ctx); err != nil {
		return nil, err
	}
	// Not the task's result: vcsim may report a task as succeeded before it has set its result.
	ref, err := object.NewSearchIndex(s.client.Client).FindByUuid(ctx, nil, spec.Uuid, true, nil)
	if err != nil {
		return nil, err
	}
	if ref == nil {
		return nil, fmt.Errorf("the vCenter has no virtual machine with UUID %s", spec.Uuid)
	}
	vm, ok := s.model.Map().Get(ref.Reference()).(*simulator.VirtualMachine)
	if !ok {
		return nil, fmt.Errorf("the vCenter has no virtual machine %s", ref.Reference())
	}
	m := &machine{VirtualMachine: vm, cloud: s.cloud, id: i.ID}
	s.model.Map().Put(m)
	return m, nil
}
