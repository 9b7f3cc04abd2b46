package fakecloud

import (
	"slices"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/table"
	"nodestorm/sim/fault"
)

// placed is a cloud with a group "a" of two instances in zone-a and zone-b, and a way to let time pass.
func placed(t *testing.T, faults ...fault.Fault) (c *Cloud, pass func(time.Duration)) {
	t.Helper()
	clk := testclock.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	c, err := New(Config{
		Clock: clk, Seed: 1, Catalogue: Plain(), GroupLabel: "group", KeptLabel: "kept",
		InstanceName: func(tx *Tx) string { return "i-" + tx.Hex(17) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for _, f := range faults {
		if err := c.Inject(f); err != nil {
			t.Fatal(err)
		}
	}
	err = c.Update(func(tx *Tx) error {
		_, err := tx.CreateGroup(Group{
			Meta: table.Meta{Name: "a"}, Max: 5, Target: 2, Type: "medium", Image: PlainImage, InstanceLabels: map[string]string{"of": "mine"},
			Placement: Placement{Places: []Place{{Location: "zone-a"}, {Location: "zone-b"}}, Retry: time.Minute},
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, func(d time.Duration) { clk.Step(d); c.View(func(*Tx) {}) }
}

// in are the locations of all instances, sorted.
func in(c *Cloud) (all []string) {
	for _, i := range c.Instances() {
		if i.State != Deleting {
			all = append(all, i.Location)
		}
	}
	slices.Sort(all)
	return all
}

func group(c *Cloud) (g Group) {
	c.View(func(tx *Tx) { g = *tx.Groups.Named("a") })
	return g
}

func set(t *testing.T, c *Cloud, target int) {
	t.Helper()
	if err := c.Update(func(tx *Tx) error { tx.SetTarget(tx.Groups.Named("a").ID, target); return nil }); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, c *Cloud, locations ...string) {
	t.Helper()
	if is := in(c); !slices.Equal(is, locations) {
		t.Errorf("instances are in %q, want %q", is, locations)
	}
}

// Instances are spread over places, and go where there are most, the oldest first; what was done is kept.
func TestPlacement(t *testing.T) {
	c, pass := placed(t)
	pass(time.Minute)
	want(t, c, "zone-a", "zone-b")
	set(t, c, 3)
	pass(time.Minute)
	want(t, c, "zone-a", "zone-a", "zone-b")
	first := c.Instances()[0]
	if first.Labels["of"] != "mine" || first.Labels["kept"] != "a" || first.Location != "zone-a" {
		t.Errorf("the first instance is %+v", first)
	}
	set(t, c, 2)
	pass(time.Minute)
	want(t, c, "zone-a", "zone-b")
	if slices.ContainsFunc(c.Instances(), func(i Instance) bool { return i.Name == first.Name }) {
		t.Error("the oldest instance of zone-a, where two were, is still there")
	}
	all := group(c).Activities
	for _, a := range all {
		if a.End.IsZero() || a.Failure != nil || a.Deletion != (a.ID == all[3].ID) {
			t.Errorf("activity %+v", a)
		}
	}
	if len(all) != 4 || all[3].Instance != first.Name {
		t.Errorf("activities %+v", all)
	}
	set(t, c, 3) // the oldest is alone in zone-b now
	pass(time.Minute)
	set(t, c, 2)
	pass(time.Minute)
	want(t, c, "zone-a", "zone-b")
}

// What cannot be had in one place is created in another; what can be had nowhere is tried again later, and is not there until then.
func TestPlacementFails(t *testing.T) {
	short := func(location string) fault.Fault {
		return fault.Fault{Name: "none in " + location, Effect: cloudfault.Unavailable{Type: "medium", Location: location}}
	}
	c, pass := placed(t, short("zone-a"))
	pass(5 * time.Second)
	want(t, c, "zone-b", "zone-b")
	if err := c.Inject(short("zone-b")); err != nil {
		t.Fatal(err)
	}
	set(t, c, 3)
	failures := func() (n int) {
		for _, a := range group(c).Activities {
			if a.Failure != nil && !a.End.IsZero() && a.Instance == "" && a.Failure.Code == "resource_unavailable" {
				n++
			}
		}
		return n
	}
	before := failures()
	pass(59 * time.Second)
	if failures() != before {
		t.Errorf("%d failures within the rest after %d", failures(), before)
	}
	pass(time.Second)
	if failures() != before+2 {
		t.Errorf("%d failures after the rest, want %d: one for each place", failures(), before+2)
	}
	if err := c.Clear("none in zone-a"); err != nil {
		t.Fatal(err)
	}
	want(t, c, "zone-b", "zone-b")
	pass(time.Minute)
	want(t, c, "zone-a", "zone-b", "zone-b")
}
