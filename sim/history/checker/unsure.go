package checker

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
)

// unsure is something that a pattern asks for and no vocabulary has, so that it may be misspelt: a resource of the scenario's
// own, or a part of a detail. That it never was, or is absent, says something where an event shows that there is such a
// thing, whatever its values. All else that truly does not happen has its words in the vocabulary, and no need of that.
type unsure struct {
	shows func(*history.Entry) bool
	why   string // why the answer is unknown if there is no such event
	seen  bool
}

// unsures are those of a statement that it rests on where it holds.
func (s *Statement) unsures() (all []*unsure) {
	absent := []*Pattern{s.Never}
	if s.AtLeast == nil {
		absent = append(absent, s.Count)
	}
	for i := range s.elements() {
		e := &s.elements()[i]
		for k := range e.Absent {
			absent = append(absent, &e.Absent[k].Pattern)
		}
		if s.NoSequence != nil {
			absent = append(absent, e.Match)
		}
	}
	for _, p := range absent {
		if p != nil {
			all = append(all, p.unsures()...)
		}
	}
	_ = s.EachPattern(func(p *Pattern) error {
		if slices.Contains(absent, p) {
			return nil
		}
		for _, key := range slices.Sorted(maps.Keys(p.Detail)) {
			// What must not be there, or be another, fits where nothing is.
			if v := p.Detail[key]; v.op == "not" || v.op == "exists" && v.values[0] == "false" {
				all = append(all, p.unsureOf(key)...)
			}
		}
		return nil
	})
	return all
}

// unsures are those of a pattern of what is not to be there.
func (p *Pattern) unsures() (all []*unsure) {
	for _, word := range p.Resource.Plain() {
		if p.Source.onlyHas(string(history.API)) && p.Resource.op != "not" && !slices.Contains(vocabulary.Served(), word) {
			all = append(all, &unsure{
				shows: func(r *history.Entry) bool { return serves(r, word) },
				why: fmt.Sprintf("no call is on the resource %q, which nodestorm does not know, nor is one defined: if it is misspelt, this holds "+
					"of nothing", word),
			})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.Detail)) {
		all = append(all, p.unsureOf(key)...)
	}
	return all
}

// serves reports whether an event shows that an API server has a resource: it is about one, or about its definition.
func serves(r *history.Entry, resource string) bool {
	of := r.Object
	return r.Source == history.API && (of.Resource == resource ||
		of.Resource == vocabulary.Definitions && strings.HasPrefix(of.Name, resource+"."))
}

// unsureOf is that of a part of a detail, none where the vocabulary has it.
func (p *Pattern) unsureOf(key string) []*unsure {
	name, part, parted := strings.Cut(key, ".")
	if !parted || len(p.sources()) == 0 || slices.Contains(vocabulary.Parts(name), part) {
		return nil
	}
	return []*unsure{{
		shows: func(r *history.Entry) bool { return p.Source.match(string(r.Source), nil) && detail(r, key) != nil },
		why: fmt.Sprintf("no event %s has the detail %q, which nodestorm does not know: if it is misspelt, this holds of nothing", p.ofSource(),
			key),
	}}
}

// look notes what an event shows to be there.
func look(all []*unsure, r *history.Entry) {
	for _, u := range all {
		u.seen = u.seen || u.shows(r)
	}
}

// unseen is why the answer is unknown, "" if it is known.
func unseen(all []*unsure) string {
	for _, u := range all {
		if !u.seen {
			return u.why
		}
	}
	return ""
}

// weigh is a finding with what is unsure of it: a statement that holds may hold of nothing, and one of what never was may not
// be the target's fault.
func (s *Statement) weigh(f Finding, all []*unsure) Finding {
	negative := s.Never != nil || s.NoSequence != nil || s.Count != nil && s.AtLeast == nil
	// mutant: what is misspelt is absent
	if why := unseen(all); why != "" && (f.Result == Valid || f.Result == Invalid && negative && len(f.Evidence) == 0) {
		f.Result, f.Reason, f.Hollow = Unknown, why, true
	}
	return f
}
