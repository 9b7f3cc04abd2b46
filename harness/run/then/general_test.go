package then

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"nodestorm/sim/history"
)

func evicted(pod string) history.Event { return api("create", "pods", pod, "subresource", "eviction") }

func byKarpenter(e history.Event) history.Event {
	e.Actor = "karpenter"
	return e
}

// general are Thens in general sentences, what they quote, and of which stories they hold.
var general = []struct {
	then, quotes string
	holds, fails []at
	why          string // they fail
}{
	{`"karpenter" has sent "create" of "nodeclaims" within 1m`, "", set(at{4, byKarpenter(claim("one"))}), set(at{0.5, byKarpenter(claim("one"))}), `"api create nodeclaims by karpenter" was seen 0 times, at least 1 required`},
	{`"karpenter" has ever sent "create" of "nodeclaims" within 1m`, "", set(at{0.5, byKarpenter(claim("one"))}), set(at{4, claim("one")}), "0 times"},
	{`a client has sent "create" of "nodeclaims" 2 times within 1m`, "", set(at{4, claim("one")}, at{5, claim("two")}), set(at{4, claim("one")}, at{70, claim("two")}), "1 time, at least 2 required (event"},
	{`a client never sends "create" of "nodeclaims" within 1m`, "", set(at{0.5, claim("one")}), set(at{4, claim("one")}), "1 time, at most 0 allowed (event 5)"},
	{`a client never sends "create" of "nodeclaims" within 1m`, "", set(at{4, api("patch", "nodeclaims", "one")}), set(), "of what never was nothing holds"},
	{`a client has sent "create" of "nodeclaims" no more than 1 time within 1m`, "", set(at{4, claim("one")}), set(at{4, claim("one")}, at{5, claim("two")}), "2 times, at most 1 allowed (events 5 6)"},
	{`a client has sent "create" of "nodeclaims" at least 2 times within 1m`, "", set(at{4, claim("one")}, at{5, claim("two")}), set(at{4, claim("one")}), "1 time, at least 2 required"},
	{`a client has sent "create" of "nodeclaims" exactly 1 time within 1m`, "", set(at{4, claim("one")}), set(at{4, claim("one")}, at{5, claim("two")}), "2 times, at most 1 allowed"},
	{`a client has sent "create" of "pods/eviction" no more than 1 time in any 10s, for each object, within 1m`, "", set(at{4, evicted("a")}, at{5, evicted("b")}, at{14, evicted("a")}), set(at{4, evicted("a")}, at{13, evicted("a")}), "of pods/default/a, "},
	{`a client has sent "create" of "pods/eviction" no more than 1 time in any 10s, for all objects together, within 1m`, "", set(at{4, evicted("a")}), set(at{4, evicted("a")}, at{13, evicted("b")}), "2 times within 10s, at most 1 allowed"},
	{`a client has sent "create" of "nodeclaims" before "cloud" has recorded "created" of "instances" within 1m`, "", set(at{4, claim("one")}, at{5, server("created", "s")}), set(at{4, server("created", "s")}, at{5, claim("one")}), "came with none of"},
	{`the detail "to" of "nodegroups" "pool1" is "2" within 1m`, "", set(at{0.5, size(2)}), set(at{0.5, size(3)}, at{4, size(4)}), "detail.to of"},
	{`the detail "to" of "nodegroups" "pool1" stays "2" for 1m`, "", set(at{0.5, size(2)}), set(at{0.5, size(2)}, at{4, size(3)}), "is 3 (event"},
	{`1m from now, the detail "to" of "nodegroups" "pool1" has at no time been above 2 since the start`, "", set(at{4, size(2)}), set(at{0.5, size(3)}, at{1.5, size(2)}), "is 3 (event"},
	{`1m from now, the detail "to" of "nodegroups" "pool1" has at no time been below 2 since the start`, "", set(at{4, size(2)}), set(at{4, size(1)}), "is 1 (event"},
	{`this holds:`, "count: {source: api, resource: nodeclaims}\natMost: 1\nwithin: 1m", set(at{4, claim("one")}), set(at{4, claim("one")}, at{5, claim("two")}), "2 times"},
	{`this holds:`, "happens: {source: api, resource: nodeclaims}\never: true", set(at{0.5, claim("one")}), set(at{4, claim("one")}), "0 times"}, // until then
	{`this holds:`, "sequence: [{match: {source: api, resource: nodeclaims}, capture: {claim: name}}, {match: {source: api, resource: nodes, name: $claim}}]", set(at{0.5, claim("a")}, at{1.5, api("patch", "nodes", "a")}), set(at{0.5, claim("a")}, at{1.5, api("patch", "nodes", "b")}), "element 2 of the sequence is not in the history"},
	{`this holds within 1m:`, "sequence: [{match: {source: api, resource: nodeclaims}}, {match: {source: api, resource: nodes}, within: 5s}]", set(at{0.5, claim("a")}, at{4, api("patch", "nodes", "a")}), set(at{0.5, claim("a")}, at{9, api("patch", "nodes", "a")}), "is not in the history"},
	{`this holds within 1m:`, "since: {source: api, verb: create, resource: nodeclaims}\nhappens: {source: api, verb: patch, resource: nodeclaims}\nwithin: 5s\nforEach: [name]",
		set(at{4, claim("a")}, at{5, claim("b")}, at{8, api("patch", "nodeclaims", "a")}, at{9, api("patch", "nodeclaims", "b")}),
		set(at{4, claim("a")}, at{5, claim("b")}, at{8, api("patch", "nodeclaims", "a")}, at{11, api("patch", "nodeclaims", "b")}), "of b, "},
	{`this holds from the file "s.yaml"`, "finally: {value: detail.to, of: {source: log}, is: 2}", set(at{0.5, size(2)}), set(at{0.5, size(3)}), "is 3"},
	{`this holds within 1m from the file "s.yaml"`, "never: {source: api, verb: delete, resource: nodes}", set(at{4, api("patch", "nodes", "a")}), set(at{4, api("delete", "nodes", "a")}), "1 time, at most 0 allowed"},
}

// thenStory is a story whose Then quotes.
func thenStory(then, quotes, status string, recorded float64, events ...at) []history.Entry {
	entries := story(then, status, recorded, events...)
	for i := range entries {
		if s, ok := history.OutcomeOf(entries[i]); ok && s.Role == history.Then && quotes != "" {
			s.Quoted = quotes
			entries[i].Event = s.Event()
		}
	}
	return entries
}

// judgedLive is the outcome of a Then that begins right after the step of before, and the
// second in which a live judge would have decided it.
func judgedLive(t *testing.T, then, quotes string, events []at) (status, why string, second float64) {
	t.Helper()
	o, ok, err := Find(then, quotes)
	if !ok || err != nil {
		t.Fatalf("%s: %t, %v", then, ok, err)
	}
	entries := thenStory(then, quotes, passed, 2, events...)
	own := slices.IndexFunc(entries, func(r history.Entry) bool {
		s, ok := history.OutcomeOf(r)
		return ok && s.Role == history.Then
	})
	j := NewJudge(o, entries[:own])
	second, err = wait(j, slices.Delete(slices.Clone(entries), own, own+1))
	switch {
	case errors.Is(err, ErrUndecided):
		return Undecided, err.Error(), second
	case err != nil:
		return failed, err.Error(), second
	}
	return passed, "", second
}

// wait hands over the events as time passes, as a live run does, until it is decided.
func wait(j *Judge, events []history.Entry) (second float64, err error) {
	for decided, second := false, 2.0; ; {
		at := j.Next()
		for ; len(events) > 0 && events[0].Virtual <= at; events = events[1:] {
			if decided, err = j.Add(events[0]); decided {
				return max(second, events[0].Virtual.Seconds()), err
			}
		}
		second = max(second, at.Seconds())
		if decided, err = j.DecideAt(at); decided {
			return second, err
		}
	}
}

// Each general Then, both ways: as a live judge decides it, and judged again, where it was
// recorded rightly and where on purpose it was not.
func TestGeneralThens(t *testing.T) {
	for _, test := range general {
		for _, want := range []string{passed, failed} {
			events, why := test.holds, ""
			if want == failed {
				events, why = test.fails, test.why
			}
			status, said, second := judgedLive(t, test.then, test.quotes, events)
			if status != want || !strings.Contains(said, why) {
				t.Errorf("%s %s: live %s: %s, want %s with %q", test.then, test.quotes, status, said, want, why)
			}
			agrees(t, test.then, test.quotes, status, second, events)
		}
	}
}

// agrees makes sure that a Then is judged again as it was live.
func agrees(t *testing.T, then, quotes, status string, second float64, events []at) {
	t.Helper()
	_, judged := Rejudge(history.InMemory(thenStory(then, quotes, status, second, events...)))
	if judged.Again != 1 || len(judged.Differences) != 0 {
		t.Errorf("%s %s: %s, and judged again %+v", then, quotes, status, judged)
	}
	other := map[string]string{passed: failed, failed: passed, Undecided: failed}[status]
	again, judged := Rejudge(history.InMemory(thenStory(then, quotes, other, second, events...)))
	if len(judged.Differences) != 1 || outcome(again).Status != status {
		t.Errorf("%s %s: recorded as %s on purpose, and judged again %+v: %+v", then, quotes, other, judged, outcome(again))
	}
}

// A live judgement is the stored one, whatever happens.
func TestGeneralThensOfAnything(t *testing.T) {
	kinds := []func(string) history.Event{
		func(name string) history.Event { return byKarpenter(claim(name)) },
		func(name string) history.Event { return api("patch", "nodeclaims", name) },
		func(name string) history.Event { return api("patch", "nodes", name) },
		func(name string) history.Event { return api("delete", "nodes", name) },
		func(name string) history.Event { return server("created", name) },
		evicted,
		func(name string) history.Event { return size(len(name)) },
	}
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 0))
		events := []at{}
		second := 0.0
		for range 2 + random.IntN(12) {
			second += float64(random.IntN(40)) / 4
			late := float64(random.IntN(2)*random.IntN(12)) / 4 // recorded later than it happened
			event := kinds[random.IntN(len(kinds))]([]string{"a", "b", "ccc"}[random.IntN(3)])
			events = append(events, at{max(0, second-late) + 0.1, event})
		}
		for _, test := range general {
			status, _, decided := judgedLive(t, test.then, test.quotes, set(events...))
			if t.Failed() {
				t.Fatalf("seed %d: %+v", seed, events)
			}
			agrees(t, test.then, test.quotes, status, decided, set(events...))
		}
	}
}
