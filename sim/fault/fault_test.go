package fault_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/strict"
)

// armed is what a part of the world has of a fault.
type armed struct {
	fault.Life
	own string
}

func arm(t *testing.T, name string, seed uint64, plan fault.Plan) (*armed, *testclock.FakeClock, *history.Log) {
	t.Helper()
	if err := plan.Check(); err != nil {
		t.Fatal(err)
	}
	clk := testclock.NewFakeClock(time.Unix(0, 0))
	log := history.New(time.Time{}, clk)
	r := fault.Recorder{History: log, Seed: seed}
	return &armed{Life: r.Arm(name, "breaks", plan, clk.Now(), fault.EventDetails{Actor: "part"})}, clk, log
}

// acts says on which of n occasions, a second apart, a fault acts.
func acts(t *testing.T, name string, seed uint64, plan fault.Plan, n int) (acted []int) {
	t.Helper()
	a, clk, _ := arm(t, name, seed, plan)
	for k := range n {
		if a.Active(clk.Now()) && a.Fire() {
			acted = append(acted, k)
		}
		clk.Step(time.Second)
	}
	if a.Taken() != len(acted) {
		t.Errorf("taken %d of %v", a.Taken(), acted)
	}
	return acted
}

const second = strict.Duration(time.Second)

func TestPlan(t *testing.T) {
	for _, test := range []struct {
		plan fault.Plan
		want []int
	}{
		{fault.Plan{}, []int{0, 1, 2, 3, 4, 5}},
		{fault.Plan{Probability: 1}, []int{0, 1, 2, 3, 4, 5}},
		{fault.Plan{Skip: 2}, []int{2, 3, 4, 5}},
		{fault.Plan{Limit: 2}, []int{0, 1}},
		{fault.Plan{Skip: 1, Limit: 2}, []int{1, 2}},
		{fault.Plan{At: 2 * second}, []int{2, 3, 4, 5}},
		{fault.Plan{For: 2 * second}, []int{0, 1}},
		{fault.Plan{At: second, For: 3 * second, Skip: 1, Limit: 1}, []int{2}},
	} {
		if got := acts(t, "f", 1, test.plan, 6); !slices.Equal(got, test.want) {
			t.Errorf("%+v acted on %v, want %v", test.plan, got, test.want)
		}
	}
}

// What is drawn belongs to the seed and to the fault's name, and a limit counts what was drawn.
func TestProbability(t *testing.T) {
	half := fault.Plan{Probability: 0.5}
	first := acts(t, "f", 1, half, 1000)
	if n := len(first); n < 400 || n > 600 {
		t.Errorf("it acted on %d of 1000, want about half", n)
	}
	if !slices.Equal(first, acts(t, "f", 1, half, 1000)) {
		t.Error("the same seed chose others")
	}
	if slices.Equal(first, acts(t, "f", 2, half, 1000)) || slices.Equal(first, acts(t, "g", 1, half, 1000)) {
		t.Error("another seed, or another fault, chose the same")
	}
	if limited := acts(t, "f", 1, fault.Plan{Probability: 0.5, Limit: 3}, 1000); !slices.Equal(limited, first[:3]) {
		t.Errorf("with a limit of 3 it acted on %v, want %v", limited, first[:3])
	}
}

func TestLife(t *testing.T) {
	a, clk, log := arm(t, "f", 1, fault.Plan{At: second, For: second})
	called := fault.EventDetails{Actor: "client", Object: history.Object{Resource: "pods"}, Detail: map[string]any{"call": "get pods"}}
	if a.Active(clk.Now()) || a.Expired(clk.Now()) {
		t.Error("it is active or over before its time")
	}
	clk.Step(time.Second)
	if !a.Active(clk.Now()) || !a.Fire() {
		t.Error("it does not act in its time")
	}
	a.Matched(clk.Now(), called)
	a.Ineffective(clk.Now(), called)
	if first, second := a.Effective(clk.Now(), called), a.Effective(clk.Now(), called); !first || second {
		t.Error("its first difference is not the first, or another is")
	}
	clk.Step(time.Second)
	if a.Active(clk.Now()) || !a.Expired(clk.Now()) {
		t.Error("it is active after its time")
	}
	if first, second := a.Clear(clk.Now(), fault.EventDetails{}), a.Clear(clk.Now(), fault.EventDetails{}); !first || second {
		t.Error("it is cleared other than once")
	}
	var verbs []string
	for _, r := range log.Events() {
		verbs = append(verbs, r.Verb)
		if r.Source != history.Fault || r.Detail["fault"] != "f" || r.Detail["effect"] != "breaks" {
			t.Errorf("event %+v", r)
		}
	}
	if got := strings.Join(verbs, " "); got != "armed matched ineffective effective effective cleared" {
		t.Errorf("the history says %s", got)
	}
	if len(called.Detail) != 1 {
		t.Error("the caller's detail was written to")
	}
}

// A fault that waits for something is not active, and its time counts from that.
func TestWait(t *testing.T) {
	a, clk, _ := arm(t, "f", 1, fault.Plan{At: second})
	a.Wait()
	if clk.Step(time.Hour); a.Active(clk.Now()) || a.Expired(clk.Now()) {
		t.Error("it is active or over before it starts")
	}
	a.Start(clk.Now())
	if clk.Step(time.Second); !a.Active(clk.Now()) {
		t.Error("it is not active after it starts")
	}
}

func TestWhen(t *testing.T) {
	clk := testclock.NewFakeClock(time.Unix(100, 0))
	log := history.New(clk.Now(), clk)
	before := history.Event{Source: history.Node, Verb: "ready", Object: history.Object{Resource: "nodes", Name: "a"}}
	log.Record(before)
	plan := fault.Plan{}
	if err := strict.Unmarshal([]byte("when: {source: node, verb: ready}\nat: 5s"), &plan); err != nil {
		t.Fatal(err)
	}
	waiting := fault.AwaitIn(log)
	l := fault.Recorder{History: log}.Arm("f", "breaks", plan, clk.Now(), fault.EventDetails{})
	if !l.Begins().IsZero() {
		t.Error("it begins before its event")
	}
	clk.Step(time.Minute)
	log.Record(before)
	at, err := waiting.Event(t.Context(), l.Plan)
	if err != nil || !at.Equal(clk.Now()) {
		t.Fatalf("got %v, %v, want the second of two events", at, err)
	}
	if l.Start(at); l.Begins() != clk.Now().Add(5*time.Second) {
		t.Errorf("it begins at %v", l.Begins())
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := fault.AwaitIn(log).Event(t.Context(), l.Plan); err == nil {
		t.Error("an event came after the end")
	}
}

func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		"at: -1s":              "field at is -1s: want zero or more",
		"for: -1s":             "field for is -1s",
		"for: soon":            `"soon", want a duration such as "90s"`,
		"for: 10":              "want a duration",
		"skip: -1":             "field skip is -1",
		"limit: -1":            "field limit is -1",
		"probability: 2":       "field probability is 2: want 0 to 1",
		"when: {verb: ready}":  "field when: source is missing",
		"limits: 1":            "allowed: when, at, for, skip, limit, probability",
		"when: {source: moon}": `unknown source "moon"`,
	} {
		plan := fault.Plan{}
		err := strict.Unmarshal([]byte(text), &plan)
		if err == nil {
			err = plan.Check()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	if !(fault.Plan{Probability: 1}).Always() || (fault.Plan{When: &checker.Pattern{}}).Always() || (fault.Plan{Skip: 1}).Always() {
		t.Error("Always is wrong")
	}
}

func TestSet(t *testing.T) {
	var s fault.Set[*armed]
	for _, name := range []string{"f", "g"} {
		a, clk, _ := arm(t, name, 1, fault.Plan{})
		if a.own = "own " + name; s.Free(name) != nil {
			t.Errorf("%s is taken", name)
		}
		if s.Add(a); name == "f" {
			a.Effective(clk.Now(), fault.EventDetails{})
		}
	}
	if err := s.Free("f"); err == nil || err.Error() != `fault "f" is there already: want unique names` {
		t.Errorf("got %v", err)
	}
	if g, err := s.Named("g"); err != nil || g.own != "own g" {
		t.Errorf("got %+v, %v", g, err)
	}
	if _, err := s.Named("h"); err == nil || err.Error() != `there is no fault "h"` {
		t.Errorf("got %v", err)
	}
	if got := s.Unmet(); !slices.Equal(got, []string{"g"}) {
		t.Errorf("unmet are %v", got)
	}
}
