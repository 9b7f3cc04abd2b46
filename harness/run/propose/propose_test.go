package propose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/harness/run/verdict"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/strict"

	"sigs.k8s.io/yaml"
)

type detail = history.Detail

// at is an event so many seconds after the start.
func at(seconds float64, source history.Source, actor, verb, resource, name string, code int, d detail) history.Entry {
	return history.Entry{Virtual: time.Duration(seconds * float64(time.Second)), Event: history.Event{
		Source: source, Actor: actor, Verb: verb, Object: history.Object{Resource: resource, Name: name}, Code: code, Detail: d,
	}}
}

func call(seconds float64, actor, verb, resource, name string, d detail) history.Entry {
	return at(seconds, history.API, actor, verb, resource, name, 200, d)
}

// stored is a run of events, which has a step about the pod "web" at its beginning and an end.
func stored(id string, v verdict.Verdict, events ...history.Entry) *Run {
	events = slices.Concat([]history.Entry{
		at(0, history.Step, "godog", "passed", "", "", 0, detail{"kind": "Action", "text": `a pod "web" that requests 1 CPU is created`}),
	}, events, []history.Entry{at(10000, history.Harness, "nodestorm", history.Ended, "", "", 0, nil)})
	for i := range events {
		events[i].Seq = uint64(i + 1)
	}
	r := &Run{Name: "runs/" + id + "/" + string(v), ID: id, Target: "karpenter@v1", Verdict: v, events: events}
	r.searchable = checker.Prepare(events)
	return r
}

// made is what is proposed for lines of a run, as YAML, and the proposal.
func made(t *testing.T, own *Run, lines []uint64, others ...*Run) (string, *Proposal) {
	t.Helper()
	d, err := New(own, lines, []string{"kin"}, func(text string) bool { return strings.Contains(text, "s3cret") })
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range others {
		d.CompareWith(other)
	}
	p, err := d.Propose()
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.YAML()
	if err != nil {
		t.Fatal(err)
	}
	var record struct {
		Symptom checker.Statement `json:"symptom"`
	}
	in, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := strict.Unmarshal(in, &record); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if err := record.Symptom.CheckSymptom(); err != nil {
		t.Errorf("%v in\n%s", err, text)
	}
	// What is written is what was tried.
	if found := own.Find(record.Symptom); found.Result != checker.Valid || !slices.Equal(found.Evidence, p.Runs[0].Lines) {
		t.Errorf("what is written is %v, and held at %v", found, p.Runs[0].Lines)
	}
	return text, p
}

// forced is a run in which a NodeClaim is deleted, and with it a pod.
func forced(v verdict.Verdict, claim string, grace float64) *Run {
	return stored("mine", v,
		call(10, "karpenter", "create", "nodeclaims", claim, detail{"nodePool": "default"}),
		call(11, "karpenter", "create", "nodes", "node-of-"+claim, detail{"providerID": "kwok://" + claim, "cpu": 4000.}),
		call(20, "kubectl", "delete", "nodeclaims", claim, nil),
		call(20.1, "karpenter", "delete", "nodes", "node-of-"+claim, nil),
		call(20.2, "karpenter", "delete", "pods", "web", detail{"gracePeriodSeconds": grace, "agent": "karpenter/v1.7.0"}))
}

func TestDetailThatIsNeeded(t *testing.T) {
	text, p := made(t, forced(verdict.Reproduced, "default-7xk2p", 0), []uint64{2, 4, 6}, forced(verdict.Healthy, "default-abcde", 30),
		stored("other", verdict.Reproduced, call(1, "karpenter", "create", "nodeclaims", "x", nil)))
	want := `symptom:
  statement: Karpenter creates the NodeClaim, then kubectl deletes the NodeClaim, then karpenter deletes the Pod web
  sequence:
    - as: NodeClaim created
      match: {source: api, verb: create, resource: nodeclaims, actor: karpenter}
      capture: {claim: name}
    - as: NodeClaim deleted
      match: {source: api, verb: delete, resource: nodeclaims, name: $claim, actor: kubectl}
      within: 20s
    - as: Pod deleted
      match: {source: api, verb: delete, resource: pods, name: web, actor: karpenter, detail: {gracePeriodSeconds: 0}}
      within: 5s
`
	if text != want {
		t.Errorf("got:\n%s", text)
	}
	if len(p.Wrong) > 0 || p.Unfixed != "" || len(p.Runs) != 3 || p.Runs[1].Holds != "no" ||
		!slices.Equal(p.Runs[0].Lines, []uint64{2, 4, 6}) {
		t.Errorf("it holds as %+v", p)
	}
}

// Without a run that lacks the failure all details are needless.
func TestDetailThatIsNeedless(t *testing.T) {
	text, p := made(t, forced(verdict.Failed, "default-7xk2p", 0), []uint64{4, 6})
	if strings.Contains(text, "gracePeriodSeconds") || !strings.Contains(p.Unfixed, "no run of mine") {
		t.Errorf("%q, got:\n%s", p.Unfixed, text)
	}
}

// A detail of the one run that another one with the failure does not have is none of the failure.
func TestDetailOfOneRunOnly(t *testing.T) {
	text, p := made(t, forced(verdict.Reproduced, "default-7xk2p", -1), []uint64{4, 6}, forced(verdict.Reproduced, "default-bcdfg", 0),
		forced(verdict.Healthy, "default-abcde", 30))
	if strings.Contains(text, "gracePeriodSeconds") {
		t.Errorf("got:\n%s", text)
	}
	if len(p.Wrong) != 1 || !strings.Contains(p.Wrong[0], "runs/mine/healthy (healthy) as well, at the lines 4,6: choose a line more") {
		t.Errorf("wrong: %q", p.Wrong)
	}
}

// launched is a run with a second NodeClaim, which comes after the node of the first was Ready, or in its place.
func launched(v verdict.Verdict, ready bool) *Run {
	events := []history.Entry{
		call(10, "karpenter", "create", "nodeclaims", "default-7xk2p", nil),
		at(40, history.Node, "sim-node", "register", "nodes", "default-7xk2p", 0, nil),
		call(60, "karpenter", "create", "nodeclaims", "default-bcdfg", nil),
	}
	if ready {
		events = slices.Insert(events, 2, at(50, history.Node, "sim-node", "ready", "nodes", "default-7xk2p", 0, nil))
	}
	return stored("mine", v, events...)
}

func TestWhatDoesNotHappen(t *testing.T) {
	text, p := made(t, launched(verdict.Reproduced, false), []uint64{2, 3, 4}, launched(verdict.Healthy, true))
	if !strings.Contains(text, "absent:\n        - {source: node, verb: ready, resource: nodes, name: $claim}\n") || len(p.Wrong) > 0 {
		t.Errorf("%q, got:\n%s", p.Wrong, text)
	}
}

// late is a run in which a NodeClaim comes so many seconds after a pod.
func late(v verdict.Verdict, seconds float64) *Run {
	return stored("mine", v, call(10, "nodestorm", "create", "pods", "web", nil),
		call(10+seconds, "karpenter", "create", "nodeclaims", "default-7xk2p", nil))
}

func TestPause(t *testing.T) {
	text, p := made(t, late(verdict.Reproduced, 180), []uint64{2, 3}, late(verdict.Healthy, 1))
	want := `    - absent:
        - {source: api, verb: create, resource: nodeclaims, actor: karpenter}
      for: 2m
    - as: NodeClaim created
      match: {source: api, verb: create, resource: nodeclaims, actor: karpenter}
      within: 2m
`
	if !strings.HasSuffix(text, want) || len(p.Wrong) > 0 {
		t.Errorf("%q, got:\n%s", p.Wrong, text)
	}
	// The other way about a span does.
	text, p = made(t, late(verdict.Reproduced, 1), []uint64{2, 3}, late(verdict.Healthy, 180))
	if !strings.HasSuffix(text, "      within: 5s\n") || strings.Contains(text, "absent") || len(p.Wrong) > 0 {
		t.Errorf("%q, got:\n%s", p.Wrong, text)
	}
}

func TestCountAndRefusal(t *testing.T) {
	claim := func(seconds float64, name string) history.Entry {
		return call(seconds, "karpenter", "create", "nodeclaims", name, nil)
	}
	refused := at(13, history.API, "karpenter", "create", "pods", "web", 429, detail{"subresource": "eviction", "error": "not now, s3cret"})
	text, _ := made(t, stored("mine", verdict.Reproduced, claim(10, "a-1"), claim(11, "a-2"), claim(12, "a-3"), refused), []uint64{2, 3, 4, 5})
	for _, want := range []string{"count: 3\n", "code: 429, detail: {subresource: eviction}}", "Karpenter creates 3 of nodeclaims, then karpenter may not evict"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "s3cret") {
		t.Errorf("what is hidden is in\n%s", text)
	}
}

func TestOtherEventsThanTheChosen(t *testing.T) {
	claim := func(seconds float64, name string) history.Entry {
		return call(seconds, "karpenter", "create", "nodeclaims", name, nil)
	}
	_, p := made(t, stored("mine", verdict.Reproduced, call(1, "kubectl", "delete", "pods", "web", nil), claim(2, "a-1"), claim(3, "a-2")), []uint64{2, 4})
	if len(p.Wrong) != 1 || !strings.Contains(p.Wrong[0], "it holds at the lines 2,3 already, and not at 2,4") {
		t.Errorf("wrong: %q", p.Wrong)
	}
}

func TestWant(t *testing.T) {
	d := &Draft{own: &Run{ID: "mine", Verdict: verdict.Reproduced}, kin: []string{"kin"}}
	for _, test := range []struct {
		id   string
		v    verdict.Verdict
		want Want
	}{
		{"mine", verdict.Reproduced, Holds}, {"mine", verdict.Healthy, Absent}, {"mine", verdict.Failed, Either},
		{"kin", verdict.Reproduced, Either}, {"kin", verdict.Healthy, Absent}, {"other", verdict.Reproduced, Absent},
	} {
		if got := d.want(&Run{ID: test.id, Verdict: test.v}); got != test.want {
			t.Errorf("%s of %s: %s, want %s", test.v, test.id, got, test.want)
		}
	}
}

func TestWrongLines(t *testing.T) {
	run := stored("mine", verdict.Reproduced, call(2, "karpenter", "create", "nodeclaims", "a", nil), call(1, "karpenter", "delete", "nodes", "a", nil),
		at(3, history.Clock, "", history.Pace, "", "", 0, nil), at(4, history.Fault, "karpenter", history.Effective, "nodes", "a", 0, nil))
	history.Sort(run.events)
	for _, test := range []struct {
		lines []uint64
		want  string
	}{
		{[]uint64{2}, "--lines 2: one event says only that it occurred; name two or more"},
		{[]uint64{2, 99}, "runs/mine/reproduced has no line 99, its lines are 1 to 6; nodestorm report -o text prints them"},
		{[]uint64{2, 2}, "--lines 2,2: 2 is there twice"},
		{[]uint64{2, 3}, "line 2 is of a later time than one after it; name them in the order of time: --lines 3,2"},
		{[]uint64{1, 2}, "line 1 is the outcome of a step, which is in each run of the scenario; choose lines of the sources api, cloud, node and log"},
		{[]uint64{2, 4}, "line 4 is a figure of the clock"},
		{[]uint64{2, 6}, "line 6 is what nodestorm notes of the run"},
		{[]uint64{2, 5}, "the last, line 5, is of a fault, which the scenario makes itself; end with an event that shows the failure"},
	} {
		if _, err := New(run, test.lines, nil, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v, want %q", test.lines, err, test.want)
		}
	}
}

func TestFragment(t *testing.T) {
	n := names{made: map[string]bool{"pool1": true}, others: map[string]bool{"default-bcdfg": true}}
	for text, want := range map[string]string{
		"0/3 nodes are available: 3 node(s) had untolerated taint(s).": "node(s) had untolerated taint(s)",
		"group pool1 is full":                "group pool1 is full",
		"claim default-bcdfg is gone now":    "is gone now",
		"at 10.0.0.1:443 of 12ab":            "",
		`the node "a" is ready, or is it so`: "is ready, or is it so",
	} {
		if got := n.fragment(text); got != want {
			t.Errorf("%q of %q, want %q", got, text, want)
		}
	}
}
