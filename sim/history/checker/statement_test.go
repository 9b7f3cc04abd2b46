package checker_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/strict"
)

func TestStatementErrors(t *testing.T) {
	const some = "{source: api, verb: create}"
	const state = "value: detail.to, of: {source: log}"
	tests := []struct{ text, want string }{
		{"within: 5m", "it is about nothing: want one of sequence, noSequence, happens, never, count,"},
		{"happens: " + some + "\nnever: " + some, "it has happens and never: want one of them"},
		{"hapens: " + some, `unknown field "hapens" (allowed: statement, sequence, noSequence, happens,`},
		{"hapens: " + some, `did you mean "happens"?`},
		{"happens: {source: api, verb: creates}", `happens: unknown verb "creates"`},
		{"never: {verb: create}", "never: source is missing"},
		{"happens: {source: api, name: $a}", "happens: $a is not captured"},
		{"count: " + some, "count: every history has some or none"},
		{"count: " + some + "\natLeast: 0", "atLeast: 0: no history could have less"},
		{"count: " + some + "\natMost: -1", "atMost: -1: no history could have so few"},
		{"count: " + some + "\natLeast: 3\natMost: 2", "atLeast: 3 is above atMost: 2"},
		{"count: " + some + "\natLeast: 3\natMost: 4\nevery: 1m", "every: want atMost"},
		{"count: " + some + "\natMost: 4\nevery: 10m\nwithin: 5m", "every: 10m0s is no part of within: 5m0s"},
		{"count: " + some + "\natMost: many", `field "atMost": found string, want a number`},
		{"happens: " + some + "\natMost: 1", "atLeast, atMost and every need count"},
		{"happens: " + some + "\nwithin: 0s", `"0s" is no duration above zero`},
		{"first: " + some, "first needs then"},
		{"first: " + some + "\nthen: " + some, "first and then are the same"},
		{"happens: " + some + "\nuntil: {source: log}", "until needs since"},
		{"happens: " + some + "\nsince: {source: log}\nuntil: {source: log}", "since and until are the same"},
		{"happens: " + some + "\nsince: {source: log}\nuntil: " + some, "happens and until are the same"},
		{"happens: " + some + "\nsince: {source: log}\never: true", "ever is the span from the start"},
		{"never: " + some + "\nforEach: [name]\nforAny: [name]", "want one of them"},
		{"never: " + some + "\nforEach: [label]", `unknown field "label" (allowed: source, verb,`},
		{"happens: " + some + "\nforEach: [name]", "say in since what there is one of for each"},
		{"eventually: {value: detail.to, is: 1}", "of is missing"},
		{"eventually: {" + state + "}", "say how the value is"},
		{"eventually: {" + state + ", is: 1, above: 2}", "is and bounds"},
		{"eventually: {" + state + ", is: {exists: true}}", "exists says nothing here"},
		{"eventually: {" + state + ", above: 1, atLeast: 2}", "want one of the two"},
		{"throughout: {" + state + ", above: 3, below: 3}", "above: 3 and below: 3: no number is both"},
		{"throughout: {" + state + ", atLeast: 3.5, atMost: 3}", "atLeast: 3.5 and atMost: 3: no number is both"},
		{"finally: {value: to, of: {source: log}, is: 1}", `value: unknown field "to"`},
		{"throughout: {value: detail.reason, of: {source: api}, above: 3}", `value: detail "reason" is no number, but a text`},
		{"throughout: {value: detail.replicas, of: {source: api}, is: two}", `is: detail "replicas": "two" is no number`},
		{"throughout: {value: detail.replicas, of: {source: api}, is: {below: few}}", "is: below: want a number, not few"},
		{"finally: {value: detail.replcas, of: {source: api}, is: 2}", `value: unknown detail "replcas" of source api`},
		{"never: " + some + "\nforEach: [detail.nodepool]", `forEach, forAny: never: unknown detail "nodepool" of source api`},
		{"sequence: [{match: " + some + ", capture: {a: detail.nodepool}}, {match: {source: api, name: $a}}]", `capture a: unknown detail "nodepool"`},
		{"noSequence: [{absent: [" + some + "], for: 5m}]", "noSequence: begin with a match"},
		{"noSequence: [{match: {source: apo}}]", "noSequence[0]: match: unknown source"},
		{"noSequence: [{match: {source: api, name: 'a${b}'}}]", "$b is not captured"},
		{"never: {source: api, name: {matches: '('}}", "is no regular expression"},
		{"sequence: [{match: " + some + "}]\nwithin: 5m", "a sequence has within, since and absent in its elements"},
	}
	for _, test := range tests {
		var s checker.Statement
		err := strict.Unmarshal([]byte(test.text), &s)
		if err == nil {
			err = s.Check()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", test.text, err, test.want)
		}
	}
	for text, want := range map[string]string{
		"statement: s\nnever: " + some:                                "about absences only",
		"statement: s\ncount: " + some + "\natMost: 2":                "about absences only",
		"happens: " + some:                                            "statement is missing",
		"statement: s\nhappens: {source: log, verb: loop}":            "happens: it is a round of the autoscaler",
		"statement: s\nfirst: " + some + "\nthen: {source: fault}":    "then: it is what the scenario itself does",
		"statement: s\ncount: {source: step}\natLeast: 1":             "count: it is what the scenario itself does",
		"statement: s\nsequence: [{absent: [" + some + "], for: 5m}]": "absences only",
	} {
		var s checker.Statement
		if err := strict.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if err := s.CheckSymptom(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s as a symptom: error %v, want %q", text, err, want)
		}
	}
}

// size is what a log says of a group's target size.
func size(second int, group string, to int) history.Entry {
	return history.Entry{Virtual: time.Duration(second) * time.Second, Event: history.Event{
		Source: history.Logged, Verb: "target", Object: history.Object{Resource: "nodegroups", Name: group}, Detail: detail{"to": to}}}
}

func claim(second int, name string) history.Entry {
	return api(second, "create", "nodeclaims", name, nil)
}

func evict(second int, pod string) history.Entry {
	return api(second, "create", "pods", pod, detail{"subresource": "eviction"})
}

func TestStatement(t *testing.T) {
	const claims = "{source: api, verb: create, resource: nodeclaims, actor: karpenter}"
	const eviction = "{source: api, verb: create, resource: pods, detail: {subresource: eviction}}"
	const created = "{source: api, verb: create, resource: pods, detail: {subresource: {exists: false}}}"
	const bound = "{source: api, verb: create, resource: pods, detail: {subresource: binding}}"
	const sizeOf = "value: detail.to, of: {source: log, verb: target, resource: nodegroups, name: a}"
	const tainted = `value: detail.taints, of: {source: api, resource: nodes, name: n1}, is: {contains: "x:NoSchedule"}`
	pod := func(second int, name string) history.Entry { return api(second, "create", "pods", name, nil) }
	refused := claim(5, "no")
	refused.Code = 403
	changed := api(1, "patch", "nodeclaims", "a", nil)
	run := func(second int, events ...history.Entry) []history.Entry { return append(events, ended(second)) }
	tests := []struct {
		text   string
		events []history.Entry
		want   checker.Result
		reason string
	}{
		{"happens: " + claims, run(9, claim(5, "a")), checker.Valid, ""},
		{"happens: " + claims, run(9, refused), checker.Invalid, `"api create nodeclaims by karpenter" was seen 0 times, at least 1 required`},
		{"happens: " + claims + "\nwithin: 4s", run(9, claim(5, "a")), checker.Invalid, "0 times"},
		{"happens: " + claims + "\nwithin: 1m", run(9, pod(1, "p")), checker.Unknown, "it would have to hold until 1m0s, and the history ends at 9s"},
		{"happens: " + claims, []history.Entry{pod(1, "p")}, checker.Unknown, "cut off at 1s"},
		{"happens: " + claims, []history.Entry{claim(1, "a")}, checker.Valid, ""},
		{"happens: " + claims, run(9, size(1, "a", 1)), checker.Unknown, "no event from the source api"},

		{"never: " + claims, run(9, refused), checker.Valid, ""},
		{"never: " + claims, run(9, claim(5, "a")), checker.Invalid, "1 time, at most 0 allowed"},
		{"never: " + claims, []history.Entry{claim(1, "a")}, checker.Invalid, ""},
		{"never: " + claims, []history.Entry{refused}, checker.Unknown, "cut off"},
		{"never: " + claims + "\nwithin: 4s", []history.Entry{changed, refused}, checker.Valid, ""}, // cut off later
		{"never: " + claims + "\nwithin: 4s", run(9, changed, refused, claim(5, "a")), checker.Valid, ""},
		{"never: " + claims, run(9, pod(1, "p")), checker.Invalid, "of what never was nothing holds"},

		{"count: " + claims + "\natMost: 1", run(9, claim(5, "a")), checker.Valid, ""},
		{"count: " + claims + "\natMost: 1", run(9, claim(5, "a"), claim(6, "b")), checker.Invalid, "2 times, at most 1 allowed"},
		{"count: " + claims + "\natLeast: 2", run(9, claim(5, "a"), claim(6, "b")), checker.Valid, ""},
		{"count: " + claims + "\natLeast: 3", run(9, claim(5, "a"), claim(6, "b")), checker.Invalid, "2 times, at least 3 required"},
		{"count: " + claims + "\natLeast: 2\natMost: 2", run(9, claim(5, "a"), claim(6, "b")), checker.Valid, ""},
		{"count: " + claims + "\natLeast: 2\natMost: 2", run(9, claim(5, "a"), claim(6, "b"), claim(7, "c")), checker.Invalid, "3 times"},
		{"count: " + claims + "\natLeast: 2\natMost: 2", []history.Entry{claim(5, "a"), claim(6, "b")}, checker.Unknown, "cut off"},

		{"count: " + eviction + "\natMost: 2\nevery: 1m", run(200, evict(0, "p"), evict(30, "p"), evict(60, "p"), evict(90, "p")), checker.Valid, ""},
		{"count: " + eviction + "\natMost: 2\nevery: 1m", run(200, evict(0, "p"), evict(30, "p"), evict(59, "p")), checker.Invalid, "3 times within 1m0s, at most 2 allowed"},
		{"count: " + eviction + "\natMost: 1\nevery: 1m\nforEach: [name]", run(200, evict(0, "p"), evict(30, "q"), evict(60, "p")), checker.Valid, ""},
		{"count: " + eviction + "\natMost: 1\nevery: 1m\nforEach: [name]", run(200, evict(0, "p"), evict(30, "q"), evict(59, "p")), checker.Invalid, "of p, "},
		{"count: " + eviction + "\natLeast: 2\nevery: 1m\nforAny: [name]", run(200, evict(0, "p"), evict(30, "q"), evict(59, "p")), checker.Valid, ""},
		{"count: " + eviction + "\natLeast: 2\nevery: 1m\nforAny: [name]", run(200, evict(0, "p"), evict(30, "q"), evict(60, "p")), checker.Invalid, "1 time within 1m0s, at least 2 required"},

		{"first: " + created + "\nthen: " + claims, run(9, pod(1, "p"), claim(5, "a")), checker.Valid, ""},
		{"first: " + created + "\nthen: " + claims, run(9, claim(5, "a"), pod(6, "p")), checker.Invalid, "with none of"},
		{"first: " + created + "\nthen: " + claims, run(9, pod(6, "p")), checker.Invalid, `"api create nodeclaims by karpenter" was not seen`},
		{"first: " + created + "\nthen: " + claims, []history.Entry{pod(6, "p")}, checker.Unknown, "cut off"},
		{"first: " + created + "\nthen: " + bound + "\nforEach: [name]", run(9, pod(1, "p"), bind(2, "p", "n"), pod(3, "q")), checker.Valid, ""},
		{"first: " + created + "\nthen: " + bound + "\nforEach: [name]", run(9, pod(1, "p"), bind(2, "q", "n"), bind(3, "p", "n")), checker.Invalid, "of q, "},
		{"first: " + created + "\nthen: " + bound + "\nforEach: [name]", run(9, pod(1, "p")), checker.Invalid, "is not in the history"},

		{"since: " + created + "\nhappens: " + bound + "\nwithin: 5s\nforEach: [name]", run(90, pod(1, "p"), pod(2, "q"), bind(6, "p", "n"), bind(7, "q", "n")), checker.Valid, ""},
		{"since: " + created + "\nhappens: " + bound + "\nwithin: 5s\nforEach: [name]", run(90, pod(1, "p"), pod(2, "q"), bind(6, "p", "n"), bind(8, "q", "n")), checker.Invalid, "of q, "},
		{"since: " + created + "\nhappens: " + bound + "\nwithin: 5s\nforEach: [name]", run(9, pod(1, "p"), bind(6, "p", "n"), pod(8, "q")), checker.Valid, ""},
		{"since: " + created + "\nhappens: " + bound + "\nwithin: 5s\nforEach: [name]", run(9, pod(8, "q")), checker.Unknown, "is not over at 9s"},
		// Each since has a span of its own, also one within another's.
		{"since: " + created + "\nhappens: " + bound + "\nwithin: 10s", run(60, pod(1, "p"), bind(5, "p", "n"), pod(6, "q")), checker.Invalid, "0 times, at least 1 required, since event 3"},
		{"since: " + created + "\nhappens: " + bound + "\nwithin: 10s", run(60, pod(1, "p"), pod(6, "q"), bind(9, "p", "n")), checker.Valid, ""},
		{"since: " + created + "\nnever: " + claims + "\nwithin: 10s", run(60, pod(1, "p"), pod(9, "q"), claim(15, "a")), checker.Invalid, "1 time, at most 0 allowed, since event 2"},
		{"since: " + created + "\nnever: " + claims + "\nwithin: 10s", run(60, pod(1, "p"), pod(9, "q"), claim(20, "a")), checker.Valid, ""},
		{"since: " + created + "\ncount: " + claims + "\natMost: 1\nwithin: 10s", run(60, pod(1, "p"), claim(5, "a"), pod(9, "q"), claim(15, "b")), checker.Valid, ""},
		{"since: " + created + "\ncount: " + claims + "\natMost: 1\nwithin: 10s", run(60, pod(1, "p"), pod(9, "q"), claim(12, "a"), claim(15, "b")), checker.Invalid, "2 times, at most 1 allowed, since event 2"},
		{"since: " + created + "\nhappens: " + bound + "\nwithin: 5s", run(9, claim(8, "q")), checker.Invalid, "since when it counts, is not in the history"},
		{"since: " + created + "\nhappens: " + bound, []history.Entry{pod(1, "p"), bind(6, "p", "n")}, checker.Valid, ""},
		{"since: " + created + "\nuntil: " + bound + "\nnever: " + claims, run(9, claim(1, "a"), pod(2, "p"), bind(3, "p", "n"), claim(4, "b")), checker.Valid, ""},
		{"since: " + created + "\nuntil: " + bound + "\nnever: " + claims, run(9, pod(2, "p"), bind(3, "p", "n"), pod(4, "q"), claim(5, "b"), bind(6, "q", "n")), checker.Invalid, "1 time, at most 0 allowed, since event 3"},
		{"since: " + created + "\nuntil: " + bound + "\nnever: " + claims, run(9, pod(2, "p")), checker.Unknown, "what began with event 1 is not over"},
		{"since: " + created + "\nuntil: " + bound + "\nhappens: " + claims, run(9, pod(2, "p"), bind(3, "p", "n"), claim(4, "a")), checker.Invalid, "0 times"},

		{"noSequence: [{match: " + created + ", capture: {pod: name}}, {match: " + bound[:len(bound)-1] + ", name: $pod}}]", run(9, pod(1, "p"), bind(2, "q", "n")), checker.Valid, ""},
		{"noSequence: [{match: " + created + ", capture: {pod: name}}, {match: " + bound[:len(bound)-1] + ", name: $pod}}]", run(9, pod(1, "p"), bind(2, "p", "n")), checker.Invalid, "the sequence is in the history"},
		{"noSequence: [{match: " + created + "}, {match: " + claims + "}]", run(9, claim(1, "a")), checker.Invalid, "of what never was nothing holds"},
		{"noSequence: [{match: " + created + "}, {match: " + claims + "}]", []history.Entry{pod(1, "p")}, checker.Unknown, "cut off"},
		{"noSequence: [{match: " + created + "}, {match: {source: node, verb: register}}]", run(9, pod(1, "p")), checker.Valid, ""},
		{"noSequence: [{match: {source: node, verb: register}}, {match: " + created + "}]", run(9, pod(1, "p")), checker.Unknown, "no event from the source node"},
		{"happens: {source: api, name: {matches: 'web-[a-z]+'}}", run(9, pod(1, "web-a")), checker.Valid, ""},
		{"happens: {source: api, name: {matches: 'web-[a-z]+'}}", run(9, pod(1, "web-a-b"), pod(2, "my-web-a")), checker.Invalid, "0 times"},
		{"sequence: [{match: " + created + ", capture: {pod: name}}, {match: {source: api, name: 'x-${pod}'}}]", run(9, pod(1, "p"), pod(2, "x-p")), checker.Valid, ""},
		{"sequence: [{match: " + created + ", capture: {pod: name}}, {match: {source: api, name: 'x-${pod}'}}]", run(9, pod(1, "p"), pod(2, "x-q")), checker.Invalid, "is not in the history"},

		{"throughout: {" + sizeOf + ", atMost: 3}", run(9, size(1, "a", 3), size(2, "b", 9)), checker.Valid, ""},
		{"throughout: {" + sizeOf + ", atMost: 3}", run(9, size(1, "a", 3), size(2, "a", 4)), checker.Invalid, `detail.to of "log target nodegroups a" is 4`},
		{"throughout: {" + sizeOf + ", below: 3}", run(9, size(1, "a", 3)), checker.Invalid, "is 3"},
		{"throughout: {" + sizeOf + ", atLeast: 3}", run(9, size(1, "a", 2)), checker.Invalid, "is 2"},
		{"throughout: {" + sizeOf + ", above: 3}", run(9, size(1, "a", 3)), checker.Invalid, "is 3"},
		{"throughout: {" + sizeOf + ", atMost: 3}", run(9, size(2, "b", 9)), checker.Invalid, "has detail.to"},
		{"throughout: {" + sizeOf + ", atMost: 3}", []history.Entry{size(1, "a", 3)}, checker.Unknown, "cut off"},
		{"eventually: {" + sizeOf + ", is: 2}", []history.Entry{size(1, "a", 3), size(2, "a", 2)}, checker.Valid, ""},
		{"eventually: {" + sizeOf + ", is: [1, 2]}", run(9, size(1, "a", 3)), checker.Invalid, "is 3"},
		{"finally: {" + sizeOf + ", is: 2}", run(9, size(1, "a", 3), size(2, "a", 2)), checker.Valid, ""},
		{"finally: {" + sizeOf + ", is: 3}", run(9, size(1, "a", 3), size(2, "a", 2)), checker.Invalid, "is 2"},
		{"finally: {" + sizeOf + ", is: 3}\nwithin: 1s", run(9, size(1, "a", 3), size(2, "a", 2)), checker.Valid, ""},
		{"finally: {value: detail.to, of: {source: log}, atMost: 3}\nforEach: [name]", run(9, size(1, "a", 3), size(2, "b", 4), size(3, "a", 1)), checker.Invalid, "of b, "},
		{"finally: {" + tainted + "}", run(9, taints(1, "n1", "x:NoSchedule")), checker.Valid, ""},
		{"finally: {" + tainted + "}", run(9, taints(1, "n1", "x:NoSchedule"), api(2, "delete", "nodes", "n1", nil)), checker.Invalid, "at the end"},
		{"since: " + created + "\nthroughout: {" + tainted + "}\nwithin: 3s", run(9, taints(1, "n1"), taints(2, "n1", "x:NoSchedule"), pod(3, "p"), taints(7, "n1", []string{}...)), checker.Valid, ""},
		{"since: " + created + "\nthroughout: {" + tainted + "}\nwithin: 3s", run(9, taints(1, "n1", "x:NoSchedule"), pod(3, "p"), taints(5, "n1", []string{}...)), checker.Invalid, "is []"},
		{"throughout: {value: verb, of: {source: log}, above: 3}", run(9, size(1, "a", 3)), checker.Invalid, `"target", which is no number`},
		{"sequence: [{match: " + claims + ", count: 2}]", run(9, claim(5, "a"), claim(6, "b")), checker.Valid, ""},
	}
	for i, test := range tests {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			s := parse(t, test.text)
			for j := range test.events {
				test.events[j].Seq = uint64(j + 1)
			}
			found := checker.Find(test.events, s)
			if found.Result != test.want || !strings.Contains(found.Reason, test.reason) || found.Result == checker.Valid && found.Reason != "" {
				t.Fatalf("%s: %+v, want %s with %q", test.text, found, test.want, test.reason)
			}
			inOrder(t, s, test.events, found)
		})
	}
}

// An order that was broken is not kept by what comes in order afterwards.
func TestBrokenOrder(t *testing.T) {
	s := parse(t, "first: {source: api, verb: create, resource: pods}\nthen: {source: api, verb: create, resource: nodeclaims}")
	events := []history.Entry{claim(5, "a"), api(6, "create", "pods", "p", nil), claim(7, "b"), ended(9)}
	for i := range events {
		events[i].Seq = uint64(i + 1)
	}
	for how, found := range map[string]checker.Finding{"stored": checker.Find(events, s), "as they arrive": watched(s, events)} {
		if found.Result != checker.Invalid || !strings.Contains(found.Reason, "with none of") {
			t.Errorf("%s: %+v", how, found)
		}
	}
}

// inOrder compares the finding with those of the same events when they arrive in other
// orders than they happened, and with those of their beginnings: what is decided stays.
func inOrder(t *testing.T, s checker.Statement, events []history.Entry, want checker.Finding) {
	t.Helper()
	late := slices.Clone(events)
	slices.Reverse(late)
	if s.Within == 0 || s.Since != nil { // else the monitor does not learn what is too late
		for _, order := range [][]history.Entry{events, late} {
			if got := watched(s, order); got.Result != want.Result && want.Result != checker.Unknown {
				t.Errorf("as the events arrive: %+v, want %+v", got, want)
			}
		}
	}
	last := events[len(events)-1]
	for n := range events {
		if got := checker.Find(events[:n], s); got.Result != checker.Unknown && got.Result != want.Result && last.Verb == history.Ended {
			t.Errorf("of the first %d events it is %+v, and of all %+v", n, got, want)
		}
	}
}

// watched is what a monitor finds that takes each event when it arrives.
func watched(s checker.Statement, arriving []history.Entry) checker.Finding {
	m, end := s.Monitor(), time.Duration(0)
	for _, r := range arriving {
		end = max(end, r.Virtual)
		if f, decided := m.Add(r, true); decided {
			return f
		}
	}
	return m.FindingAt(end)
}

// An event of before the beginning shows only how a state is.
func TestMonitorBegins(t *testing.T) {
	early := []history.Entry{claim(1, "a"), size(2, "a", 4)}
	for text, want := range map[string]checker.Result{
		"count: {source: api, resource: nodeclaims}\natMost: 0":                       checker.Valid,
		"happens: {source: api, resource: nodeclaims}":                                checker.Invalid,
		"eventually: {value: detail.to, of: {source: log}, is: 4}":                    checker.Valid,
		"eventually: {value: detail.to, of: {source: log}, is: 4}\nforAny: [name]":    checker.Valid,
		"throughout: {value: detail.to, of: {source: log}, below: 4}":                 checker.Invalid,
		"throughout: {value: detail.to, of: {source: log}, is: 4}\nforEach: [name]":   checker.Valid,
		"finally: {value: detail.to, of: {source: log}, is: 4}":                       checker.Valid,
		"since: {source: log}\nhappens: {source: api}":                                checker.Invalid,
		"throughout: {value: detail.to, of: {source: log, name: b}, is: 4}":           checker.Invalid,
		"throughout: {value: detail.to, of: {source: log, name: {not: a}}, above: 4}": checker.Invalid,
	} {
		s := parse(t, text)
		m := s.Monitor()
		for _, r := range early {
			if f, decided := m.Add(r, false); decided {
				t.Errorf("%s: decided before the beginning: %+v", text, f)
			}
		}
		f, decided := m.Add(ended(3), true)
		if !decided {
			f = m.FindingAt(3 * time.Second)
		}
		if f.Result != want {
			t.Errorf("%s: %+v, want %s", text, f, want)
		}
	}
}

// Of what is only counted it makes no difference in which order it arrives, however much comes late.
func TestLateCounts(t *testing.T) {
	const n = 4000
	for text, want := range map[string]checker.Result{
		fmt.Sprintf("count: {source: api, resource: nodeclaims}\natLeast: %d", n):                checker.Valid,
		fmt.Sprintf("count: {source: api, resource: nodeclaims}\natLeast: %d", n+1):              checker.Invalid,
		fmt.Sprintf("count: {source: api, resource: nodeclaims}\natMost: %d", n-1):               checker.Invalid,
		fmt.Sprintf("count: {source: api, resource: nodeclaims}\natMost: %d\natLeast: %d", n, n): checker.Valid,
	} {
		s := parse(t, text)
		var findings []checker.Finding
		for _, late := range []bool{false, true} {
			m := s.Monitor()
			var f checker.Finding
			decided := false
			for i := 0; i < n && !decided; i++ {
				second := i
				if late {
					second = n - 1 - i
				}
				r := claim(second, fmt.Sprint("claim-", second))
				r.Seq = uint64(second + 1)
				f, decided = m.Add(r, true)
			}
			if !decided {
				f = m.FindingAt(2 * n * time.Second)
			}
			if f.Result != want {
				t.Errorf("%s, late %v: %+v, want %s", text, late, f, want)
			}
			findings = append(findings, f)
		}
		if !slices.Equal(findings[0].Evidence, findings[1].Evidence) {
			t.Errorf("%s: the evidence is %v, and what is late has %v", text, findings[0].Evidence, findings[1].Evidence)
		}
	}
}

// What a damaged history says in other words than by what is not in it holds.
func TestStatementDamaged(t *testing.T) {
	damaged := ended(8)
	damaged.Verb = history.Unreadable
	events := []history.Entry{claim(1, "a"), claim(2, "b"), damaged, ended(9)}
	for text, want := range map[string]checker.Result{
		"count: {source: api, resource: nodeclaims}\natMost: 1":  checker.Invalid,
		"count: {source: api, resource: nodeclaims}\natMost: 2":  checker.Unknown,
		"count: {source: api, resource: nodeclaims}\natLeast: 2": checker.Valid,
		"count: {source: api, resource: nodeclaims}\natLeast: 3": checker.Unknown,
	} {
		for i := range events {
			events[i].Seq = uint64(i + 1)
		}
		if f := checker.Find(events, parse(t, text)); f.Result != want {
			t.Errorf("%s: %+v, want %s", text, f, want)
		}
	}
}
