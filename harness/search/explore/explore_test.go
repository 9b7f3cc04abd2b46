package explore

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/search/schedule"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/strict"
)

func settings() Settings {
	return Settings{Target: "karpenter@v1.14.1", Site: "karpenter/instances", Profile: "small", Seed: 7}
}

// An exploration draws the same again, goes on where it was, keeps what it has covered, and
// has a folder to itself.
func TestGoesOn(t *testing.T) {
	dir := t.TempDir()
	e, err := Open(dir, settings())
	if err != nil {
		t.Fatal(err)
	}
	first, feature, err := e.Next()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(feature)
	if err != nil || !strings.Contains(string(text), "every pod is Running") {
		t.Fatalf("%v: %s", err, text)
	}
	first.Verdict = verdict.Healthy
	if first, err = e.Learn(first, []string{"call a", "call b"}); err != nil || !slices.Equal(first.New, []string{"call a", "call b"}) {
		t.Errorf("%v, new is %v", err, first.New)
	}
	if _, err := Open(dir, settings()); err == nil || !strings.Contains(err.Error(), "another exploration goes on there") {
		t.Errorf("two at once: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}

	other := settings()
	other.Profile = "churn"
	if _, err := Open(dir, other); err == nil || !strings.Contains(err.Error(), "has another exploration") {
		t.Errorf("with another profile: %v", err)
	}

	// Killed in the middle of a line.
	log := filepath.Join(dir, playsFile)
	whole, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, append(slices.Clone(whole), `{"n":2,"ver`...), 0o644); err != nil {
		t.Fatal(err)
	}
	e, err = Open(dir, settings())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	second, _, err := e.Next()
	if err != nil || second.N != 2 {
		t.Fatalf("it goes on with %d: %v", second.N, err)
	}
	second.Verdict, second.Keys, second.Known = verdict.Failed, []string{"no-crash", "bounds"}, map[string]string{"bounds": "a-record"}
	if second, err = e.Learn(second, []string{"call b", "call c"}); err != nil || !slices.Equal(second.New, []string{"call c"}) {
		t.Errorf("%v, new is %v", err, second.New)
	}
	if got := second.Suspects(); !slices.Equal(got, []string{"no-crash"}) {
		t.Errorf("suspects are %v", got)
	}
	third, _, err := e.Next()
	if err != nil {
		t.Fatal(err)
	}
	third.Verdict = verdict.Inconclusive
	if third, err = e.Learn(third, []string{"call d"}); err != nil || len(third.New) > 0 {
		t.Errorf("of a run that shows nothing, %v is new: %v", third.New, err)
	}
	s := e.Summary()
	if s.Plays != 3 || s.Inconclusive != 1 || s.Covered != 3 || len(s.Found) != 2 || s.Found[0] != (Found{Key: "no-crash", First: 2, Plays: 1, Shown: 1, Decided: 1}) || s.Found[1].Known != "a-record" {
		t.Errorf("%+v", s)
	}

	// The same seed draws the same.
	again, err := Open(t.TempDir(), settings())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, _, err := again.Next(); err != nil {
		t.Fatal(err)
	}
	one, _ := e.Schedule(1)
	same, err := again.Schedule(1)
	if err != nil || string(one.YAML()) != string(same.YAML()) {
		t.Errorf("the seed draws another schedule in another folder: %v", err)
	}
}

// A target that dies at once is not looked at again before another schedule has shown whether it
// ever lives, and after three that it died in nothing is to be learned of it.
func TestDiesAtOnce(t *testing.T) {
	for livesIn, futile := range map[int]bool{0: true, 2: false} {
		s := settings()
		s.Again = 2
		e, err := Open(t.TempDir(), s)
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= 3; n++ {
			if e.Futile() {
				t.Errorf("nothing is to be learned after %d schedules", n-1)
			}
			p, _, err := e.Next()
			if err != nil {
				t.Fatal(err)
			}
			if again := futile || n < 3; again == (p.Again != 0) {
				t.Errorf("it lives in %d: the play %d is another one of %d", livesIn, n, p.Again)
			}
			p.Verdict, p.Keys, p.DiedAtOnce = verdict.Failed, []string{"no-crash"}, n != livesIn
			if _, err := e.Learn(p, nil); err != nil {
				t.Fatal(err)
			}
		}
		if e.Futile() != futile {
			t.Errorf("it lives in %d, and it is %v that nothing is to be learned", livesIn, e.Futile())
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// It dies at once before the steady state, although nothing was done to it.
func TestDeaths(t *testing.T) {
	died := history.Death("karpenter", errors.New("it cannot start"))
	steady := history.Outcome{Role: history.Then, Text: "every pod is Running within 20m", Status: "passed"}.Event()
	demand := history.Outcome{Role: history.When, Text: "these objects are created:", Status: "passed"}.Event()
	for _, test := range []struct {
		name   string
		events []history.Event
		want   bool
	}{
		{"of its flags", []history.Event{died}, true},
		{"of the first demand", []history.Event{demand, died}, true},
		{"later", []history.Event{demand, steady, died}, false},
		{"of a fault", []history.Event{{Source: history.Fault, Verb: history.Armed}, died}, false},
		{"killed by us", []history.Event{{Source: history.Harness, Verb: history.Killed, Actor: "karpenter"}, died}, false},
		{"another program", []history.Event{history.Death("etcd", errors.New("gone"))}, false},
	} {
		if got := DiedAtOnce(records(test.events...), "karpenter"); got != test.want {
			t.Errorf("%s: it died at once: %v", test.name, got)
		}
	}
	if full := DiskFull(records(history.Death(history.Disk, errors.New("no room")))); full != "no room" {
		t.Errorf("the disk says %q", full)
	}
	if full := DiskFull(records(died)); full != "" {
		t.Errorf("the disk says %q when the target dies", full)
	}
}

// Schedules are drawn from one that has covered something new, and from none that broke something.
func TestFertile(t *testing.T) {
	for broken, want := range map[string]bool{"": true, "no-crash": false} {
		e, err := Open(t.TempDir(), settings())
		if err != nil {
			t.Fatal(err)
		}
		first, _, err := e.Next()
		if err != nil {
			t.Fatal(err)
		}
		first.Verdict, first.Known = verdict.Healthy, map[string]string{broken: "a-record"}
		if broken != "" {
			first.Verdict, first.Keys = verdict.Failed, []string{broken}
		}
		if _, err := e.Learn(first, []string{"call a"}); err != nil {
			t.Fatal(err)
		}
		drawn := false
		for range 20 {
			p, _, err := e.Next()
			if err != nil {
				t.Fatal(err)
			}
			drawn = drawn || p.Parent == first.N
		}
		if drawn != want {
			t.Errorf("that broke %q: schedules are drawn from it: %t, want %t", broken, drawn, want)
		}
		_ = e.Close()
	}
}

// What shows a suspect first is played again as often as asked, also by who goes on after the
// middle, and how often it shows is reported. What is documented, or was seen before, is not.
func TestAgain(t *testing.T) {
	dir := t.TempDir()
	with := settings()
	with.Again = 3
	e, err := Open(dir, with)
	if err != nil {
		t.Fatal(err)
	}
	play := func(says verdict.Verdict, keys ...string) Play {
		t.Helper()
		p, _, err := e.Next()
		if err != nil {
			t.Fatal(err)
		}
		p.Verdict, p.Keys, p.Known = says, keys, map[string]string{"bounds": "a-record"}
		if p, err = e.Learn(p, nil); err != nil {
			t.Fatal(err)
		}
		return p
	}
	play(verdict.Failed, "bounds")
	play(verdict.Failed, "no-leak")
	if p := play(verdict.Healthy); p.Again != 2 {
		t.Errorf("after a suspect came the play %+v", p)
	}
	one, two := must(e.Schedule(2)), must(e.Schedule(3))
	if !bytes.Equal(one.YAML(), two.YAML()) {
		t.Error("again it is another schedule")
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if e, err = Open(dir, with); err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if p := play(verdict.Failed, "no-leak"); p.Again != 2 {
		t.Errorf("who goes on plays %+v", p)
	}
	if p := play(verdict.Inconclusive); p.Again != 2 {
		t.Errorf("the third is %+v", p)
	}
	for _, keys := range [][]string{{"no-leak"}, nil} {
		if p := play(verdict.Failed, keys...); p.Again != 0 {
			t.Errorf("three are more: %+v", p)
		}
	}
	for _, f := range e.Summary().Found {
		want := Found{Key: "no-leak", First: 2, Plays: 2, Shown: 2, Decided: 3}
		if f.Key == "no-leak" && (f != want || !f.Unstable()) {
			t.Errorf("%+v", f)
		}
	}
}

func must(s schedule.Schedule, err error) schedule.Schedule {
	if err != nil {
		panic(err)
	}
	return s
}

func records(events ...history.Event) (all []history.Entry) {
	for i, e := range events {
		all = append(all, history.Entry{Seq: uint64(i + 1), Virtual: 1e9, Event: e})
	}
	return append(all, history.Entry{Seq: uint64(len(events) + 1), Virtual: 2e9, Event: history.Event{Source: history.Harness, Verb: history.Ended}})
}

func cloud(verb, name, group string) history.Event {
	return history.Event{Source: history.Cloud, Verb: verb, Object: history.Object{Resource: "instances", Name: name}, Detail: map[string]any{"group": group}}
}

// What only a repetition shows is found as well, and played again.
func TestFoundInARepetition(t *testing.T) {
	with := settings()
	with.Again = 2
	e, err := Open(t.TempDir(), with)
	if err != nil {
		t.Fatal(err)
	}
	play := func(keys ...string) Play {
		p, _, err := e.Next()
		if err != nil {
			t.Fatal(err)
		}
		if p.Verdict, p.Keys = verdict.Healthy, keys; len(keys) > 0 {
			p.Verdict = verdict.Failed
		}
		if p, err = e.Learn(p, nil); err != nil {
			t.Fatal(err)
		}
		return p
	}
	play("no-leak")
	second := play("no-overshoot")
	play("no-leak")
	third := play("no-overshoot")
	if second.Again != 1 || third.Again != second.N {
		t.Errorf("they repeat %d and %d", second.Again, third.Again)
	}
	found := e.Summary().Found
	if len(found) != 2 || found[1].Key != "no-overshoot" || found[1].First != second.N || found[1].Shown != 2 || found[0].Shown != 2 || found[0].Plays != 1 {
		t.Errorf("found are %+v", found)
	}
}

// The symptom of a record is found where its objects are called something else, and not where
// what has one name there has two.
func TestAnyNames(t *testing.T) {
	var symptom checker.Statement
	if err := strict.Unmarshal([]byte(`
statement: one of a group is created, deleted, and another one comes
sequence:
  - match: {source: cloud, verb: created, resource: instances, name: web, detail: {group: best}}
  - match: {source: cloud, verb: deleted, resource: instances, name: web}
    absent: [{source: cloud, verb: running, resource: instances, name: web}]
  - match: {source: cloud, verb: created, resource: instances, detail: {group: best}}
`), &symptom); err != nil {
		t.Fatal(err)
	}
	any, can := anyNames(symptom)
	if !can {
		t.Fatal("it has no other names")
	}
	for _, test := range []struct {
		what    string
		records []history.Entry
		want    checker.Result
	}{
		{"other names", records(cloud("created", "x", "alpha"), cloud("deleted", "x", "alpha"), cloud("created", "y", "alpha")), checker.Valid},
		{"another instance is deleted", records(cloud("created", "x", "alpha"), cloud("deleted", "z", "alpha"), cloud("created", "y", "alpha")), checker.Invalid},
		{"another group's", records(cloud("created", "x", "alpha"), cloud("deleted", "x", "alpha"), cloud("created", "y", "beta")), checker.Invalid},
		{"it ran", records(cloud("created", "x", "alpha"), cloud("running", "x", "alpha"), cloud("deleted", "x", "alpha"), cloud("created", "y", "alpha")), checker.Invalid},
		{"another one ran", records(cloud("created", "x", "alpha"), cloud("running", "z", "alpha"), cloud("deleted", "x", "alpha"), cloud("created", "y", "alpha")), checker.Valid},
	} {
		if got := checker.Find(test.records, any); got.Result != test.want {
			t.Errorf("%s: %s (%s)", test.what, got.Result, got.Reason)
		}
	}
	if found := checker.Find(records(cloud("created", "x", "alpha"), cloud("deleted", "x", "alpha"), cloud("created", "y", "alpha")), symptom); found.Result == checker.Valid {
		t.Error("the symptom itself has changed")
	}
	// What is another one there is another one elsewhere.
	if err := strict.Unmarshal([]byte(`
statement: one is interrupted, another one is deleted
sequence:
  - match: {source: cloud, verb: interrupted, resource: instances}
    capture: {victim: name}
  - match: {source: cloud, verb: deleted, resource: instances, name: {not: [$victim, web]}}
`), &symptom); err != nil {
		t.Fatal(err)
	}
	if any, can = anyNames(symptom); !can {
		t.Fatal("it has no other names")
	}
	for name, want := range map[string]checker.Result{"x": checker.Invalid, "y": checker.Valid, "web": checker.Valid} {
		if got := checker.Find(records(cloud("interrupted", "x", "alpha"), cloud("deleted", name, "alpha")), any); got.Result != want {
			t.Errorf("x is interrupted and %s deleted: %s (%s)", name, got.Result, got.Reason)
		}
	}
	if _, can := anyNames(checker.Statement{Never: &checker.Pattern{}}); can {
		t.Error("what is no sequence has other names")
	}
}

func TestCoverage(t *testing.T) {
	pod := history.Object{Resource: "pods", Namespace: "default", Name: "web"}
	all := records(
		history.Event{Source: history.API, Verb: "create", Actor: "someone", Object: pod, Code: 201},
		history.Event{Source: history.API, Verb: "create", Actor: "karpenter", Object: history.Object{Resource: "nodeclaims", Name: "a"}, Code: 201},
		history.Event{Source: history.Fault, Verb: history.Effective, Object: history.Object{Resource: "instances"}, Detail: map[string]any{"effect": "refuse"}},
		history.Event{Source: history.Node, Verb: "ready", Object: history.Object{Resource: "nodes", Name: "a"}},
		history.Event{Source: history.Node, Verb: "running", Object: pod},
		history.Event{Source: history.Fault, Verb: history.Effective, Object: history.Object{Resource: "instances"}, Detail: map[string]any{"effect": "refuse"}},
	)
	want := []string{"call create nodeclaims/ 201", "fault refuse of instances while ", "fault refuse of instances while pods wait and machines boot"}
	if got := Coverage(all, "karpenter"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	lines, err := LogCoverage(strings.NewReader(`I1123 13:15:15.836414   27042 main.go:250] Cluster Autoscaler 1.36.1
I1123 13:15:16.1   27042 main.go:250] again
{"level":"INFO","message":"created nodeclaim","NodePool":{"name":"a"}}
{"level":"ERROR","message":"Reconciler error","error":"launching nodeclaim default-x7f2c, refused (429)"}
not a line of a log
` + strings.Repeat("x", 3*longestLine) + "\nE1123 13:15:16.1   27042 last.go:1] end"))
	want = []string{"error launching nodeclaim _, refused _", "log ERROR Reconciler error", "log INFO created nodeclaim", "log last.go:1", "log main.go:250"}
	if err != nil || !slices.Equal(lines, want) {
		t.Errorf("%v: %q, want %q", err, lines, want)
	}
}

// A documented failure is known in a run of another scenario by how its record says it looks
// there, on releases that have it, where it breaks what the record says.
func TestKnown(t *testing.T) {
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	refused := history.Event{Source: history.Cloud, Verb: "POST /servers", Actor: "cluster-autoscaler", Code: 412, Object: history.Object{Resource: "servers"}, Detail: map[string]any{"group": "gamma"}}
	event := func(reason, message string) history.Event {
		return history.Event{Source: history.API, Verb: "create", Actor: "cluster-autoscaler", Code: 201, Object: history.Object{Resource: "events"}, Detail: map[string]any{"reason": reason, "message": message}}
	}
	scaled := event("ScaledUpGroup", "Scale-up: group gamma size set to 1 instead of 0 (max: 3)")
	another := refused
	another.Code = 429
	api := func(verb, resource, name, actor string, detail map[string]any) history.Event {
		return history.Event{Source: history.API, Verb: verb, Actor: actor, Code: 201, Object: history.Object{Resource: resource, Name: name}, Detail: detail}
	}
	launched := records(api("create", "pods", "app-1", "rs", nil), api("create", "nodeclaims", "beta-a", "karpenter", nil), api("patch", "nodeclaims", "beta-a", "karpenter", map[string]any{"providerID": "kwok://a"}),
		api("patch", "nodes", "a", "node-controller", map[string]any{"providerID": "kwok://a", "taints": []string{"node.kubernetes.io/not-ready:NoExecute"}}), api("create", "nodeclaims", "beta-b", "karpenter", nil))
	for _, test := range []struct {
		what    string
		records []history.Entry
		on, key string
		want    string
	}{
		{"as documented, in another group", records(refused, scaled), "cluster-autoscaler@1.30.1", "back-off", "hetzner-6750-resource-unavailable"},
		{"another group is scaled up", records(refused, event("ScaledUpGroup", "Scale-up: group alpha size set to 1 instead of 0 (max: 3)")), "cluster-autoscaler@1.30.1", "back-off", ""},
		{"it is about to be", records(refused, event("ScaledUpGroup", "Scale-up: setting group gamma size to 1 instead of 0 (max: 3)")), "cluster-autoscaler@1.30.1", "back-off", ""},
		{"on a release that has it not", records(refused, scaled), "cluster-autoscaler@1.33.0", "back-off", ""},
		{"something else is broken", records(refused, scaled), "cluster-autoscaler@1.30.1", "no-leak", ""},
		{"another refusal", records(another, scaled), "cluster-autoscaler@1.30.1", "back-off", ""},
		{"it says that it has failed", records(refused, event("FailedToScaleUpGroup", "Scale-up failed for group gamma: refused")), "cluster-autoscaler@1.30.1", "back-off", ""},
		{"one of its own system, which has a twin in another", launched, "karpenter@v1.6.4", "startup-discipline", "karpenter-7515-not-ready-noexecute"},
	} {
		site := map[bool]string{true: "karpenter/kwok", false: "cluster-autoscaler/hetzner"}[strings.HasPrefix(test.on, "karpenter")]
		if got := Known(catalogue, test.records, site, test.on, test.key); got != test.want {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
	}
}

// What is found again is named, whatever its objects are called.
func TestEveryFailureCanBeNamed(t *testing.T) {
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range catalogue.Records() {
		if _, can := anyNames(r.Symptom); !can && r.Elsewhere == nil {
			t.Errorf("%s: its symptom can't be looked for under other names: say what it looks like elsewhere", r.ID)
		}
	}
}

// What was broken in a step is of that step, and not of those that came after.
func TestStepsBefore(t *testing.T) {
	step := history.Event{Source: history.Step, Verb: "passed"}
	other := history.Event{Source: history.API, Verb: "create"}
	var records []history.Entry
	for i, e := range []history.Event{other, step, other, step, other, step, other} {
		records = append(records, history.Entry{Seq: uint64(i + 1), Event: e})
	}
	for _, test := range []struct {
		evidence []uint64
		want     int
	}{{nil, 3}, {[]uint64{1}, 0}, {[]uint64{5, 3}, 2}, {[]uint64{2}, 1}, {[]uint64{7}, 3}} {
		if got := StepsBefore(records, test.evidence); got != test.want {
			t.Errorf("before %v there were %d steps, want %d", test.evidence, got, test.want)
		}
	}
}
