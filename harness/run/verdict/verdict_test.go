package verdict_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/harness/run/verdict"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/history/invariants"
	"nodestorm/sim/strict"
)

func step(kind history.Role, status string) history.Outcome {
	return history.Outcome{Role: kind, Text: "text of the step", Status: status}
}

var (
	passed  = []history.Outcome{step(history.Given, "passed"), step(history.When, "passed"), step(history.Then, "passed"), step(history.Then, "passed")}
	failed  = []history.Outcome{step(history.Given, "passed"), step(history.When, "passed"), {Role: history.Then, Text: "no more than 1", Status: "failed", Error: "2 were created\nstack"}, step(history.Then, "skipped")}
	present = checker.Finding{Result: checker.Valid, Statement: "a second one", Evidence: []uint64{3, 9}}
	absent  = checker.Finding{Result: checker.Invalid, Statement: "a second one", Reason: "never matched"}
	crash   = verdict.Death{Seq: 12, Text: "karpenter ended (exit status 2): panic: no"}
	tested  = checker.Finding{Result: checker.Valid, Statement: "the taint is there"}
	untest  = checker.Finding{Result: checker.Invalid, Statement: "the taint is there", Reason: "never matched"}
	broken  = checker.Finding{Result: checker.Invalid, Statement: "one at most", Reason: "2 times", Evidence: []uint64{3, 9}}
	breaks  = []string{"one at most"}
	always  = []invariants.Broken{{Name: "no-leak", Finding: checker.Finding{Result: checker.Invalid, Statement: "nothing stays", Reason: "one does", Evidence: []uint64{5}}}}
	unknown = checker.Finding{Result: checker.Unknown, Statement: "a second one", Reason: "no event from api"}
)

func TestJudge(t *testing.T) {
	tests := []struct {
		name   string
		in     verdict.Input
		want   verdict.Verdict
		reason string
	}{
		{"healthy", verdict.Input{Steps: passed, Symptom: absent}, verdict.Healthy, "every step passed"},
		{"reproduced", verdict.Input{Steps: failed, Symptom: present}, verdict.Reproduced, "failed: Then no more than 1 (2 were created … stack); the symptom is in the history: a second one"},
		{"other failure", verdict.Input{Steps: failed, Symptom: absent}, verdict.Failed, "failed: Then no more than 1 (2 were created … stack); not as documented, the symptom is not in the history: never matched"},
		{"target died", verdict.Input{Steps: failed, Symptom: present, TargetDeath: crash}, verdict.Failed, "the target died: karpenter ended (exit status 2): panic: no"},
		{"target died at its start", verdict.Input{Steps: []history.Outcome{step(history.Given, "failed"), step(history.Then, "skipped")}, Symptom: unknown, TargetDeath: crash, FaultsUnmet: []string{"f"}}, verdict.Failed, "the target died"},
		{"target died as documented", verdict.Input{Steps: failed, Symptom: checker.Finding{Result: checker.Valid, Statement: "it crashes", Evidence: []uint64{3, 9, 12}}, TargetDeath: crash}, verdict.Reproduced, "the symptom is in the history: it crashes"},
		{"target died at its start as documented", verdict.Input{Steps: []history.Outcome{step(history.Given, "failed"), step(history.Then, "skipped")}, Symptom: checker.Finding{Result: checker.Valid, Statement: "it crashes", Evidence: []uint64{12}}, TargetDeath: crash}, verdict.Reproduced, "the symptom is in the history: it crashes"},
		{"undefined step beside a documented death", verdict.Input{Steps: []history.Outcome{step(history.Given, "undefined"), step(history.Then, "skipped")}, Symptom: checker.Finding{Result: checker.Valid, Statement: "it crashes", Evidence: []uint64{12}}, TargetDeath: crash}, verdict.Inconclusive, "a step is undefined"},
		{"target died after ours", verdict.Input{Steps: failed, Symptom: absent, TargetDeath: crash, Deaths: []string{"etcd: gone"}}, verdict.Inconclusive, "a component died: etcd: gone"},
		{"target died in distorted time", verdict.Input{Steps: failed, Symptom: absent, TargetDeath: crash, Distortion: "late"}, verdict.Inconclusive, "late"},
		{"failure, symptom unknown", verdict.Input{Steps: failed, Symptom: unknown}, verdict.Inconclusive, "is in the history: no event from api"},
		{"failure, symptom not looked for", verdict.Input{Steps: failed}, verdict.Inconclusive, "cannot determine whether"},
		{"symptom without failure", verdict.Input{Steps: passed, Symptom: present}, verdict.Inconclusive, "every step passed, yet the documented symptom"},
		{"passed, symptom unknown", verdict.Input{Steps: passed, Symptom: unknown}, verdict.Inconclusive, "is in the history: no event from api"},
		{"passed, symptom not looked for", verdict.Input{Steps: passed}, verdict.Inconclusive, "cannot determine whether"},
		{"an invariant broken alone", verdict.Input{Steps: passed, Symptom: absent, Broken: []checker.Finding{broken}, Breaks: breaks}, verdict.Failed, "an invariant is broken: one at most (2 times); not as documented, the symptom does not have what breaks the invariant"},
		{"an invariant the record does not name", verdict.Input{Steps: failed, Symptom: present, Broken: []checker.Finding{broken}}, verdict.Failed, "not as documented, the record does not say in breaks that its failure breaks \"one at most\""},
		{"an invariant of every run", verdict.Input{Steps: passed, Symptom: absent, Always: always}, verdict.Failed, "no-leak is broken: nothing stays (one does)"},
		{"an invariant of every run, without a record", verdict.Input{Steps: passed, Undocumented: true, Always: always}, verdict.Failed, "no-leak is broken: nothing stays (one does)"},
		{"an invariant of every run, known to be broken", verdict.Input{Steps: passed, Symptom: absent, Always: always, Known: map[string]string{"no-leak": "another failure"}}, verdict.Healthy, "every step passed; no-leak is broken, which is known: another failure"},
		{"an invariant of every run, and another failure", verdict.Input{Steps: failed, Symptom: absent, Always: always}, verdict.Failed, "failed: Then no more than 1"},
		{"an invariant of every run, in a reproduced run", verdict.Input{Steps: failed, Symptom: present, Always: always, Breaks: []string{"no-leak"}}, verdict.Reproduced, "the symptom is in the history: a second one"},
		{"an invariant of every run that the record does not name", verdict.Input{Steps: failed, Symptom: present, Always: always}, verdict.Reproduced, "; it breaks no-leak as well, which the record does not say in breaks: nothing stays (one does)"},
		{"an invariant of every run in distorted time", verdict.Input{Steps: passed, Symptom: absent, Always: always, Distortion: "late"}, verdict.Inconclusive, "late"},
		{"an invariant broken as documented", verdict.Input{Steps: failed, Symptom: present, Broken: []checker.Finding{broken}, Breaks: breaks}, verdict.Reproduced, "failed: Then no more than 1 (2 were created … stack); an invariant is broken: one at most (2 times); the symptom is in the history: a second one"},
		{"an invariant broken as documented, and no Then", verdict.Input{Steps: passed, Symptom: present, Broken: []checker.Finding{broken}, Breaks: breaks}, verdict.Reproduced, "an invariant is broken: one at most (2 times); the symptom"},
		{"an invariant broken beside the symptom", verdict.Input{Steps: failed, Symptom: checker.Finding{Result: checker.Valid, Evidence: []uint64{3, 7}}, Broken: []checker.Finding{broken}, Breaks: breaks}, verdict.Failed, "does not have what breaks the invariant"},
		{"one of two invariants as documented", verdict.Input{Steps: failed, Symptom: present, Broken: []checker.Finding{broken, {Result: checker.Invalid, Statement: "never", Evidence: []uint64{11}}}, Breaks: breaks}, verdict.Failed, "an invariant is broken: never"},
		{"an invariant of a scenario without a record", verdict.Input{Steps: passed, Undocumented: true, Broken: []checker.Finding{broken}}, verdict.Failed, "an invariant is broken: one at most (2 times); the scenario has no record"},
		{"an invariant in distorted time", verdict.Input{Steps: passed, Symptom: absent, Broken: []checker.Finding{broken}, Distortion: "late"}, verdict.Inconclusive, "late"},
		{"an invariant that takes too long", verdict.Input{Steps: passed, Symptom: absent, Unjudged: "cannot determine whether it holds"}, verdict.Inconclusive, "whether it holds"},
		{"nothing ran", verdict.Input{Symptom: absent}, verdict.Inconclusive, "no step ran"},
		{"no Then", verdict.Input{Steps: passed[:2], Symptom: absent}, verdict.Inconclusive, "no Then ran"},
		{"nothing put to the test", verdict.Input{Steps: passed, Symptom: absent, Trigger: untest}, verdict.Inconclusive, `nothing was put to the test: it cannot be seen that "the taint is there" (never matched)`},
		{"an idle target", verdict.Input{Steps: passed, Symptom: absent, Idle: "it is 0 times in the history"}, verdict.Inconclusive, "nothing was put to the test: it is 0 times in the history"},
		{"neither", verdict.Input{Steps: passed, Symptom: absent, Trigger: untest, Idle: "it is 0 times in the history"}, verdict.Inconclusive, "(never matched); it is 0 times"},
		{"symptom without its trigger", verdict.Input{Steps: failed, Symptom: present, Trigger: untest}, verdict.Inconclusive, "the symptom is in the history, and nothing was put to the test: it cannot be seen"},
		{"other failure without a trigger", verdict.Input{Steps: failed, Symptom: absent, Trigger: untest, Idle: "nothing"}, verdict.Failed, "not as documented"},
		{"a target that is not there", verdict.Input{Steps: failed, Undocumented: true, Absent: "karpenter is nowhere"}, verdict.Inconclusive, "(2 were created … stack); nothing was put to the test: karpenter is nowhere"},
		{"a target that is not there, with a record", verdict.Input{Steps: failed, Symptom: present, Absent: "karpenter is nowhere"}, verdict.Inconclusive, "nothing was put to the test: karpenter is nowhere"},
		{"symptom of an idle target", verdict.Input{Steps: failed, Symptom: present, Idle: "nothing"}, verdict.Reproduced, "the symptom is in the history"},
		{"Given failed", verdict.Input{Steps: []history.Outcome{step(history.Given, "failed"), step(history.Then, "skipped")}, Symptom: present}, verdict.Inconclusive, "not set up: Given text of the step"},
		{"When failed", verdict.Input{Steps: []history.Outcome{step(history.Given, "passed"), step(history.When, "failed")}, Symptom: present}, verdict.Inconclusive, "not set up: When text of the step"},
		{"undefined", verdict.Input{Steps: []history.Outcome{step(history.Given, "undefined"), step(history.Then, "skipped")}, Symptom: absent}, verdict.Inconclusive, "a step is undefined: Given text"},
		{"pending Then", verdict.Input{Steps: append(slices.Clone(passed), step(history.Then, "pending")), Symptom: absent}, verdict.Inconclusive, "a step is pending: Then text"},
		{"skipped Then", verdict.Input{Steps: append(slices.Clone(passed), step(history.Then, "skipped")), Symptom: absent}, verdict.Inconclusive, "a step is skipped"},
		{"step of no kind failed", verdict.Input{Steps: []history.Outcome{step("Unknown", "failed")}, Symptom: present}, verdict.Inconclusive, "not set up: text of the step"},
		{"distorted, passed", verdict.Input{Steps: passed, Symptom: absent, Distortion: "the clock was late"}, verdict.Inconclusive, "the clock was late"},
		{"distorted, failed", verdict.Input{Steps: failed, Symptom: present, Distortion: "the clock was late"}, verdict.Inconclusive, "the clock was late"},
		{"fault unmet", verdict.Input{Steps: passed, Symptom: absent, FaultsUnmet: []string{"restart on nodes/a"}}, verdict.Inconclusive, "a fault never took effect: restart on nodes/a"},
		{"death", verdict.Input{Steps: failed, Symptom: present, Deaths: []string{"etcd: exit status 2"}}, verdict.Inconclusive, "a component died: etcd: exit status 2"},
		{"cut off", verdict.Input{Steps: passed, Symptom: absent, Incomplete: "the history was cut off"}, verdict.Inconclusive, "the history was cut off"},
		{"all at once", verdict.Input{Steps: []history.Outcome{step(history.Given, "failed")}, Deaths: []string{"etcd: gone"}, Distortion: "late", FaultsUnmet: []string{"f"}},
			verdict.Inconclusive, "a component died: etcd: gone; not set up: Given text of the step; late; a fault never took effect: f"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.in.Trigger.Result == "" {
				test.in.Trigger = tested
			}
			got := verdict.Judge(test.in)
			if got.Verdict != test.want || !strings.Contains(got.Reason, test.reason) || strings.Contains(got.Reason, "\n") {
				t.Errorf("got %+v, want %s with %q", got, test.want, test.reason)
			}
			if test.want == verdict.Reproduced && !slices.Equal(got.Evidence, test.in.Symptom.Evidence) {
				t.Errorf("evidence %v", got.Evidence)
			}
		})
	}
}

func TestCompare(t *testing.T) {
	tests := []struct {
		expected scenarios.Expectation
		got      verdict.Verdict
		want     verdict.Outcome
		exit     int
	}{
		{scenarios.Healthy, verdict.Healthy, verdict.AsExpected, 0},
		{scenarios.Reproduced, verdict.Reproduced, verdict.AsExpected, 0},
		{scenarios.Healthy, verdict.Reproduced, verdict.Regression, 1},
		{scenarios.Reproduced, verdict.Healthy, verdict.FixedEarlier, 1},
		{scenarios.Healthy, verdict.Inconclusive, verdict.NotConclusive, 3},
		{scenarios.Reproduced, verdict.Inconclusive, verdict.NotConclusive, 3},
		{"", verdict.Healthy, verdict.AsExpected, 0},
		{"", verdict.Reproduced, verdict.NotAsExpected, 1},
		{"", verdict.Inconclusive, verdict.NotConclusive, 3},
		{scenarios.Healthy, verdict.Failed, verdict.NotAsExpected, 1},
		{scenarios.Reproduced, verdict.Failed, verdict.NotAsExpected, 1},
		{"", verdict.Failed, verdict.NotAsExpected, 1},
		{scenarios.Healthy, "", verdict.NotAsExpected, 1},
		{"", "", verdict.NotAsExpected, 1},
		{"odd", verdict.Healthy, verdict.NotAsExpected, 1},
	}
	for _, test := range tests {
		got := verdict.Compare(test.expected, test.got)
		if got != test.want || verdict.ExitStatus(got) != test.exit {
			t.Errorf("expected %q, got %q: %s, exit %d; want %s, exit %d", test.expected, test.got, got, verdict.ExitStatus(got), test.want, test.exit)
		}
	}
	for _, test := range []struct {
		outcomes []verdict.Outcome
		want     int
	}{
		{nil, 3},
		{[]verdict.Outcome{verdict.AsExpected, verdict.AsExpected}, 0},
		{[]verdict.Outcome{verdict.AsExpected, verdict.NotConclusive}, 3},
		{[]verdict.Outcome{verdict.NotConclusive, verdict.Regression}, 1},
	} {
		if got := verdict.ExitStatus(test.outcomes...); got != test.want {
			t.Errorf("exit status of %v: %d, want %d", test.outcomes, got, test.want)
		}
	}
}

func TestFromHistory(t *testing.T) {
	fault := func(verb, name, node string) history.Event {
		return history.Event{Source: history.Fault, Verb: verb, Object: history.Object{Resource: "nodes", Name: node}, Detail: map[string]any{"fault": name}}
	}
	events := []history.Event{
		history.Outcome{Role: history.Given, Text: "a cluster", Status: "passed"}.Event(),
		fault("armed", "restart", "a"),
		fault("armed", "restart", "b"),
		fault("effective", "restart", "a"),
		{Source: history.Fault, Verb: "armed", Detail: map[string]any{"fault": "slow"}}, // of a cloud, on nothing yet
		fault("effective", "slow", "a"),
		{Source: history.Fault, Verb: "armed", Detail: map[string]any{"fault": "never"}},
		history.Death("etcd", errors.New("exit status 2")),
		history.Death("karpenter", errors.New("karpenter ended (signal: killed)\nits last lines:\n    a\n    b")),
		history.Outcome{Role: history.Then, Text: "no more", Status: "failed", Error: "2 were"}.Event(),
		{Source: history.API, Verb: "create", Object: history.Object{Resource: "nodeclaims"}},
		{Source: history.Harness, Verb: history.Ended},
	}
	var entries []history.Entry
	for i, e := range events {
		entries = append(entries, history.Entry{Seq: uint64(i + 1), Virtual: time.Duration(i), Event: e})
	}
	slices.Reverse(entries) // as a history that is not in order
	symptom := scenarios.Record{Autoscaler: "karpenter", Symptom: checker.Statement{Statement: "s", Sequence: []checker.Element{{Match: &checker.Pattern{}}}}}
	got := verdict.FromHistory(history.InMemory(entries), symptom, "late")
	wantSteps := []history.Outcome{{Role: history.Given, Text: "a cluster", Status: "passed"}, {Role: history.Then, Text: "no more", Status: "failed", Error: "2 were"}}
	if !slices.Equal(got.Steps, wantSteps) {
		t.Errorf("steps %+v", got.Steps)
	}
	if !slices.Equal(got.FaultsUnmet, []string{"restart on nodes/b", "never"}) || !slices.Equal(got.Deaths, []string{"etcd: exit status 2"}) {
		t.Errorf("faults unmet %q, deaths %q", got.FaultsUnmet, got.Deaths)
	}
	drawn := append(slices.Clone(entries), history.Entry{Seq: 20, Event: history.Event{Source: history.Harness, Verb: history.MayMiss}})
	if may := verdict.FromHistory(history.InMemory(drawn), symptom, ""); may.FaultsUnmet != nil {
		t.Errorf("of a scenario whose faults need not take effect, unmet are %q", may.FaultsUnmet)
	}
	if want := (verdict.Death{Seq: 9, Text: "karpenter ended (signal: killed)"}); got.TargetDeath != want {
		t.Errorf("the target's death is %+v, want %+v", got.TargetDeath, want)
	}
	if got.Distortion != "late" || got.Incomplete != "" || got.Symptom.Result != checker.Valid {
		t.Errorf("input %+v", got)
	}
	if cut := verdict.FromHistory(history.InMemory(entries[1:]), symptom, ""); !strings.Contains(cut.Incomplete, "cut off") {
		t.Errorf("without its end the history is incomplete: %q", cut.Incomplete)
	}
}

// Invariants are judged over the whole run, and of what never was they hold.
func TestInvariants(t *testing.T) {
	claim := history.Event{Source: history.API, Verb: "create", Object: history.Object{Resource: "nodeclaims", Name: "a"}, Code: 201}
	gone := history.Event{Source: history.API, Verb: "delete", Object: history.Object{Resource: "nodeclaims", Name: "a"}, Code: 200}
	const one, none = "count: {source: api, verb: create, resource: nodeclaims}\natMost: 1", "never: {source: api, verb: create, resource: pods}"
	const done = "happens: {source: api, verb: delete, resource: nodeclaims}"
	const each = "since: {source: api, verb: create, resource: nodeclaims}\nhappens: {source: api, verb: delete, resource: nodeclaims}\nforEach: [name]\nwithin: 3ns"
	for _, test := range []struct {
		invariant string
		events    []history.Event
		evidence  []uint64
		broken    bool
	}{
		{one, []history.Event{claim}, nil, false},
		{one, []history.Event{claim, claim}, []uint64{1, 2}, true},
		{one, nil, nil, false},
		{none, []history.Event{claim}, nil, false},
		{done, []history.Event{claim}, nil, true},
		{done, []history.Event{claim, gone}, nil, false},
		{each, []history.Event{claim, gone}, nil, false},
		{each, []history.Event{claim, {Source: history.Clock}, {Source: history.Clock}, {Source: history.Clock}, {Source: history.Clock}}, []uint64{1}, true},
		{each, []history.Event{claim}, nil, false}, // cut off by the end of the run
		{each, nil, nil, false},
	} {
		record := scenarios.Record{Autoscaler: "karpenter", Invariants: make([]checker.Statement, 1)}
		if err := strict.Unmarshal([]byte("statement: s\n"+test.invariant), &record.Invariants[0]); err != nil || record.Invariants[0].CheckInvariant() != nil {
			t.Fatal(err)
		}
		var entries []history.Entry
		for i, e := range append(test.events, history.Event{Source: history.Harness, Verb: history.Ended}) {
			entries = append(entries, history.Entry{Seq: uint64(i + 1), Virtual: time.Duration(i), Event: e})
		}
		record.Symptom = checker.Statement{Statement: "s", Sequence: []checker.Element{{Match: &checker.Pattern{}}}}
		record.Trigger = record.Symptom
		in := verdict.FromHistory(history.InMemory(entries), record, "")
		if (len(in.Broken) == 1) != test.broken || test.broken && !slices.Equal(in.Broken[0].Evidence, test.evidence) {
			t.Errorf("%s of %d events: broken %+v, want %t by %v", test.invariant, len(test.events), in.Broken, test.broken, test.evidence)
		}
	}
}

// What breaks an invariant, unless a source that says nothing could excuse it, leaves the run unjudged.
func TestInvariantOfASilentSource(t *testing.T) {
	record := scenarios.Record{Autoscaler: "karpenter", Invariants: make([]checker.Statement, 1)}
	if err := strict.Unmarshal([]byte("statement: s\nsince: {source: api, verb: create, resource: pods}\nuntil: {source: node, verb: ready}\nnever: {source: api, verb: delete, resource: nodes}"), &record.Invariants[0]); err != nil {
		t.Fatal(err)
	}
	events := []history.Event{
		{Source: history.API, Verb: "create", Object: history.Object{Resource: "pods"}, Code: 201},
		{Source: history.API, Verb: "delete", Object: history.Object{Resource: "nodes"}, Code: 200},
		{Source: history.Harness, Verb: history.Ended},
	}
	for _, test := range []struct {
		events   []history.Event
		unjudged bool
		broken   int
	}{
		{events, true, 0},
		{slices.Insert(slices.Clone(events), 2, history.Event{Source: history.Node, Verb: "register"}), false, 1},
		{events[2:], false, 0},
	} {
		var entries []history.Entry
		for i, e := range test.events {
			entries = append(entries, history.Entry{Seq: uint64(i + 1), Virtual: time.Duration(i), Event: e})
		}
		in := verdict.FromHistory(history.InMemory(entries), record, "")
		if (in.Unjudged != "") != test.unjudged || len(in.Broken) != test.broken {
			t.Errorf("of %d events: unjudged %q, broken %v", len(entries), in.Unjudged, in.Broken)
		}
	}
}

// A target is there as soon as it has asked for anything, or has died.
func TestAbsent(t *testing.T) {
	call := func(verb, actor string) history.Event {
		return history.Event{Source: history.API, Verb: verb, Actor: actor, Object: history.Object{Resource: "machines"}, Code: 200}
	}
	for _, test := range []struct {
		target       string
		event        history.Event
		absent, idle bool
	}{
		{"karpenter", call("create", "kubectl"), true, true},
		{"karpenter", call("list", "karpenter"), false, true},
		{"karpenter", call("create", "karpenter"), false, false},
		{"karpenter", history.Event{Source: history.Harness, Verb: history.Died, Actor: "karpenter"}, false, true},
		{"cluster-api", call("create", "capi-manager"), false, false},
		{"karpenter", call("create", "capi-manager"), true, true},
		{"kubespray", history.Event{Source: history.Harness, Verb: "apply", Actor: "order"}, false, false},
	} {
		in := verdict.FromHistory(history.InMemory([]history.Entry{{Seq: 1, Event: test.event}}), scenarios.Unrecorded("mine", test.target), "")
		if (in.Absent != "") != test.absent || (in.Idle != "") != test.idle {
			t.Errorf("after %+v %s is absent: %q, idle: %q", test.event, test.target, in.Absent, in.Idle)
		}
	}
}

// Work counts from the last When, or from the start if the record says so.
func TestWork(t *testing.T) {
	round := history.Event{Source: history.API, Verb: "update", Actor: "karpenter", Object: history.Object{Resource: "nodepools"}, Code: 200}
	refused := round
	refused.Code = 403
	others := round
	others.Actor = "somebody"
	when := history.Outcome{Role: history.When, Text: "a pod", Status: "passed"}.Event()
	for _, test := range []struct {
		work   string
		events []history.Event
		idle   string
	}{
		{"count: 2", []history.Event{when, round, round}, ""},
		{"count: 2", []history.Event{round, round}, ""}, // a scenario without a When
		{"count: 2", []history.Event{round, when, round, refused, others}, `"api update nodepools by karpenter" was seen 1 time since the last When, at least 2 required`},
		{"count: 1", []history.Event{when, round, when}, `was seen 0 times since the last When`},
		{"count: 2, since: start", []history.Event{round, when, round}, ""},
		{"count: 3, since: start", []history.Event{round, when, round}, "was seen 2 times since the start, at least 3 required"},
	} {
		var record scenarios.Record
		if err := strict.Unmarshal([]byte("{source: api, verb: update, resource: nodepools, actor: karpenter, "+test.work+"}"), &record.Work); err != nil {
			t.Fatal(err)
		}
		var entries []history.Entry
		for i, e := range test.events {
			entries = append(entries, history.Entry{Seq: uint64(i + 1), Virtual: time.Duration(i), Event: e})
		}
		if got := verdict.FromHistory(history.InMemory(entries), record, "").Idle; (got == "") != (test.idle == "") || !strings.Contains(got, test.idle) {
			t.Errorf("%s of %d events: %q, want %q", test.work, len(test.events), got, test.idle)
		}
	}
}

// An invariant of what nothing shows to be there leaves the run unjudged, and so does a symptom that rests on it.
func TestHollow(t *testing.T) {
	record := scenarios.Record{Autoscaler: "karpenter", Invariants: make([]checker.Statement, 1)}
	for text, into := range map[string]*checker.Statement{
		"statement: no widget goes\nnever: {source: api, verb: delete, resource: widgets}": &record.Invariants[0],
		"statement: s\nsequence:\n- match: {source: api, verb: create, resource: nodeclaims}\n- match: {source: api, verb: delete, resource: nodeclaims}\n" +
			"  absent: [{source: api, verb: create, resource: widgets}]": &record.Symptom,
	} {
		if err := strict.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
		if err := into.Check(); err != nil {
			t.Fatal(err)
		}
	}
	record.Trigger = record.Symptom
	call := func(verb, resource, name string) history.Event {
		return history.Event{Source: history.API, Verb: verb, Actor: "karpenter", Object: history.Object{Resource: resource, Name: name}, Code: 200}
	}
	events := []history.Event{
		call("create", "nodeclaims", "a"), call("delete", "nodeclaims", "a"),
		history.Outcome{Role: history.Then, Text: "x", Status: "failed"}.Event(), {Source: history.Harness, Verb: history.Ended},
	}
	for want, events := range map[verdict.Verdict][]history.Event{
		verdict.Inconclusive: events,
		verdict.Reproduced:   append([]history.Event{call("create", "customresourcedefinitions", "widgets.example.com")}, events...),
	} {
		var entries []history.Entry
		for i, e := range events {
			entries = append(entries, history.Entry{Seq: uint64(i + 1), Virtual: time.Duration(i), Event: e})
		}
		in := verdict.FromHistory(history.InMemory(entries), record, "")
		if got := verdict.Judge(in); got.Verdict != want {
			t.Errorf("%+v, want %s", got, want)
		}
		hollow := want == verdict.Inconclusive
		if (in.Unjudged != "") != hollow || (in.Symptom.Result == checker.Unknown) != hollow {
			t.Errorf("unjudged %q, symptom %s", in.Unjudged, in.Symptom)
		}
	}
}

// A pod that has no machine, since Karpenter has no NodePool, has that as its reason.
func TestHints(t *testing.T) {
	pool := history.Event{Source: history.API, Verb: "create", Actor: "kubectl", Code: 201, Object: history.Object{Resource: "nodepools", Name: "default"}}
	for _, test := range []struct {
		autoscaler, status string
		events             []history.Event
		want               bool
	}{
		{"karpenter", "failed", nil, true},
		{"karpenter", "failed", []history.Event{pool}, false},
		{"karpenter", "passed", nil, false},
		{"cluster-api", "failed", nil, false},
	} {
		var entries history.InMemory
		wrote := history.Event{Source: history.API, Verb: "create", Actor: test.autoscaler, Code: 201, Object: history.Object{Resource: "leases", Name: "a"}}
		all := append(slices.Clone(test.events), wrote, step(history.Then, test.status).Event(), history.Event{Source: history.Harness, Verb: history.Ended})
		for i, e := range all {
			entries = append(entries, history.Entry{Seq: uint64(i + 1), Virtual: time.Duration(i) * time.Second, Event: e})
		}
		j := verdict.Judge(verdict.FromHistory(entries, scenarios.Unrecorded("x", test.autoscaler), ""))
		if strings.Contains(j.Reason, "nothing could launch a machine") != test.want {
			t.Errorf("%+v: %s: %s", test, j.Verdict, j.Reason)
		}
	}
}
