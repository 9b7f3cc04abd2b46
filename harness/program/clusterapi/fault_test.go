package clusterapi

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/strict"
)

// faulty is a provider of which only the faults are at work.
type faulty struct {
	*Provider
	log *history.Log
}

func newFaulty(t *testing.T) faulty {
	t.Helper()
	log := history.New(time.Now(), clock.RealClock{})
	p := &Provider{cfg: ProviderConfig{Clock: clock.RealClock{}, History: log, Seed: 1}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.informer = map[kind]cache.SharedIndexInformer{owners: cache.NewSharedIndexInformer(nil, &unstructured.Unstructured{}, 0, nil)}
	p.queue = workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[request]())
	t.Cleanup(func() {
		p.cancel()
		p.queue.ShutDown()
		p.running.Wait()
		_ = log.Close() // it has no file
	})
	return faulty{p, log}
}

func (p faulty) machine(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	m := &unstructured.Unstructured{Object: map[string]any{}}
	m.SetName(name)
	m.SetLabels(map[string]string{deploymentLabel: "web"})
	if err := p.informer[owners].GetStore().Add(m); err != nil {
		t.Fatal(err)
	}
	return m
}

func (p faulty) strikes(e fault.Effect, m *unstructured.Unstructured) bool {
	return p.findEffect(m, func(other fault.Effect) bool { return other == e }) != nil
}

// inject arms a fault of the machines.
func (p faulty) inject(plan fault.Plan, e fault.Effect) error {
	return p.Inject(fault.Fault{Name: "f", Match: Match{Deployment: "web"}, Plan: plan, Effect: e})
}

// story is what the history has of faults.
func (p faulty) story() string {
	var steps []string
	for _, r := range p.log.Events() {
		if r.Source == history.Fault {
			steps = append(steps, strings.TrimSpace(r.Verb+" "+r.Object.Name))
		}
	}
	return strings.Join(steps, ", ")
}

// Machines that are there are spared by what strikes early in a machine's life, and by no other.
func TestFaultSpares(t *testing.T) {
	for effect, want := range map[fault.Effect]bool{FailsToProvision{}: false, DeletionHeld{}: true} {
		synctest.Test(t, func(t *testing.T) {
			p := newFaulty(t)
			old := p.machine(t, "old")
			if err := p.inject(fault.Plan{}, effect); err != nil {
				t.Fatal(err)
			}
			if got := p.strikes(effect, old); got != want {
				t.Errorf("%s strikes a machine that was there: %t", effect, got)
			}
			if !p.strikes(effect, p.machine(t, "new")) {
				t.Errorf("%s strikes no new machine", effect)
			}
		})
	}
}

// A fault acts on so many machines in its time, always on the same, and then lets them go.
func TestFaultPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFaulty(t)
		when := &checker.Pattern{}
		if err := strict.Unmarshal([]byte("{source: node, verb: ready}"), when); err != nil {
			t.Fatal(err)
		}
		plan := fault.Plan{When: when, At: strict.Duration(time.Minute), For: strict.Duration(time.Hour), Skip: 1, Limit: 1}
		if err := p.inject(plan, StuckInProvisioning{}); err != nil {
			t.Fatal(err)
		}
		struck := func() (s string) {
			for _, name := range []string{"a", "b", "c"} {
				if p.strikes(StuckInProvisioning{}, p.machine(t, name)) {
					s += name
				}
			}
			return s
		}
		time.Sleep(time.Hour)
		if got := struck(); got != "" {
			t.Errorf("before its record it strikes %q", got)
		}
		for _, name := range []string{"a", "b", "c"} {
			_ = p.informer[owners].GetStore().Delete(p.machine(t, name)) // it is in memory
		}
		p.log.Record(history.Event{Source: history.Node, Verb: "ready"})
		time.Sleep(time.Minute + time.Second)
		for range 2 {
			if got := struck(); got != "b" {
				t.Errorf("in its time it strikes %q, want b", got)
			}
		}
		time.Sleep(time.Hour)
		if got := struck(); got != "" {
			t.Errorf("after its time it strikes %q", got)
		}
		if got := p.story(); got != "armed, effective b, cleared" {
			t.Errorf("the history says %s", got)
		}
	})
}

func TestFaultClear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFaulty(t)
		m := p.machine(t, "a")
		if err := p.inject(fault.Plan{}, DeletionHeld{}); err != nil {
			t.Fatal(err)
		}
		if err := p.inject(fault.Plan{}, DeletionHeld{}); err == nil {
			t.Error("a second fault of the name is taken")
		}
		p.strikes(DeletionHeld{}, m)
		for p.queue.Len() > 0 {
			r, _ := p.queue.Get()
			p.queue.Done(r)
		}
		if err := p.Clear("f"); err != nil || p.strikes(DeletionHeld{}, m) || p.queue.Len() == 0 {
			t.Errorf("after Clear (%v) the machine is still held, or not looked at again (%d)", err, p.queue.Len())
		}
		if err := p.Clear("g"); err == nil {
			t.Error("an unknown fault is cleared")
		}
	})
}

// melts is no effect on machines.
type melts struct{}

func (melts) String() string { return "melts" }

func TestFaultCheck(t *testing.T) {
	web := Match{Deployment: "web"}
	for want, f := range map[string]fault.Fault{
		"a fault has no name":                 {Match: web, Effect: NeverJoins{}},
		"want a name and a MachineDeployment": {Name: "f", Effect: NeverJoins{}},
		`unknown effect "melts" (allowed: `:   {Name: "f", Match: web, Effect: melts{}},
		"field limit is -1":                   {Name: "f", Match: web, Effect: NeverJoins{}, Plan: fault.Plan{Limit: -1}},
	} {
		if err := Faults.Check(f); err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
