package events

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nodestorm/harness/cloud"
	_ "nodestorm/harness/cloud/all"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/history/vocabulary"
	"nodestorm/sim/strict"
)

var (
	runs   = flag.String("runs", "", "collect events.ndjson anew, of the runs below this folder")
	update = flag.Bool("update", false, "write the files that are made of the code: make reference does")
)

type counted struct {
	Observed
	details, actors, worlds map[string]int
}

// TestCollect makes the file of what runs have, with -runs. It needs none to be read.
func TestCollect(t *testing.T) {
	if *runs == "" {
		t.Skip("-runs names no folder")
	}
	all := map[string]*counted{}
	err := filepath.WalkDir(*runs, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "history.ndjson" {
			collect(filepath.Dir(path), all)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for _, key := range slices.Sorted(maps.Keys(all)) {
		c := all[key]
		if c.Example.Source == "" { // all were of one machine
			continue
		}
		c.Details, c.Actors, c.Worlds = slices.Sorted(maps.Keys(c.details)), often(c.actors, 6), often(c.worlds, 9)
		line, err := json.Marshal(c.Observed)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
	if err := os.WriteFile("events.ndjson", text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// often are those that were met most.
func often(counts map[string]int, most int) []string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	names = names[:min(most, len(names))]
	slices.Sort(names)
	return names
}

// world is where a run was, as people call it; empty if the folder has no run.
func world(dir string) string {
	var run struct {
		Target struct{ Name, Provider string }
	}
	text, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil || json.Unmarshal(text, &run) != nil {
		return ""
	}
	name, provider := run.Target.Name, run.Target.Provider
	if name == "karpenter" {
		provider = cmp.Or(provider, "kwok")
	}
	switch on := cloud.NamesFor(name); {
	case slices.Contains(on, provider):
		return name + " on " + provider
	case len(on) == 0 && slices.Contains(scenarios.Autoscalers, name):
		return name
	}
	return "" // a cloud of a test's own, or a build for all
}

func collect(dir string, all map[string]*counted) {
	at := world(dir)
	file, err := os.Open(filepath.Join(dir, "history.ndjson"))
	if at == "" || err != nil {
		return
	}
	defer file.Close()
	history.Scan(file, func(r history.Entry) {
		known := r.Source != history.API || slices.Contains(vocabulary.Served(), r.Object.Resource) && vocabulary.IsActor(r.Source, r.Actor)
		if !known || vocabulary.Check(r) != nil {
			return
		}
		key := strings.Join([]string{string(r.Source), r.Verb, r.Object.Resource, PartOf(r)}, " ")
		c := all[key]
		if c == nil {
			c = &counted{details: map[string]int{}, actors: map[string]int{}, worlds: map[string]int{}}
			all[key] = c
		}
		for name := range r.Detail {
			if name != "subresource" {
				c.details[name]++
			}
		}
		if r.Actor != "" && vocabulary.IsActor(r.Source, r.Actor) {
			if strings.HasPrefix(r.Actor, "bootstrap:") {
				r.Actor = "bootstrap:TOKEN" // of which there is one for each machine
			}
			c.actors[r.Actor]++
		}
		c.worlds[at]++
		if better(r, c.Example) {
			r.Seq, r.Virtual, r.Real = 0, 0, 0
			c.Example = r
		}
	})
}

// longest is what an example may have, in bytes.
const longest = 260

// better reports whether a record is a better example: with more details, and short.
func better(r, than history.Entry) bool {
	text, of := pattern(r), pattern(than)
	for _, here := range []string{"/tmp", "/root", "/work", "/home"} { // of one machine
		if strings.Contains(text, here) {
			return false
		}
	}
	switch {
	case than.Source == "":
		return true
	case len(text) > longest || len(of) > longest:
		return len(text) < len(of)
	case len(r.Detail) != len(than.Detail):
		return len(r.Detail) > len(than.Detail)
	case r.Code >= 400 != (than.Code >= 400):
		return r.Code < 400
	}
	return len(text) < len(of) || len(text) == len(of) && text < of
}

// Each event is of the vocabulary, and the pattern that is shown of it is a good one, which it matches.
func TestEvents(t *testing.T) {
	decoder := json.NewDecoder(bytes.NewReader(stored))
	lines := 0
	for decoder.More() {
		var s Observed
		if err := decoder.Decode(&s); err != nil {
			t.Fatal(err)
		}
		lines++
		if err := vocabulary.Check(s.Example); err != nil {
			t.Error(err)
		}
		e := s.event()
		var p checker.Pattern
		if err := strict.Unmarshal([]byte(e.Pattern), &p); err != nil {
			t.Errorf("%s: %v", e.Pattern, err)
			continue
		}
		if err := p.Check(); err != nil {
			t.Errorf("%s: %v", e.Pattern, err)
		}
		if s.Example.Code < 400 && !p.Matches(s.Example) {
			t.Errorf("%s does not match its event %+v", e.Pattern, s.Example)
		}
		for _, d := range e.Details {
			if d.Form == "" {
				t.Errorf("%s: the detail %s has no form", e.Pattern, d.Name)
			}
		}
		if len(e.Actors) == 0 && s.Example.Actor != "" || len(e.Worlds) == 0 {
			t.Errorf("%s: actors %q, worlds %q", e.Pattern, e.Actors, e.Worlds)
		}
	}
	if lines < 100 {
		t.Errorf("%d lines", lines)
	}
}

// Whatever the vocabulary has is listed.
func TestAllOfTheVocabulary(t *testing.T) {
	for _, source := range history.Sources() {
		for _, verb := range vocabulary.Verbs(source) {
			if !slices.ContainsFunc(All(), func(e Event) bool { return e.Source == source && e.Verb == verb }) {
				t.Errorf("%s %s is not listed", source, verb)
			}
		}
	}
}

func TestSearch(t *testing.T) {
	found, err := Search([]string{"interrupted"})
	if err != nil || found[0].Source != history.Cloud || found[0].Resource != "instances" {
		t.Errorf("%+v, %v", found, err)
	}
	found, err = Search([]string{"nodeclaim", "DELETE"})
	if err != nil || len(found) == 0 || found[0].Resource != "nodeclaims" || found[0].Verb != "delete" {
		t.Errorf("%+v, %v", found, err)
	}
	for words, want := range map[string]string{
		"interupted":          `no event has the word "interupted", did you mean "interrupted"?`,
		"instence":            `did you mean "instance"?`,
		"interrupted kubectl": "no event has all the words interrupted kubectl",
	} {
		if _, err := Search(strings.Fields(words)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", words, err, want)
		}
	}
}

// TestReferenceEvents keeps the page in step with the vocabulary and the stored events.
func TestReferenceEvents(t *testing.T) {
	const page = "../../../docs/reference/events.md"
	if *update {
		if err := os.WriteFile(page, Page(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(page); err != nil || !bytes.Equal(text, Page()) {
		t.Errorf("%s is not what the code says, %v: run make reference", page, err)
	}
}
