package vcenter_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/vmware/govmomi"
	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/property"
	"github.com/vmware/govmomi/vapi/rest"
	"github.com/vmware/govmomi/vapi/tags"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
	"k8s.io/utils/clock"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/vcenter"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/strict"
)

// rig is a cloud whose actions take milliseconds, and a client of its vCenter.
type rig struct {
	*testing.T
	cloud  *fakecloud.Cloud
	server *vcenter.Server
	client *govmomi.Client
}

func newRig(t *testing.T) *rig { return recorded(t, nil) }

// recorded is a rig whose cloud records its calls.
func recorded(t *testing.T, to history.Recorder) *rig {
	durations := fakecloud.DefaultDurations()
	for command := range durations {
		durations[command] = 5 * time.Millisecond
	}
	r := &rig{T: t}
	var err error
	r.cloud, err = fakecloud.New(fakecloud.Config{Clock: clock.RealClock{}, Recorder: to, Catalogue: vcenter.Catalogue(), Durations: durations})
	r.must(err)
	t.Cleanup(r.cloud.Close)
	r.server, err = vcenter.Serve(t.Context(), vcenter.Config{Cloud: r.cloud, User: "user", Password: "secret"})
	r.must(err)
	t.Cleanup(func() { r.must(r.server.Close()) })
	r.client, err = govmomi.NewClient(t.Context(), r.url("secret"), true)
	r.must(err)
	return r
}

func (r *rig) url(password string) *url.URL {
	return &url.URL{Scheme: "https", Host: r.server.Host(), Path: "/sdk", User: url.UserPassword("user", password)}
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// create makes the instance web-1.
func (r *rig) create(size, location string) (id int64) {
	r.Helper()
	r.must(r.cloud.Update(func(tx *fakecloud.Tx) error {
		i, _, _, err := tx.Create(fakecloud.Spec{
			Name: "web-1", Type: r.cloud.Catalogue().ServerType(size), Image: tx.Images.All()[0], Location: location, Start: true, IPv4: true,
		})
		if err == nil {
			id = i.ID
		}
		return err
	}))
	return id
}

// machine is the virtual machine with that UUID, nil if there is none.
func (r *rig) machine(id int64) (*object.VirtualMachine, mo.VirtualMachine) {
	r.Helper()
	found, err := object.NewSearchIndex(r.client.Client).FindByUuid(r.Context(), nil, vcenter.UUID(id), true, nil)
	r.must(err)
	if found == nil {
		return nil, mo.VirtualMachine{}
	}
	var m mo.VirtualMachine
	if err := property.DefaultCollector(r.client.Client).RetrieveOne(r.Context(), found.Reference(), nil, &m); err != nil {
		return nil, m // it has just gone
	}
	return object.NewVirtualMachine(r.client.Client, found.Reference()), m
}

// eventually waits until what has nothing to complain of.
func (r *rig) eventually(what string, ok func() bool) {
	r.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			r.Fatalf("not so: %s", what)
		}
	}
}

func (r *rig) power(id int64, want types.VirtualMachinePowerState) {
	r.Helper()
	r.eventually(string(want), func() bool { _, m := r.machine(id); return m.Runtime.PowerState == want })
}

func (r *rig) state(id int64) (state fakecloud.State) {
	r.cloud.View(func(tx *fakecloud.Tx) {
		state = fakecloud.Gone
		if i := tx.Instances.Get(id); i != nil {
			state = i.State
		}
	})
	return state
}

// What happens to an instance shows in the vCenter.
func TestCloudIsTheTruth(t *testing.T) {
	r := newRig(t)
	id := r.create("medium", "zone-b")
	r.power(id, types.VirtualMachinePowerStatePoweredOn)
	r.eventually("the guest says its name", func() bool { _, m := r.machine(id); return m.Guest != nil && m.Guest.HostName == "web-1" })
	_, m := r.machine(id)
	if m.Name != "web-1" || m.Config.Hardware.NumCPU != 4 || m.Config.Hardware.MemoryMB != 8192 {
		t.Errorf("machine %q with %+v", m.Name, m.Config.Hardware)
	}
	if got, want := m.Guest.IpAddress, r.cloud.Instances()[0].PublicIPv4.String(); got != want || len(m.Guest.Net) != 1 ||
		m.Guest.Net[0].IpAddress[0] != want {
		t.Errorf("address %q in %+v, want %s", got, m.Guest.Net, want)
	}
	byName, err := object.NewSearchIndex(r.client.Client).FindByDnsName(t.Context(), nil, "web-1", true)
	if err != nil || byName == nil || byName.Reference() != m.Self {
		t.Errorf("by its name: %v, %v", byName, err)
	}
	r.must(r.cloud.Inject(fault.Fault{Name: "host crash", Match: cloudfault.Match{Instance: "web-1"},
		Effect: cloudfault.TurnsOff{After: strict.Duration(time.Millisecond)}}))
	r.power(id, types.VirtualMachinePowerStatePoweredOff)
	r.must(r.cloud.Update(func(tx *fakecloud.Tx) error { tx.Remove(id); return nil }))
	r.eventually("it is gone", func() bool { vm, _ := r.machine(id); return vm == nil })
}

// What the API does is done to the instance.
func TestPowerAndDestroy(t *testing.T) {
	r := newRig(t)
	id := r.create("small", "zone-a")
	r.power(id, types.VirtualMachinePowerStatePoweredOn)
	vm, _ := r.machine(id)
	wait := func(task *object.Task, err error) error {
		t.Helper()
		r.must(err)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		return task.Wait(ctx)
	}
	task, err := vm.PowerOn(t.Context())
	if err := wait(task, err); err == nil {
		t.Error("a running machine is powered on")
	}
	task, err = vm.PowerOff(t.Context())
	r.must(wait(task, err))
	if got := r.state(id); got != fakecloud.Off {
		t.Errorf("powered off, the instance is %s", got)
	}
	r.power(id, types.VirtualMachinePowerStatePoweredOff)
	task, err = vm.PowerOn(t.Context())
	r.must(wait(task, err))
	if got := r.state(id); got != fakecloud.Running {
		t.Errorf("powered on, the instance is %s", got)
	}
	task, err = vm.Destroy(t.Context())
	r.must(wait(task, err))
	if got := r.state(id); got != fakecloud.Gone {
		t.Errorf("destroyed, the instance is %s", got)
	}
	r.eventually("it is gone", func() bool { vm, _ := r.machine(id); return vm == nil })
}

// A power operation that fails in the cloud fails in the vCenter.
func TestActionFails(t *testing.T) {
	r := newRig(t)
	id := r.create("small", "zone-a")
	r.power(id, types.VirtualMachinePowerStatePoweredOn)
	r.must(r.cloud.Inject(fault.Fault{Name: "stuck", Match: cloudfault.Match{Operation: "stop_server"}, Effect: cloudfault.ActionFails{}}))
	vm, _ := r.machine(id)
	task, err := vm.PowerOff(t.Context())
	r.must(err)
	if err := task.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "GenericVmConfigFault") {
		t.Errorf("power off: %v", err)
	}
}

// Machines are where the tags say.
func TestZones(t *testing.T) {
	r := newRig(t)
	id := r.create("small", "zone-b")
	r.power(id, types.VirtualMachinePowerStatePoweredOn)
	_, m := r.machine(id)
	ancestors, err := mo.Ancestors(t.Context(), r.client.Client, r.client.ServiceContent.PropertyCollector, *m.ResourcePool)
	r.must(err)
	web := rest.NewClient(r.client.Client)
	r.must(web.Login(t.Context(), r.url("secret").User))
	manager := tags.NewManager(web)
	found := map[string]string{}
	for _, a := range ancestors {
		attached, err := manager.GetAttachedTags(t.Context(), a.Self)
		r.must(err)
		for _, tag := range attached {
			category, err := manager.GetCategory(t.Context(), tag.CategoryID)
			r.must(err)
			found[category.Name] = tag.Name
		}
	}
	if found[vcenter.ZoneCategory] != "zone-b" || found[vcenter.RegionCategory] != "region-1" {
		t.Errorf("tags %v", found)
	}
}

func TestLogin(t *testing.T) {
	r := newRig(t)
	if _, err := govmomi.NewClient(t.Context(), r.url("wrong"), true); err == nil {
		t.Error("a wrong password logs in")
	}
	if _, err := vcenter.Serve(t.Context(), vcenter.Config{Cloud: r.cloud}); err == nil {
		t.Error("a vCenter without a user is served")
	}
}
