package fakecloud_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/strict"
)

func open(t *testing.T, cfg fakecloud.Config) *fakecloud.Cloud {
	t.Helper()
	cfg.Clock = clock.RealClock{} // synctest's
	c, err := fakecloud.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func spec(c *fakecloud.Cloud, tx *fakecloud.Tx, name string) fakecloud.Spec {
	return fakecloud.Spec{
		Name: name, Type: c.Catalogue().ServerType("cx22"), Image: tx.Images.Named("debian-12"), Location: "fsn1",
		Labels: map[string]string{"hcloud/node-group": "pool1"}, Start: true, IPv4: true, IPv6: true,
	}
}

func create(t *testing.T, c *fakecloud.Cloud, name string) int64 {
	t.Helper()
	var id int64
	err := c.Update(func(tx *fakecloud.Tx) error {
		i, _, _, err := tx.Create(spec(c, tx, name))
		if err == nil {
			id = i.ID
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func state(c *fakecloud.Cloud, id int64) (s fakecloud.State) {
	c.View(func(tx *fakecloud.Tx) {
		if i := tx.Instances.Get(id); i != nil {
			s = i.State
		}
	})
	return s
}

// Life takes an instance from creating to gone, and every step is reported in its order.
func TestLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := history.New(time.Time{}, clock.RealClock{})
		c := open(t, fakecloud.Config{Recorder: log})
		var states []fakecloud.State
		stop := c.Watch(func(change fakecloud.Change) { states = append(states, change.To) })
		id := create(t, c, "a")
		time.Sleep(time.Minute)
		if got := state(c, id); got != fakecloud.Running {
			t.Fatalf("after a minute the instance is %s, want running", got)
		}
		_ = c.Update(func(tx *fakecloud.Tx) error { tx.Delete(id); return nil })
		time.Sleep(time.Minute)
		stop()
		want := []fakecloud.State{fakecloud.Creating, fakecloud.Starting, fakecloud.Running, fakecloud.Deleting, fakecloud.Gone}
		if !slices.Equal(states, want) {
			t.Errorf("reported %v, want %v", states, want)
		}
		var verbs []string
		for _, r := range log.Events() {
			verbs = append(verbs, r.Verb)
		}
		if got := strings.Join(verbs, " "); got != "created starting running deleting deleted" {
			t.Errorf("the history says %q", got)
		}
		c.View(func(tx *fakecloud.Tx) {
			if tx.PrimaryIPs.Len() != 0 {
				t.Errorf("%d primary IPs are left", tx.PrimaryIPs.Len())
			}
		})
	})
}

// A watch gets no change from before it, whether other watches have got it already or not.
func TestWatchFromNowOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, fakecloud.Config{})
		create(t, c, "a")
		time.Sleep(time.Minute)
		busy, ready, changes := make(chan bool), make(chan bool), []string{}
		defer c.Watch(func(fakecloud.Change) { // a slow one, so that changes wait for it
			ready <- true
			<-busy
		})()
		create(t, c, "b")
		<-ready
		create(t, c, "c")
		defer c.Watch(func(change fakecloud.Change) { changes = append(changes, change.Instance.Name+" "+string(change.To)) })()
		create(t, c, "d")
		go func() {
			for range ready {
			}
		}()
		close(busy)
		synctest.Wait()
		if want := []string{"d creating"}; !slices.Equal(changes, want) {
			t.Errorf("reported %q, want %q", changes, want)
		}
		close(ready)
	})
}

// What ended while deleting was tried has had its effect when deleting has failed.
func TestDeleteFailsEarly(t *testing.T) {
	for _, test := range []struct {
		before time.Duration
		want   fakecloud.State
	}{{time.Second, fakecloud.Running}, {10 * time.Second, fakecloud.Running}, {time.Minute, fakecloud.Off}} {
		synctest.Test(t, func(t *testing.T) {
			c := open(t, fakecloud.Config{Durations: map[string]time.Duration{"create_server": 5 * time.Second, "start_server": 20 * time.Second}})
			f := fault.Fault{Name: "f", Match: cloudfault.Match{Operation: "delete_server"},
				Effect: cloudfault.ActionFails{After: strict.Duration(time.Minute)}}
			if err := c.Inject(f); err != nil {
				t.Fatal(err)
			}
			id := create(t, c, "a")
			time.Sleep(test.before)
			_ = c.Update(func(tx *fakecloud.Tx) error {
				if tx.Instances.Get(id).State == fakecloud.Running {
					tx.Power(id, "stop_server")
				}
				tx.Delete(id)
				return nil
			})
			time.Sleep(30 * time.Second)
			if got := state(c, id); got != fakecloud.Deleting {
				t.Errorf("while it is deleted the instance is %s", got)
			}
			time.Sleep(time.Minute)
			if got := state(c, id); got != test.want {
				t.Errorf("deleted after %v in vain, the instance is %s, want %s", test.before, got, test.want)
			}
		})
	}
}

// Faults in the lives of actions and instances act on those that they match, at their time.
func TestLifeFaults(t *testing.T) {
	for _, test := range []struct {
		fault     fault.Fault
		at        time.Duration
		want      fakecloud.State
		unmetThen bool
	}{
		{fault.Fault{Effect: cloudfault.ActionHangs{}, Match: cloudfault.Match{Operation: "start_server"}}, time.Hour, fakecloud.Starting, false},
		{fault.Fault{Effect: cloudfault.ActionHangs{}, Match: cloudfault.Match{Operation: "start_server"}}, time.Second, fakecloud.Creating,
			true},
		{fault.Fault{Effect: cloudfault.ActionHangs{}, Match: cloudfault.Match{Operation: "start_server", Group: "pool2"}}, time.Hour,
			fakecloud.Running,
			true},
		{fault.Fault{Effect: cloudfault.ActionHangs{}, Match: cloudfault.Match{Operation: "start_server"}, Plan: fault.Plan{Skip: 1}}, time.Hour,
			fakecloud.Running, true},
		{fault.Fault{Effect: cloudfault.ActionTakes{Time: strict.Duration(2 * time.Minute)}, Match: cloudfault.Match{Operation: "start_server"}},
			time.Minute, fakecloud.Starting, false},
		{fault.Fault{Effect: cloudfault.ActionTakes{Time: strict.Duration(2 * time.Minute)}, Match: cloudfault.Match{Operation: "start_server"}},
			3 * time.Minute, fakecloud.Running, false},
		{fault.Fault{Effect: cloudfault.ActionFails{}, Match: cloudfault.Match{Operation: "start_server"}}, time.Minute, fakecloud.Off, false},
		{fault.Fault{Effect: cloudfault.ActionFails{}, Match: cloudfault.Match{Operation: "create_server"}}, time.Minute, "", false},
		{fault.Fault{Effect: cloudfault.TurnsOff{After: strict.Duration(time.Minute)}, Match: cloudfault.Match{Instance: "a*"}}, 2 * time.Minute,
			fakecloud.Off, false},
		{fault.Fault{Effect: cloudfault.TurnsOff{}, Plan: fault.Plan{At: strict.Duration(time.Hour)}}, 2 * time.Minute, fakecloud.Running, true},
		{fault.Fault{Effect: cloudfault.TurnsOff{}, Plan: fault.Plan{At: strict.Duration(time.Hour)}}, 2 * time.Hour, fakecloud.Off, false},
		{fault.Fault{Effect: cloudfault.Vanishes{After: strict.Duration(time.Minute)}}, 2 * time.Minute, "", false},
		{fault.Fault{Effect: interrupted}, 30 * time.Second, fakecloud.Running, true},
		{fault.Fault{Effect: interrupted}, 2 * time.Minute, fakecloud.Running, false},
		{fault.Fault{Effect: interrupted}, 4 * time.Minute, "", false},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := open(t, fakecloud.Config{})
			test.fault.Name = "f"
			if err := c.Inject(test.fault); err != nil {
				t.Fatal(err)
			}
			id := create(t, c, "a")
			time.Sleep(test.at)
			synctest.Wait()
			if got := state(c, id); got != test.want {
				t.Errorf("%s after %v: the instance is %q, want %q", test.fault.Effect, test.at, got, test.want)
			}
			if unmet := len(c.Unmet()) > 0; unmet != test.unmetThen {
				t.Errorf("%s after %v: unmet is %v, want %v", test.fault.Effect, test.at, unmet, test.unmetThen)
			}
		})
	}
}

var interrupted = cloudfault.Interrupted{After: strict.Duration(time.Minute), Notice: strict.Duration(2 * time.Minute)}

// What has been announced comes true in a cloud that goes on from another's state, without the fault.
func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := history.New(time.Time{}, clock.RealClock{})
		c := open(t, fakecloud.Config{Recorder: log})
		if err := c.Inject(fault.Fault{Name: "f", Effect: interrupted}); err != nil {
			t.Fatal(err)
		}
		id := create(t, c, "a")
		time.Sleep(2 * time.Minute)
		saved, err := c.Save()
		if err != nil {
			t.Fatal(err)
		}
		var verbs []string
		for _, r := range log.Events() {
			verbs = append(verbs, r.Verb)
		}
		if got := strings.Join(verbs, " "); got != "armed created starting running matched interrupted effective" {
			t.Errorf("the history says %q", got)
		}
		again := open(t, fakecloud.Config{State: saved})
		if got := state(again, id); got != fakecloud.Running {
			t.Errorf("before its time the instance is %q", got)
		}
		time.Sleep(2 * time.Minute)
		if got := state(again, id); got != "" {
			t.Errorf("after its time the instance is %q", got)
		}
	})
}

// A fault begins when it is injected, not when the cloud was last asked something.
func TestInjectAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := history.New(time.Time{}, clock.RealClock{})
		c := open(t, fakecloud.Config{Recorder: log})
		id := create(t, c, "a")
		time.Sleep(10 * time.Minute) // it has been running since the first of them
		if err := c.Inject(fault.Fault{Name: "f", Effect: cloudfault.TurnsOff{After: strict.Duration(time.Minute)}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute - time.Second)
		if got := state(c, id); got != fakecloud.Running {
			t.Errorf("before a minute is over the instance is %s, want running", got)
		}
		time.Sleep(2 * time.Second)
		if got := state(c, id); got != fakecloud.Off {
			t.Errorf("after a minute the instance is %s, want off", got)
		}
		var verbs []string
		for _, r := range log.Events() {
			verbs = append(verbs, r.Verb)
		}
		if got := strings.Join(verbs, " "); got != "created starting running armed matched off effective" {
			t.Errorf("the history says %q", got)
		}
	})
}

// A fault that acts on two instances is cleared when it has acted on the second.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := history.New(time.Time{}, clock.RealClock{})
		c := open(t, fakecloud.Config{Recorder: log})
		for _, name := range []string{"a", "b", "c"} {
			create(t, c, name)
			time.Sleep(30 * time.Second)
		}
		if err := c.Inject(fault.Fault{Name: "f", Match: cloudfault.Match{Instance: "[ac]"}, Plan: fault.Plan{Limit: 2},
			Effect: cloudfault.TurnsOff{After: strict.Duration(time.Minute)}}); err != nil {
			t.Fatal(err)
		}
		create(t, c, "d")
		time.Sleep(2 * time.Minute)
		var story []string
		for _, r := range log.Events() {
			if r.Source == history.Fault || r.Verb == "off" {
				story = append(story, strings.TrimSpace(r.Verb+" "+r.Object.Name))
			}
		}
		if want := []string{"armed", "matched a", "matched c", "off a", "effective a", "off c", "effective c", "cleared"}; !slices.Equal(story,
			want) {
			t.Errorf("the history says %q, want %q", story, want)
		}
	})
}

// A fault that waits for an event acts from that on, and one that came before the fault is none.
func TestWhen(t *testing.T) {
	faults, err := fault.Parse([]byte(`faults: [{name: f, match: {instance: a}, when: {source: cloud, verb: running, name: b}, at: 1m, turnsOff: {}}]`), cloudfault.Faults)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		if err := open(t, fakecloud.Config{}).Inject(faults[0]); err == nil || !strings.Contains(err.Error(), "no history to wait on") {
			t.Errorf("without a history: got %v", err)
		}
		log := history.New(time.Time{}, clock.RealClock{})
		c := open(t, fakecloud.Config{Recorder: log})
		id := create(t, c, "a")
		state := func() (s fakecloud.State) {
			c.View(func(tx *fakecloud.Tx) { s = tx.Instances.Get(id).State })
			return s
		}
		log.Record(history.Event{Source: history.Cloud, Verb: "running", Object: history.Object{Resource: "instances", Name: "b"}})
		if err := c.Inject(faults[0]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if got := state(); got != fakecloud.Running {
			t.Fatalf("a is %s before b runs", got)
		}
		log.Record(history.Event{Source: history.Cloud, Verb: "running", Object: history.Object{Resource: "instances", Name: "b"}})
		time.Sleep(59 * time.Second)
		if got := state(); got != fakecloud.Running {
			t.Errorf("a is %s 59s after b runs", got)
		}
		time.Sleep(2 * time.Second)
		if got := state(); got != fakecloud.Off {
			t.Errorf("a is %s 61s after b runs, want off", got)
		}
	})
}

// A project goes on where it was saved, with the actions under way.
func TestState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, fakecloud.Config{})
		id := create(t, c, "a")
		saved, err := c.Save()
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		again := open(t, fakecloud.Config{State: saved})
		if got := state(again, id); got != fakecloud.Creating {
			t.Fatalf("the instance is %q, want creating", got)
		}
		time.Sleep(time.Minute)
		if got := state(again, id); got != fakecloud.Running {
			t.Errorf("a minute later the instance is %q, want running", got)
		}
		create(t, again, "b")
		if all := again.Instances(); all[0].RootPassword == all[1].RootPassword {
			t.Errorf("before and after saving, instances get the password %s", all[0].RootPassword)
		}
		for _, bad := range []string{
			"", "{", `{"Version":1}x`, `{"Version":2}`, `{"Version":1,"Other":1}`, `{"Version":1,"Instances":[null]}`,
			strings.Replace(string(saved), `"fsn1"`, `"moon"`, 1), strings.Replace(string(saved), `"State": "creating"`, `"State": "x"`, 1),
		} {
			c, err := fakecloud.New(fakecloud.Config{Clock: clock.RealClock{}, State: []byte(bad)})
			if err == nil {
				c.Close()
				t.Errorf("the state %.40q is taken, want an error", bad)
			}
		}
	})
}

// An instance that vanishes before it runs goes without further states, and takes its actions along.
func TestVanishEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, fakecloud.Config{})
		var states []fakecloud.State
		stop := c.Watch(func(change fakecloud.Change) { states = append(states, change.To) })
		id := create(t, c, "a")
		_ = c.Update(func(tx *fakecloud.Tx) error { tx.Remove(id); return nil })
		time.Sleep(time.Minute)
		stop()
		if want := []fakecloud.State{fakecloud.Creating, fakecloud.Gone}; !slices.Equal(states, want) {
			t.Errorf("reported %v, want %v", states, want)
		}
		c.View(func(tx *fakecloud.Tx) {
			for _, a := range tx.Actions.All() {
				if a.Status != fakecloud.ActionError {
					t.Errorf("action %s is %s, want error", a.Command, a.Status)
				}
			}
		})
	})
}

// The same seed gives the same course, another one another.
func TestSeed(t *testing.T) {
	course := func(seed uint64) (all string) {
		synctest.Test(t, func(t *testing.T) {
			log := history.New(time.Time{}, clock.RealClock{})
			c := open(t, fakecloud.Config{Seed: seed, Recorder: log})
			create(t, c, "a")
			create(t, c, "b")
			time.Sleep(time.Minute)
			for _, r := range log.Events() {
				all += r.Virtual.String() + r.Verb + r.Object.Name + " "
			}
		})
		return all
	}
	if once, again := course(1), course(1); once != again {
		t.Errorf("seed 1 went two ways: %s and %s", once, again)
	}
	if course(1) == course(2) {
		t.Error("seeds 1 and 2 went the same way")
	}
}
