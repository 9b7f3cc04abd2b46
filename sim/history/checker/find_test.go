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

// secondClaim is a symptom like the catalogue's: a second NodeClaim while the
// first one's Node has a taint and the pod is not bound.
const secondClaim = `
statement: a second NodeClaim is created while the first one's Node is tainted
sequence:
  - as: pod
    match: {source: api, verb: create, resource: pods, detail: {subresource: {exists: false}}}
    capture: {pod: name}
  - as: first claim
    match: {source: api, verb: create, resource: nodeclaims, actor: karpenter}
    capture: {claim: name}
  - match: {source: api, verb: [patch, update], resource: nodeclaims, name: $claim}
    capture: {node: detail.nodeName}
  - as: second claim
    match: {source: api, verb: create, resource: nodeclaims, actor: karpenter, name: {not: $claim}}
    while:
      - {source: api, resource: nodes, name: $node, detail: {taints: {contains: "a:NoExecute"}}}
    within: 15m
    absent:
      - {since: pod, source: api, verb: create, resource: pods, name: $pod, code: [200, 201], detail: {subresource: binding}}
`

func parse(t *testing.T, text string) checker.Statement {
	t.Helper()
	var symptom checker.Statement
	if err := strict.Unmarshal([]byte(text), &symptom); err != nil {
		t.Fatal(err)
	}
	if err := symptom.Check(); err != nil {
		t.Fatal(err)
	}
	return symptom
}

type detail = map[string]any

// The events of the hand-written histories. Seconds are virtual.

func api(second int, verb, resource, name string, d detail) history.Entry {
	actor := map[string]string{"nodeclaims": "karpenter", "nodes": "node-controller", "pods": "kube-scheduler"}[resource]
	return history.Entry{Virtual: time.Duration(second) * time.Second, Event: history.Event{
		Source: history.API, Verb: verb, Object: history.Object{Resource: resource, Name: name}, Actor: actor, Code: 200, Detail: d}}
}

func taints(second int, node string, list ...string) history.Entry {
	return api(second, "patch", "nodes", node, detail{"taints": list}) // []string, as live
}

func bind(second int, pod, node string) history.Entry {
	return api(second, "create", "pods", pod, detail{"subresource": "binding", "node": node})
}

func ended(second int) history.Entry {
	return history.Entry{Virtual: time.Duration(second) * time.Second, Event: history.Event{Source: history.Harness, Verb: history.Ended}}
}

func unreadable(second int) history.Entry {
	return history.Entry{Virtual: time.Duration(second) * time.Second, Event: history.Event{Source: history.Harness, Verb: history.Unreadable}}
}

func refused(r history.Entry) history.Entry {
	r.Code = 409
	return r
}

// numbered gives the events their Seq, from 1 in the order given.
func numbered(events ...history.Entry) []history.Entry {
	for i := range events {
		events[i].Seq = uint64(i + 1)
	}
	return events
}

// story is a history up to the moment of the second claim, then the rest.
func story(rest ...history.Entry) []history.Entry {
	return numbered(append([]history.Entry{
		api(1, "create", "pods", "web", nil),
		api(2, "create", "nodeclaims", "claim-1", nil),
		api(3, "patch", "nodeclaims", "claim-1", detail{"nodeName": "node-1"}),
		taints(4, "node-1", "b:NoSchedule", "a:NoExecute"),
	}, rest...)...)
}

func TestFind(t *testing.T) {
	second := api(20, "create", "nodeclaims", "claim-2", nil)
	tests := []struct {
		name     string
		events   []history.Entry
		want     checker.Result
		evidence []uint64
		reason   string
	}{
		{"there", story(second, ended(30)), checker.Valid, []uint64{1, 2, 3, 4, 5}, ""},
		{"there in a history that is cut off", story(second), checker.Valid, []uint64{1, 2, 3, 4, 5}, ""},
		{"there, though a claim was refused", story(refused(api(5, "create", "nodeclaims", "x", nil)), second, ended(30)), checker.Valid, []uint64{1, 2, 3, 4, 6}, ""},
		{"there, recorded late", numbered(ended(30), second, taints(4, "node-1", "a:NoExecute"), api(3, "patch", "nodeclaims", "claim-1", detail{"nodeName": "node-1"}),
			api(2, "create", "nodeclaims", "claim-1", nil), api(1, "create", "pods", "web", nil)), checker.Valid, []uint64{6, 5, 4, 3, 2}, ""},
		{"one claim", story(ended(1000)), checker.Invalid, nil, `"second claim" is not in the history after event 3`},
		{"second claim refused", story(refused(second), ended(30)), checker.Invalid, nil, `"second claim"`},
		{"taint gone", story(taints(10, "node-1", "b:NoSchedule"), second, ended(30)), checker.Invalid, nil, `"second claim"`},
		{"taint on another node", numbered(api(1, "create", "pods", "web", nil), api(2, "create", "nodeclaims", "claim-1", nil),
			api(3, "patch", "nodeclaims", "claim-1", detail{"nodeName": "node-1"}), taints(4, "node-2", "a:NoExecute"), second, ended(30)), checker.Invalid, nil, `"second claim"`},
		{"a later patch without taints", story(api(5, "patch", "nodes", "node-1", detail{"ready": "True"}), second, ended(30)), checker.Valid, []uint64{1, 2, 3, 4, 6}, ""},
		{"node deleted", story(api(10, "delete", "nodes", "node-1", nil), second, ended(30)), checker.Invalid, nil, `"second claim"`},
		{"pod bound before", story(bind(10, "web", "node-1"), second, ended(30)), checker.Invalid, nil, `"second claim"`},
		{"binding refused", story(refused(bind(10, "web", "node-1")), second, ended(30)), checker.Valid, []uint64{1, 2, 3, 4, 6}, ""},
		{"other pod bound", story(bind(10, "db", "node-1"), second, ended(30)), checker.Valid, []uint64{1, 2, 3, 4, 6}, ""},
		{"too late", story(api(1000, "create", "nodeclaims", "claim-2", nil), ended(2000)), checker.Invalid, nil, `"second claim"`},
		{"nothing happened", numbered(api(1, "create", "pods", "web", nil), ended(30)), checker.Invalid, nil, `"first claim" is not in the history after event 1`},
		{"one claim and cut off", story(), checker.Unknown, nil, "cut off at 4s"},
		{"one claim and a gap", story(unreadable(10), ended(30)), checker.Unknown, nil, "could not be read, see event 5"},
		{"there and a gap", story(unreadable(10), second, ended(30)), checker.Unknown, []uint64{1, 2, 3, 4, 6}, "could not be read"},
		{"no event from the source", numbered(ended(30)), checker.Unknown, nil, "no event from the source api"},
		{"empty", nil, checker.Unknown, nil, "cut off at 0s"},
	}
	symptom := parse(t, secondClaim)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := checker.Find(test.events, symptom)
			if got.Result != test.want || !slices.Equal(got.Evidence, test.evidence) || !strings.Contains(got.Reason, test.reason) || (test.reason == "") != (got.Reason == "") {
				t.Errorf("got %+v, want %s, evidence %v, reason %q", got, test.want, test.evidence, test.reason)
			}
			if got.Statement != symptom.Statement {
				t.Errorf("statement %q", got.Statement)
			}
		})
	}
}

// A Node that is gone is in no state any more, also for a pattern that asks for changes of it alone.
func TestFindAfterADeletion(t *testing.T) {
	symptom := parse(t, strings.Replace(secondClaim, "resource: nodes, name", "verb: [patch, update], resource: nodes, name", 1))
	for name, test := range map[string]struct {
		between []history.Entry
		want    checker.Result
	}{
		"it is there": {nil, checker.Valid},
		"it is gone":  {[]history.Entry{api(10, "delete", "nodes", "node-1", nil)}, checker.Invalid},
	} {
		events := story(append(test.between, api(20, "create", "nodeclaims", "claim-2", nil), ended(30))...)
		if got := checker.Find(events, symptom); got.Result != test.want {
			t.Errorf("%s: %+v, want %s", name, got, test.want)
		}
	}
}

func TestFindIsTheSameLiveAndRead(t *testing.T) {
	live := story(api(20, "create", "nodeclaims", "claim-2", nil), ended(30))
	read := slices.Clone(live)
	for i, r := range read {
		if list, ok := r.Detail["taints"].([]string); ok {
			var items []any
			for _, item := range list {
				items = append(items, item)
			}
			read[i].Detail = detail{"taints": items}
		}
	}
	symptom := parse(t, secondClaim)
	if a, b := checker.Find(live, symptom), checker.Find(read, symptom); a.Result != b.Result || !slices.Equal(a.Evidence, b.Evidence) {
		t.Errorf("live %v, read %v", a, b)
	}
	if _, ok := live[3].Detail["taints"].([]string); !ok {
		t.Error("Find changed the caller's events")
	}
}

// A quiet span: a node that stays NotReady for five minutes, and is then given up.
const neverReady = `
statement: the node is not Ready for 5m and is terminated
sequence:
  - as: registered
    match: {source: node, verb: register}
    capture: {node: name}
  - absent: [{source: node, verb: ready, name: $node}]
    for: 5m
  - match: {source: node, verb: terminated, name: $node}
`

// A count: three creates within a minute.
const burst = `
statement: three NodeClaims within a minute
sequence:
  - match: {source: api, verb: create, resource: nodeclaims}
    count: 3
    within: 1m
`

func node(second int, verb, name string) history.Entry {
	return history.Entry{Virtual: time.Duration(second) * time.Second, Event: history.Event{
		Source: history.Node, Verb: verb, Object: history.Object{Resource: "nodes", Name: name}}}
}

func TestFindQuietSpansAndCounts(t *testing.T) {
	claim := func(second int) history.Entry { return api(second, "create", "nodeclaims", "c", nil) }
	gone := func(name string) history.Entry { return node(350, "terminated", name) }
	tests := []struct {
		name, symptom string
		events        []history.Entry
		want          checker.Result
	}{
		{"quiet", neverReady, numbered(node(1, "register", "a"), gone("a"), ended(400)), checker.Valid},
		{"quiet, and nothing comes of it", neverReady, numbered(node(1, "register", "a"), gone("b"), ended(400)), checker.Invalid},
		{"quiet until later", neverReady, numbered(node(1, "register", "a"), node(302, "ready", "a"), gone("a"), ended(400)), checker.Valid},
		{"quiet apart from others", neverReady, numbered(node(1, "register", "a"), node(9, "ready", "b"), gone("a"), ended(400)), checker.Valid},
		{"not quiet", neverReady, numbered(node(1, "register", "a"), node(9, "ready", "a"), gone("a"), ended(400)), checker.Invalid},
		{"one of two quiet", neverReady, numbered(node(1, "register", "a"), node(2, "register", "b"), node(9, "ready", "a"), gone("a"), gone("b"), ended(400)), checker.Valid},
		{"the run was too short", neverReady, numbered(node(1, "register", "a"), ended(300)), checker.Unknown},
		{"quiet with a gap", neverReady, numbered(node(1, "register", "a"), unreadable(9), gone("a"), ended(400)), checker.Unknown},
		{"three", burst, numbered(claim(100), claim(130), claim(160), ended(400)), checker.Valid},
		{"three after a first one", burst, numbered(claim(1), claim(100), claim(130), claim(160), ended(400)), checker.Valid},
		{"two", burst, numbered(claim(100), claim(130), ended(400)), checker.Invalid},
		{"three in more than a minute", burst, numbered(claim(100), claim(130), claim(161), ended(400)), checker.Invalid},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := checker.Find(test.events, parse(t, test.symptom)); got.Result != test.want {
				t.Errorf("got %v, want %s", got, test.want)
			}
		})
	}
}

// What is absent was not even tried, unless the pattern says which answers count.
func TestAbsentIsNotTried(t *testing.T) {
	const without = `
statement: the claim is given up without a try to launch it
sequence:
  - match: {source: api, verb: create, resource: nodeclaims}
  - match: {source: api, verb: delete, resource: nodeclaims}
    absent: [{source: cloud, verb: "POST /servers"%s}]
`
	launch := func(code int) history.Entry {
		return history.Entry{Virtual: 2 * time.Second, Event: history.Event{Source: history.Cloud, Verb: "POST /servers", Code: code}}
	}
	claims := []history.Entry{api(1, "create", "nodeclaims", "c", nil), api(3, "delete", "nodeclaims", "c", nil), ended(4)}
	tests := []struct {
		code   string
		events []history.Entry
		want   checker.Result
	}{
		{"", claims, checker.Valid},
		{"", append(slices.Clone(claims), launch(201)), checker.Invalid},
		{"", append(slices.Clone(claims), launch(412)), checker.Invalid},
		{"", append(slices.Clone(claims), launch(0)), checker.Invalid},
		{", code: 201", append(slices.Clone(claims), launch(201)), checker.Invalid},
		{", code: 201", append(slices.Clone(claims), launch(412)), checker.Valid},
		{", code: 412", append(slices.Clone(claims), launch(412)), checker.Invalid},
	}
	for _, test := range tests {
		symptom := parse(t, fmt.Sprintf(without, test.code))
		if got := checker.Find(numbered(test.events...), symptom); got.Result != test.want {
			t.Errorf("absent%s with %v: got %v, want %s", test.code, test.events[len(test.events)-1].Event, got, test.want)
		}
	}
}

func TestFindGivesUp(t *testing.T) {
	// Any three claims of 3000, and then an event that is never there.
	var events []history.Entry
	for i := range 3000 {
		events = append(events, api(i, "create", "nodeclaims", "c", nil))
	}
	events = numbered(append(events, ended(5000))...)
	element := "  - match: {source: api, verb: create, resource: nodeclaims}\n"
	symptom := parse(t, "statement: s\nsequence:\n"+strings.Repeat(element, 3)+"  - match: {source: api, verb: delete}\n")
	got := checker.Find(events, symptom)
	if got.Result != checker.Unknown || !got.GaveUp || !strings.Contains(got.Reason, "too many events") {
		t.Errorf("got %v", got)
	}
}

// A place that nothing is found from is not searched again on another way to it; what is captured, and since when something
// is absent, makes it another place.
func TestDeadEnds(t *testing.T) {
	claim := func(second int, name, node string) history.Entry {
		return api(second, "create", "nodeclaims", name, detail{"nodeName": node})
	}
	var pairs []history.Entry
	for i := range 100 {
		pairs = append(pairs, claim(2*i, "c", "n"), api(2*i+1, "delete", "nodeclaims", "c", nil))
	}
	const pair = "  - match: {source: api, verb: create, resource: nodeclaims}\n  - match: {source: api, verb: delete, resource: nodeclaims}\n"
	for _, test := range []struct {
		name, sequence string
		events         []history.Entry
		want           checker.Result
	}{
		{"eight pairs of a hundred, and what never comes", strings.Repeat(pair, 8) + "  - match: {source: api, verb: create, resource: nodes}\n", pairs, checker.Invalid},
		{"the second of two that lead to one event", `
  - match: {source: api, verb: create, resource: nodeclaims}
    capture: {node: detail.nodeName}
  - match: {source: api, verb: delete, resource: pods}
  - match: {source: api, verb: patch, resource: nodes, name: $node}
`, []history.Entry{claim(1, "a", "one"), claim(2, "b", "two"), api(3, "delete", "pods", "p", nil), taints(4, "two")}, checker.Valid},
		{"since the second of two that lead to one event", `
  - as: made
    match: {source: api, verb: create, resource: nodeclaims}
  - match: {source: api, verb: delete, resource: pods}
  - match: {source: api, verb: patch, resource: nodes}
    absent: [{since: made, source: api, verb: delete, resource: nodeclaims}]
`, []history.Entry{claim(1, "a", "one"), api(2, "delete", "nodeclaims", "a", nil), claim(3, "b", "two"), api(4, "delete", "pods", "p", nil), taints(5, "two")}, checker.Valid},
	} {
		events := numbered(append(test.events, ended(1000))...)
		if got := checker.Find(events, parse(t, "statement: s\nsequence:\n"+test.sequence)); got.Result != test.want {
			t.Errorf("%s: got %v, want %s", test.name, got, test.want)
		}
	}
}
