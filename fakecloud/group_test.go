package fakecloud

import (
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/table"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
)

// groupCloud is a cloud with a group "a" of up to 5 instances, and a way to let time pass.
func groupCloud(t *testing.T, target int, faults ...fault.Fault) (c *Cloud, pass func(time.Duration)) {
	t.Helper()
	clk := testclock.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	c, err := New(Config{Clock: clk, Seed: 1, Catalogue: Plain(), GroupLabel: "group"})
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
		_, err := tx.CreateGroup(Group{Meta: table.Meta{Name: "a"}, Max: 5, Target: target, Type: "medium", Location: "zone-a", Image: PlainImage})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, func(d time.Duration) { clk.Step(d); c.View(func(*Tx) {}) }
}

// members are the instances of the group by name.
func members(c *Cloud) map[string]Instance {
	all := map[string]Instance{}
	for _, i := range c.Instances() {
		all[i.Name] = i
	}
	return all
}

func target(c *Cloud) (n int) {
	c.View(func(tx *Tx) { n = tx.Groups.Named("a").Target })
	return n
}

func TestGroupKeepsItsTarget(t *testing.T) {
	c, pass := groupCloud(t, 2)
	pass(time.Minute)
	for _, i := range members(c) {
		if i.State != Running {
			t.Errorf("%s is %s", i.Name, i.State)
		}
	}
	var id, lost int64
	c.View(func(tx *Tx) { id, lost = tx.Groups.Named("a").ID, tx.Instances.Named("a-1").ID })
	_ = c.Update(func(tx *Tx) error { tx.Remove(lost); return nil })
	pass(time.Minute)
	if m := members(c); len(m) != 2 || m["a-3"].State != Running {
		t.Errorf("after a-1 was lost there are %v", m)
	}
	_ = c.Update(func(tx *Tx) error { tx.SetTarget(id, 4); tx.SetTarget(id, 1); return nil })
	pass(time.Minute)
	if m := members(c); len(m) != 1 || m["a-2"].Name == "" || target(c) != 1 {
		t.Errorf("of the target 1 there are %v", m)
	}
	err := c.Update(func(tx *Tx) error { return tx.DeleteMembers(id, tx.Instances.Named("a-2").ID) })
	pass(time.Minute)
	if err != nil || len(members(c)) != 0 || target(c) != 0 {
		t.Errorf("%v; after the last was deleted there are %v, of %d", err, members(c), target(c))
	}
}

// What cannot be created is there with its failure, is not replaced, and goes at once.
func TestGroupFailsToGrow(t *testing.T) {
	for name, f := range map[string]fault.Fault{
		"at once": {Name: "f", Effect: cloudfault.Unavailable{Type: "medium"}},
		"later":   {Name: "f", Match: cloudfault.Match{Operation: "create_server"}, Effect: cloudfault.ActionFails{Code: "resource_unavailable"}},
	} {
		t.Run(name, func(t *testing.T) {
			c, pass := groupCloud(t, 1, f)
			pass(time.Minute)
			m := members(c)
			if len(m) != 1 || m["a-1"].State != Creating || m["a-1"].Failure == nil || m["a-1"].Failure.Code != "resource_unavailable" {
				t.Fatalf("%+v", m)
			}
			err := c.Update(func(tx *Tx) error {
				return tx.DeleteMembers(tx.Groups.Named("a").ID, tx.Instances.Named("a-1").ID)
			})
			pass(time.Minute)
			if err != nil || len(members(c)) != 0 || target(c) != 0 {
				t.Errorf("%v; %v, of %d", err, members(c), target(c))
			}
		})
	}
}

// What the cloud owes can be forgone, and is created once nothing withholds it.
func TestGroupOwes(t *testing.T) {
	withheld := fault.Fault{Name: "f", Effect: cloudfault.NotCreated{}}
	c, pass := groupCloud(t, 2, withheld)
	pass(time.Minute)
	if len(members(c)) != 0 || target(c) != 2 || len(c.Unmet()) != 0 {
		t.Fatalf("%v, of %d; unmet %v", members(c), target(c), c.Unmet())
	}
	forgo := func(n int) error {
		return c.Update(func(tx *Tx) error { return tx.Forgo(tx.Groups.Named("a").ID, n) })
	}
	if err := forgo(1); err != nil || target(c) != 1 {
		t.Errorf("%v, target %d", err, target(c))
	}
	if err := c.Clear("f"); err != nil {
		t.Fatal(err)
	}
	pass(time.Minute)
	if m := members(c); len(m) != 1 {
		t.Errorf("after the fault there are %v", m)
	}
	if err := forgo(1); err == nil || target(c) != 1 {
		t.Errorf("an instance that there is could be forgone: %v, target %d", err, target(c))
	}
}

func TestCreateGroupRefuses(t *testing.T) {
	c, _ := groupCloud(t, 0)
	for name, g := range map[string]Group{
		"name":     {Type: "medium", Location: "zone-a", Image: PlainImage},
		"twice":    {Meta: table.Meta{Name: "a"}, Type: "medium", Location: "zone-a", Image: PlainImage},
		"bounds":   {Meta: table.Meta{Name: "b"}, Min: 2, Max: 1, Type: "medium", Location: "zone-a", Image: PlainImage},
		"type":     {Meta: table.Meta{Name: "b"}, Type: "none", Location: "zone-a", Image: PlainImage},
		"location": {Meta: table.Meta{Name: "b"}, Type: "medium", Location: "moon", Image: PlainImage},
		"image":    {Meta: table.Meta{Name: "b"}, Type: "medium", Location: "zone-a", Image: "none"},
		"target":   {Meta: table.Meta{Name: "b"}, Target: -1, Type: "medium", Location: "zone-a", Image: PlainImage},
	} {
		if err := c.Update(func(tx *Tx) error { _, err := tx.CreateGroup(g); return err }); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A saved cloud goes on with its groups.
func TestGroupsAreSaved(t *testing.T) {
	c, pass := groupCloud(t, 1)
	pass(time.Minute)
	state, err := c.Save()
	if err != nil {
		t.Fatal(err)
	}
	again, err := New(Config{Clock: c.Clock(), Catalogue: Plain(), GroupLabel: "group", State: state, Recorder: history.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if m := members(again); len(m) != 1 || target(again) != 1 {
		t.Errorf("%v, of %d", m, target(again))
	}
}
