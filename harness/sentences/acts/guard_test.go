package acts

import (
	"slices"
	"testing"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/strict"
)

// An invariant is reported as broken by the record that breaks it, once.
func TestGuards(t *testing.T) {
	list := make([]checker.Statement, 2)
	for i, text := range []string{"count: {source: api, verb: create, resource: nodeclaims}\natMost: 1",
		"never: {source: api, verb: delete, resource: nodes}"} {
		if err := strict.Unmarshal([]byte(text), &list[i]); err != nil {
			t.Fatal(err)
		}
	}
	api := func(verb, resource, name string) history.Event {
		return history.Event{Source: history.API, Verb: verb, Object: history.Object{Resource: resource, Name: name}, Code: 200}
	}
	claim := func(name string) history.Event { return api("create", "nodeclaims", name) }
	open := guards(list)
	var evidence []uint64
	for i, e := range []history.Event{claim("a"), api("patch", "nodes", "n"), claim("b"), claim("c"), api("delete", "nodes", "n")} {
		for _, broken := range open.take(history.Entry{Seq: uint64(i + 1), Virtual: time.Duration(i), Event: e}) {
			evidence = append(evidence, broken.Evidence...)
		}
	}
	if want := []uint64{1, 3, 5}; !slices.Equal(evidence, want) || len(open) != 0 {
		t.Errorf("reported %v, want %v; %d still open", evidence, want, len(open))
	}
}
