package ccm_test

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/vcenter"
	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/cloud/vsphere"
	"nodestorm/harness/program/ccm"
	"nodestorm/harness/world"
	"nodestorm/harness/world/process/processtest"
	"nodestorm/sim/time/clock"
)

// The Node of a virtual machine gets its provider ID, addresses and zone, loses the
// taint that waits for them, and goes with its machine.
func TestVSphere(t *testing.T) {
	control := buildstest.Get(t, builds.Kubernetes)
	store, err := buildstore.Open("")
	if err != nil {
		t.Fatal(err)
	}
	recipe, err := buildstore.Known(builds.CCMVSphere)
	if err != nil {
		t.Fatal(err)
	}
	manager, err := store.Build(t.Context(), recipe, nil) // does nothing if its source is as it was
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, out: t.TempDir()}
	r.world, err = world.Start(t.Context(), world.Config{Kubernetes: control.Bin(), Out: r.out, Clock: clock.Auto, Seed: 1})
	r.must(err)
	t.Cleanup(func() { r.must(r.world.Stop()) })
	cloud, err := fakecloud.New(fakecloud.Config{Clock: r.world.Clock(), Seed: 1, Recorder: r.world.History(), Catalogue: vcenter.Catalogue()})
	r.must(err)
	t.Cleanup(cloud.Close)
	j, err := machines.New(machines.Config{Cloud: cloud, Fleet: r.world.Fleet(), History: r.world.History(), Seed: 1})
	r.must(err)
	t.Cleanup(j.Close)
	server, err := vcenter.Serve(t.Context(), vcenter.Config{Cloud: cloud, User: "user", Password: token})
	r.must(err)
	t.Cleanup(func() { r.must(server.Close()) })
	r.ccm, err = ccm.InstallVSphere(t.Context(), r.world, manager)
	r.must(err)

	var id int64
	var ip string
	for _, name := range []string{"first", "second"} { // a last Node would not be deleted at once
		r.must(cloud.Update(func(tx *fakecloud.Tx) error {
			i, _, _, err := tx.Create(fakecloud.Spec{
				Name: name, Type: cloud.Catalogue().ServerType("medium"), Image: tx.Images.All()[0], Location: "zone-b",
				UserData: userData, Start: true, IPv4: true,
			})
			if err == nil && name == "first" {
				id, ip = i.ID, i.PublicIPv4.String()
			}
			return err
		}))
	}
	r.within(2*time.Minute, "the Nodes wait for the controller manager", func() error {
		return errors.Join(r.tainted("first", machines.Uninitialized.Key, true), r.tainted("second", machines.Uninitialized.Key, true))
	})

	with := func(password string) string {
		text, err := vsphere.Login{Host: server.Host(), User: "user", Password: password}.Config()
		r.must(err)
		return text
	}
	if _, err := r.ccm.StartVSphere(t.Context(), with("wrong")); err == nil {
		t.Error("it starts with a wrong password")
	}
	_, err = r.ccm.StartVSphere(t.Context(), with(token))
	r.must(err)
	r.within(time.Minute, "the Node is initialised", func() error { return r.tainted("first", machines.Uninitialized.Key, false) })
	n, err := r.node("first")
	r.must(err)
	if want := "vsphere://" + vcenter.UUID(id); n.Spec.ProviderID != want {
		t.Errorf("provider ID %q, want %q", n.Spec.ProviderID, want)
	}
	for label, want := range map[string]string{
		corev1.LabelInstanceTypeStable: "vsphere-vm.cpu-4.mem-8gb.os-ubuntu64", corev1.LabelTopologyRegion: "region-1", corev1.LabelTopologyZone: "zone-b",
	} {
		if got := n.Labels[label]; got != want {
			t.Errorf("label %s is %q, want %q", label, got, want)
		}
	}
	want := []corev1.NodeAddress{
		{Type: corev1.NodeHostName, Address: "first"}, {Type: corev1.NodeInternalIP, Address: ip}, {Type: corev1.NodeExternalIP, Address: ip},
	}
	r.within(time.Minute, "the Node has its addresses", func() error {
		n, err := r.node("first")
		if err == nil && !cmp.Equal(want, n.Status.Addresses) {
			err = errors.New(cmp.Diff(want, n.Status.Addresses))
		}
		return err
	})

	may := maps.Clone(processtest.Anonymous)
	may[""] = append(slices.Clone(may[""]), "/about")    // which methods vcsim knows
	processtest.CheckStrangers(t, r.world.Dir(), 5, may) // the control plane's three, the manager's, vCenter's

	before := uint64(len(r.world.History().Since(0)))
	processtest.Intrude(t, r.world.Dir())

	r.must(cloud.Update(func(tx *fakecloud.Tx) error { tx.Delete(id); return nil }))
	r.within(2*time.Minute, "the Node of the deleted machine is gone", func() error {
		_, err := r.node("first")
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it is there"), err)
	})
	if by := r.deletedBy("first"); by != builds.ReleasedCCMVSphere {
		t.Errorf("the Node was deleted by %q, want %q", by, builds.ReleasedCCMVSphere)
	}
	processtest.CheckIntruded(t, r.world.History().Since(before))
	r.rightsSuffice(builds.ReleasedCCMVSphere)
	r.hides(token)
}
