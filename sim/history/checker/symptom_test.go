package checker_test

import (
	"strings"
	"testing"

	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/strict"
)

func TestSymptomErrors(t *testing.T) {
	const match = "{source: api, verb: create}"
	tests := []struct{ name, text, want string }{
		{"no statement", "sequence: [{match: " + match + "}]", "statement is missing"},
		{"about nothing", "statement: s", "it is about nothing: want one of sequence, noSequence, happens, never"}, {"no sequence", "statement: s\nsequence: []", "sequence is empty"},
		{"unknown field", "statement: s\nsequence: [{mtach: " + match + "}]", `unknown field "sequence[0].mtach" (allowed: as, match, count, capture, while, within, absent, for)`},
		{"unknown pattern field", "statement: s\nsequence: [{match: {source: api, kind: Pod}}]", `unknown field "sequence[0].match.kind" (allowed: source, verb,`},
		{"unknown absence field", "statement: s\nsequence: [{match: " + match + ", absent: [{sins: a, source: api}]}]", `unknown field "sequence[0].absent[0].sins" (allowed: since, `},
		{"no source", "statement: s\nsequence: [{match: {verb: create}}]", "sequence[0]: match: source is missing (allowed: [api cloud"},
		{"unknown source", "statement: s\nsequence: [{match: {source: kubelet}}]", `unknown source "kubelet" (allowed: [api cloud`},
		{"unknown verb", "statement: s\nsequence: [{match: {source: api, verb: creates}}]", `unknown verb "creates" of source api (allowed: create, delete,`},
		{"a verb that is close", "statement: s\nsequence: [{match: {source: api, verb: creates}}]", `did you mean "create"?`},
		{"a kind of Kubernetes for a resource", "statement: s\nsequence: [{match: {source: api, resource: PodDisruptionBudget}}]", `resource: "PodDisruptionBudget" is none, did you mean "poddisruptionbudgets"?`},
		{"an unknown actor", "statement: s\nsequence: [{match: {source: api, actor: karpentre}}]", `unknown actor "karpentre" of source api: it is a program, such as karpenter or kubelet, or a controller of Kubernetes, such as node-controller; say {matches: "karpentre"} if it is neither, did you mean "karpenter"?`},
		{"an unknown actor under not", "statement: s\nsequence: [{match: {source: [api, log], actor: {not: [kubectl, node-controler]}}}]", `did you mean "node-controller"?`},
		{"a part of an item", "statement: s\nsequence: [{match: {source: api, detail: {taints: {contains: node.kubernetes.io/not-ready}}}}]", `such as "node.kubernetes.io/not-ready:NoSchedule"`},
		{"an effect that is none", "statement: s\nsequence: [{match: {source: api, detail: {added: {lacks: [\"a:NoExecute\", \"a:NoSchedul\"]}}}}]", `such as "a:NoSchedule"`},
		{"no amount", "statement: s\nsequence: [{match: {source: api, detail: {extended: {contains: example.com/device}}}}]", `such as "example.com/device=2"`},
		{"a list as a text", "statement: s\nsequence: [{match: {source: api, detail: {removed: {matches: \".*NoExecute\"}}}}]", `detail "removed" is a list: say {contains: ITEM}`},
		{"a subresource", "statement: s\nsequence: [{match: {source: api, resource: pods, detail: {subresource: evictions}}}]", `unknown subresource "evictions" (allowed: approval,`},
		{"a kind for a resource", "statement: s\nsequence: [{match: {source: api, resource: [pods, Node]}}]", `resource: "Node" is none, did you mean "nodes"?`},
		{"unknown detail", "statement: s\nsequence: [{match: {source: api, detail: {providerId: x}}}]", `unknown detail "providerId" of source api (allowed: about,`},
		{"a detail that is close", "statement: s\nsequence: [{match: {source: [api, node], detail: {providerId: x}}}]", `did you mean "providerID"?`},
		{"unknown verb of a fault", "statement: s\nsequence: [{match: {source: fault, verb: {not: started}}}]", `unknown verb "started" of source fault (allowed: armed,`},
		{"unknown comparison", "statement: s\nsequence: [{match: {source: api, name: {like: x}}}]", `unknown comparison "like" (allowed: a value, a list of values, not, contains, lacks, matches, above, below, exists)`},
		{"two comparisons", "statement: s\nsequence: [{match: {source: api, name: {not: x, lacks: y}}}]", "want one of not, contains"},
		{"empty list", "statement: s\nsequence: [{match: {source: api, name: []}}]", "the list of values is empty"},
		{"mapping as value", "statement: s\nsequence: [{match: {source: api, name: {not: {a: b}}}}]", "is no value to compare with"},
		{"above what", "statement: s\nsequence: [{match: {source: api, code: {above: many}}}]", "above: want a number"},
		{"above two", "statement: s\nsequence: [{match: {source: api, code: {above: [1, 2]}}}]", "above: want a number"},
		{"exists what", "statement: s\nsequence: [{match: {source: api, name: {exists: maybe}}}]", "want true or false"},
		{"empty detail", "statement: s\nsequence: [{match: {source: api, detail: {a: }}}]", `detail "a" has no value`},
		{"bad duration", "statement: s\nsequence: [{match: " + match + ", within: 5 minutes}]", `"5 minutes" is no duration`},
		{"negative duration", "statement: s\nsequence: [{match: " + match + ", within: -5m}]", "above zero"},
		{"number as duration", "statement: s\nsequence: [{match: " + match + ", within: 5}]", "5 is no duration"},
		{"capture nothing", "statement: s\nsequence: [{match: " + match + ", capture: {a: label}}]", `capture a: unknown field "label" (allowed: source, verb,`},
		{"capture twice", "statement: s\nsequence: [{match: " + match + ", capture: {a: name}}, {match: " + match + ", capture: {a: name}}]", `sequence[1]: capture: "a" is taken`},
		{"not captured", "statement: s\nsequence: [{match: {source: api, name: $a}}]", "$a is not captured by an element before"},
		{"captured too late", "statement: s\nsequence: [{match: {source: api, name: $a}, capture: {a: name}}]", "$a is not captured"},
		{"count and capture", "statement: s\nsequence: [{match: " + match + ", count: 2, capture: {a: name}}]", "capture needs a single event"},
		{"negative count", "statement: s\nsequence: [{match: " + match + ", count: -2}]", "count: -2 is negative"},
		{"nothing", "statement: s\nsequence: [{as: a}]", "neither match, nor absent with for"},
		{"absent without for", "statement: s\nsequence: [{absent: [" + match + "]}]", "neither match, nor absent with for"},
		{"for with match", "statement: s\nsequence: [{match: " + match + ", for: 5m}]", "use within"},
		{"within without match", "statement: s\nsequence: [{absent: [" + match + "], for: 5m, within: 5m}]", "need match"},
		{"name twice", "statement: s\nsequence: [{as: a, match: " + match + "}, {as: a, match: " + match + "}]", `as: "a" is taken`},
		{"the name start", "statement: s\nsequence: [{as: start, match: " + match + "}]", `as: "start" is taken`},
		{"unknown since", "statement: s\nsequence: [{match: " + match + ", absent: [{since: a, source: api}]}]", `no earlier element is called "a"`},
		{"since of a quiet span", "statement: s\nsequence: [{absent: [{since: start, source: api}], for: 5m}]", "since needs match"},
		{"while without detail", "statement: s\nsequence: [{match: " + match + ", while: [{source: api}]}]", "while[0]: detail is missing"},
		{"while exists", "statement: s\nsequence: [{match: " + match + ", while: [{source: api, detail: {node: {exists: false}}}]}]", "exists says nothing here"},
		{"unused capture", "statement: s\nsequence: [{match: " + match + ", capture: {a: name}}, {match: " + match + "}]", "sequence[0]: capture a: no pattern has $a; name it where the same one is meant"},
		{"unused second capture", "statement: s\nsequence: [{match: " + match + ", capture: {a: name, b: verb}}, {match: {source: api, name: $a}}]", "sequence[0]: capture b: no pattern has $b"},
		{"ends with absence", "statement: s\nsequence: [{match: " + match + "}, {absent: [" + match + "], for: 5m}]", "sequence[1]: the last element is a span in which something is absent: nothing in the history would show the failure; end with"},
		{"ends with rounds", "statement: s\nsequence: [{match: {source: log, verb: loop}, count: 11, absent: [" + match + "]}]", "sequence[0]: the last element is a round of the autoscaler"},
		{"ends with a fault", "statement: s\nsequence: [{match: " + match + "}, {match: {source: [step, fault]}}]", "sequence[1]: the last element is what the scenario itself does"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var symptom checker.Statement
			err := strict.Unmarshal([]byte(test.text), &symptom)
			if err == nil {
				err = symptom.CheckSymptom()
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, test.want)
			}
		})
	}
}

func TestValues(t *testing.T) {
	event := history.Entry{Seq: 1, Event: history.Event{Source: history.Harness, Verb: "patch", Code: 409, Detail: detail{
		"grace": 30, "ok": true, "text": "0/3 nodes are available", "list": []string{"a", "b"}, "dotted.key": "d",
		"conditions": detail{"Ready": "True"},
	}}}
	tests := []struct {
		values string
		want   checker.Result
	}{
		{"{grace: 30}", checker.Valid},
		{"{grace: '30'}", checker.Valid},
		{"{grace: 31}", checker.Invalid},
		{"{grace: {above: 29.5}}", checker.Valid},
		{"{grace: {above: 30}}", checker.Invalid},
		{"{grace: {below: 31}}", checker.Valid},
		{"{text: {below: 31}}", checker.Invalid},
		{"{ok: true}", checker.Valid},
		{"{ok: [false, true]}", checker.Valid},
		{"{text: {contains: 0/3}}", checker.Valid},
		{"{text: {lacks: 0/3}}", checker.Invalid},
		{"{text: 0/3}", checker.Invalid},
		{"{list: {contains: [c, b]}}", checker.Valid},
		{"{list: {contains: c}}", checker.Invalid},
		{"{list: {lacks: c}}", checker.Valid},
		{"{list: a}", checker.Invalid},
		{"{none: {lacks: c}}", checker.Invalid},
		{"{none: {contains: c}}", checker.Invalid},
		{"{none: {not: c}}", checker.Valid},
		{"{none: {exists: false}}", checker.Valid},
		{"{list: {exists: false}}", checker.Invalid},
		{"{list: {exists: true}}", checker.Valid},
		{"{conditions.Ready: 'True'}", checker.Valid},
		{"{conditions.Ready: {not: 'True'}}", checker.Invalid},
		{"{conditions.Gone: {exists: true}}", checker.Invalid},
		{"{dotted.key: d}", checker.Valid},
	}
	end := ended(1)
	end.Seq = 2
	for _, test := range tests {
		t.Run(test.values, func(t *testing.T) {
			var symptom checker.Statement // of details that no event has, which Check would say
			if err := strict.Unmarshal([]byte("statement: s\nsequence: [{match: {source: harness, code: 409, detail: "+test.values+"}}]"), &symptom); err != nil {
				t.Fatal(err)
			}
			if got := checker.Find([]history.Entry{event, end}, symptom); got.Result != test.want {
				t.Errorf("got %v, want %s", got, test.want)
			}
		})
	}
}

func FuzzSymptom(f *testing.F) {
	for _, seed := range []string{secondClaim, neverReady, burst} {
		f.Add([]byte(seed))
	}
	events := story(api(20, "create", "nodeclaims", "claim-2", nil), ended(30))
	f.Fuzz(func(t *testing.T, text []byte) {
		var symptom checker.Statement
		if strict.Unmarshal(text, &symptom) != nil || symptom.CheckSymptom() != nil {
			return
		}
		found := checker.Find(events, symptom)
		if found.Result == checker.Valid && found.Reason != "" || found.Result != checker.Valid && found.Reason == "" {
			t.Errorf("result and reason disagree: %+v", found)
		}
	})
}

// Who may be anybody is not looked up: agents of nodes, tokens, captures, expressions.
func TestActorsThatMayBe(t *testing.T) {
	for _, pattern := range []string{
		"source: node, actor: agent-1", "source: [api, node], actor: agent-1", "source: api, actor: node-controller", `source: api, actor: "bootstrap:0a921e"`,
		"source: api, actor: {matches: agent-.*}", "source: api, actor: {not: kubectl}", `source: api, detail: {taints: {contains: "a=b:NoSchedule"}}`,
	} {
		var s checker.Statement
		if err := strict.Unmarshal([]byte("never: {"+pattern+"}"), &s); err != nil {
			t.Fatal(err)
		}
		if err := s.Check(); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}
