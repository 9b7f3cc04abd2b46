// Package events lists what histories have: which events there are, with what details, who writes them and in which worlds. What can
// be said is from sim/history/vocabulary, which patterns are checked against. Who writes it, where, and the examples are from
// stored runs: see the package's test, which collects them.
package events

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
	"nodestorm/sim/strict"
)

// Observed is what stored runs have of an event: one line of events.ndjson.
type Observed struct {
	Example history.Entry `json:"example"`
	Details []string      `json:"details,omitempty"`
	Actors  []string      `json:"actors,omitempty"`
	Worlds  []string      `json:"worlds,omitempty"`
}

// Event is one that a history can have.
type Event struct {
	Source   history.Source `json:"source"`
	Verb     string         `json:"verb"`
	Resource string         `json:"resource,omitempty"`
	// Part is the part of an object that a call is about, as eviction of pods.
	Part    string   `json:"subresource,omitempty"`
	Details []Detail `json:"details,omitempty"`
	// Actors are who was seen to write it, Worlds where: both are empty of what no stored run has.
	Actors []string `json:"actors,omitempty"`
	Worlds []string `json:"worlds,omitempty"`
	// Pattern is an event of a stored run, as a pattern in YAML that it matches.
	Pattern string `json:"pattern,omitempty"`
}

// Detail is one that the event can have.
type Detail struct {
	Name string          `json:"name"`
	Form vocabulary.Form `json:"form"`
}

//go:embed events.ndjson
var stored []byte

// All are the events, by source and verb: those that runs have, and then the others of the vocabulary.
var All = sync.OnceValue(func() (all []Event) {
	decoder := json.NewDecoder(bytes.NewReader(stored))
	seen := map[history.Source]map[string]bool{}
	for decoder.More() {
		var s Observed
		if err := decoder.Decode(&s); err != nil {
			panic(err) // it is part of the program
		}
		all = append(all, s.event())
		if seen[s.Example.Source] == nil {
			seen[s.Example.Source] = map[string]bool{}
		}
		seen[s.Example.Source][s.Example.Verb] = true
	}
	for _, source := range history.Sources() {
		for _, verb := range vocabulary.Verbs(source) {
			if !seen[source][verb] {
				about := vocabulary.ResourcesOf(source, verb)
				if len(about) == 0 {
					about = []string{""}
				}
				for _, resource := range about {
					all = append(all, unseen(source, verb, resource))
				}
			}
		}
	}
	sources := history.Sources()
	slices.SortStableFunc(all, func(a, b Event) int {
		if by := slices.Index(sources, a.Source) - slices.Index(sources, b.Source); by != 0 {
			return by
		}
		return strings.Compare(a.Verb+" "+a.Resource, b.Verb+" "+b.Resource)
	})
	return all
})

// unseen is what no stored run has: it may have any detail of its source.
func unseen(source history.Source, verb, resource string) Event {
	e := Event{Source: source, Verb: verb, Resource: resource}
	for _, name := range vocabulary.Details(source) {
		e.Details = append(e.Details, Detail{name, vocabulary.FormOf(source, name)})
	}
	e.Pattern = pattern(history.Entry{Event: history.Event{Source: source, Verb: verb, Object: history.Object{Resource: resource}}})
	return e
}

func (s Observed) event() Event {
	e := Event{Source: s.Example.Source, Verb: s.Example.Verb, Resource: s.Example.Object.Resource, Actors: s.Actors, Worlds: s.Worlds,
		Part: PartOf(s.Example), Pattern: pattern(s.Example)}
	for _, name := range s.Details {
		e.Details = append(e.Details, Detail{name, vocabulary.FormOf(e.Source, name)})
	}
	return e
}

// PartOf is the part of an object that a call to the API server is about; empty: the object.
func PartOf(r history.Entry) string {
	part, _ := r.Detail["subresource"].(string)
	if r.Source != history.API {
		return ""
	}
	return part
}

// pattern is one that the record matches, in a line of YAML.
func pattern(r history.Entry) string {
	node := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	add := func(to *yaml.Node, key string, value any) {
		var v yaml.Node
		if err := v.Encode(value); err == nil && v.Value+fmt.Sprint(len(v.Content)) != "0" {
			to.Content = append(to.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, &v)
		}
	}
	for _, f := range []struct{ name, value string }{
		{"source", string(r.Source)}, {"verb", r.Verb}, {"resource", r.Object.Resource}, {"namespace", r.Object.Namespace},
		{"name", r.Object.Name}, {"actor", r.Actor},
	} {
		add(node, f.name, f.value)
	}
	if r.Code != 0 {
		add(node, "code", r.Code)
	}
	detail := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range sortedKeys(r.Detail) {
		switch value := r.Detail[name].(type) {
		case []any:
			if len(value) > 0 {
				add(detail, name, map[string]any{"contains": value[0]})
			}
		case map[string]any:
			for _, part := range sortedKeys(value) {
				add(detail, name+"."+part, value[part])
			}
		default:
			add(detail, name, value)
		}
	}
	if len(detail.Content) > 0 {
		node.Content = append(node.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "detail"}, detail)
	}
	text, err := yaml.Marshal(node)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func sortedKeys(m map[string]any) (keys []string) {
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// Search are the events that have all the words: in their source, verb, resource, its name for people, details, actors or worlds. Its
// error says which word is like which.
func Search(words []string) (found []Event, err error) {
	for _, e := range All() {
		if !slices.ContainsFunc(words, func(word string) bool { return !e.mentions(strings.ToLower(word)) }) {
			found = append(found, e)
		}
	}
	if len(found) > 0 {
		slices.SortStableFunc(found, func(a, b Event) int { return min(len(b.Worlds), 1) - min(len(a.Worlds), 1) }) // those that runs have first
		return found, nil
	}
	for _, word := range words {
		if !slices.ContainsFunc(All(), func(e Event) bool { return e.mentions(strings.ToLower(word)) }) {
			return nil, fmt.Errorf("no event has the word %q%s; nodestorm events lists all", word, strict.Meant(strings.ToLower(word), Words()))
		}
	}
	return nil, fmt.Errorf("no event has all the words %s; nodestorm events lists all", strings.Join(words, " "))
}

func (e Event) words() []string {
	all := []string{string(e.Source), e.Verb, e.Resource, e.Part, vocabulary.Kind(e.Resource)}
	for _, d := range e.Details {
		all = append(all, d.Name)
	}
	return slices.Concat(all, e.Actors, e.Worlds)
}

func (e Event) mentions(word string) bool {
	return slices.ContainsFunc(e.words(), func(w string) bool { return strings.Contains(strings.ToLower(w), word) })
}

// Words are those that events can be searched by.
func Words() (words []string) {
	for _, e := range All() {
		words = append(words, e.words()...)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// Subject is what the event is about, as people read it.
func (e Event) Subject() string {
	switch {
	case e.Part != "":
		return e.Resource + "/" + e.Part
	case e.Resource == "":
		return "-"
	}
	return e.Resource
}
