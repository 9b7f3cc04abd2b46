package checker

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"nodestorm/sim/history"
)

// effort bounds how many events a search compares, so that a sequence with many
// possible assignments ends as Unknown after about a second and not hours.
const effort = 2_000_000

// Find judges the statement, which Check has found right, by the events, in whatever
// order they are. Valid means that it holds: of a sequence, that it is there, with its
// events and those of While as evidence.
func Find(events []history.Entry, s Statement) Finding {
	return Prepare(events).Find(s)
}

// Prepared is a history in which many statements are looked for, one after the other.
type Prepared struct {
	events   []history.Entry
	complete completeness
}

// Prepare gets the events, in whatever order they are, ready for searches.
func Prepare(events []history.Entry) Prepared {
	events = prepare(events)
	return Prepared{events, completenessOf(events)}
}

// Find is the function Find on this history.
func (p Prepared) Find(s Statement) Finding {
	f := NewFinder(s)
	for _, r := range p.events {
		f.Add(r)
	}
	return f.Finding(Completeness{p.complete})
}

// sequence finds that a sequence is there, or that none is; there says whether something is
// that the first of its events would be about.
func (p Prepared) sequence(s Statement, there bool) Finding {
	found := p.search(s)
	switch {
	case s.NoSequence == nil:
	case found.Result == Valid:
		// mutant: a sequence that is there is none
		found.Result, found.Reason = Invalid, "the sequence is in the history"
	case found.Result == Invalid && !there:
		found.Reason = fmt.Sprintf("nothing in the history is about %q: of what never was nothing holds", s.aboutFirst())
	case found.Result == Invalid:
		found.Result, found.Reason = Valid, ""
	}
	return found
}

// aboutFirst is what the first event that is not to be there would be about.
func (s *Statement) aboutFirst() *Pattern {
	first := s.NoSequence[0].Match
	return &Pattern{Source: first.Source, Resource: fixed(first.Resource)}
}

func (p Prepared) search(statement Statement) Finding {
	s := search{
		events:     p.events,
		complete:   p.complete,
		sequence:   statement.elements(),
		refuted:    len(statement.NoSequence) > 0,
		candidates: map[*Pattern][]int{},
		effort:     effort,
		dead:       map[string]bool{},
	}
	finding := Finding{Statement: statement.Statement}
	if s.element(0, place{index: -1, names: map[string]int{start: -1}}) {
		finding.Result = Valid
		for _, i := range s.found {
			finding.Evidence = append(finding.Evidence, s.events[i].Seq)
		}
		// mutant: a damaged history proves absence
		if s.complete.damaged != 0 && needsAbsence(s.sequence) {
			finding.Result, finding.Reason = Unknown, s.complete.incompleteReason()
		}
		return finding
	}
	finding.Result, finding.Reason, finding.GaveUp = Unknown, s.whyUnknown(), s.effort < 0
	if finding.Reason == "" {
		finding.Result, finding.Reason = Invalid, s.stuck
	}
	return finding
}

// search is a depth-first search for events that fit the sequence.
type search struct {
	events     []history.Entry
	sequence   []Element
	refuted    bool // it is not to be there
	complete   completeness
	candidates map[*Pattern][]int // events that may match, captures aside
	effort     int
	dead       map[string]bool // places from which the rest is not to be found, see deadEnd

	found     []int
	undecided string // a branch that the history is too short for
	deepest   int
	stuck     string // why the deepest branch ended
}

// place is how far a branch of the search has come.
type place struct {
	index    int           // of the last event that is used up, -1 at the start
	at       time.Duration // when the element before was
	captured map[string]string
	names    map[string]int // element's name → index
	evidence []int
}

func (s *search) element(n int, from place) bool {
	if n == len(s.sequence) {
		s.found = slices.Compact(slices.Sorted(slices.Values(from.evidence)))
		return true
	}
	e := &s.sequence[n]
	if e.Match == nil {
		return s.quiet(n, e, from)
	}
	key := s.deadEnd(n, from)
	if s.dead[key] {
		return false
	}
	candidates := s.candidatesOf(e.Match)
	first, _ := slices.BinarySearch(candidates, from.index+1)
	for k := first; k < len(candidates) && s.effort >= 0; k++ {
		picked := s.pick(e, candidates[k:], from.captured)
		if picked == nil {
			continue
		}
		last := picked[len(picked)-1]
		since := from.at
		if n == 0 {
			since = s.events[picked[0]].Virtual
		}
		// mutant: no symptom is late
		if e.Within != 0 && s.events[last].Virtual-since > time.Duration(e.Within) {
			if n > 0 {
				break // later ones are later still
			}
			continue
		}
		to, ok := s.arrive(e, from, picked)
		if ok && s.element(n+1, to) {
			return true
		}
	}
	s.noteStuck(n, e, from)
	// mutant: a dead end is searched again on each way to it
	s.dead[key] = true
	return false
}

// deadEnd names all that the elements from n on see of a place. What is not found from there is not found by another
// way to it either, and of a sequence of many like events there are more ways than can be tried.
func (s *search) deadEnd(n int, from place) string {
	key := fmt.Appendf(nil, "%d %d %d", n, from.index, from.at)
	for i := range s.sequence[n:] {
		e := &s.sequence[n+i]
		for _, name := range e.captures() {
			// mutant: what was captured on the way makes no difference
			key = fmt.Appendf(key, " %q", from.captured[name])
		}
		for _, absent := range e.Absent {
			// mutant: since when something is absent makes no difference
			key = fmt.Appendf(key, " %d", from.names[absent.Since])
		}
	}
	return string(key)
}

// pick returns the first candidate and as many matching ones after it as e.Count
// asks for; nil if the first does not match or there are too few.
func (s *search) pick(e *Element, candidates []int, captured map[string]string) []int {
	var picked []int
	for _, i := range candidates {
		s.effort--
		if e.Match.match(&s.events[i], captured) {
			picked = append(picked, i)
		}
		if len(picked) == 0 || s.effort < 0 {
			return nil
		}
		// mutant: one event less than the count will do
		if len(picked) >= e.Count {
			return picked
		}
	}
	return nil
}

// arrive moves on to the picked events if captures, While and Absent allow.
func (s *search) arrive(e *Element, from place, picked []int) (place, bool) {
	last := picked[len(picked)-1]
	to := place{
		index: last, at: s.events[last].Virtual,
		captured: from.captured, names: from.names,
		evidence: append(slices.Clone(from.evidence), picked...),
	}
	if len(e.Capture) > 0 {
		to.captured = maps.Clone(from.captured)
		if to.captured == nil {
			to.captured = map[string]string{}
		}
		for name, path := range e.Capture {
			text, ok := captureText(&s.events[last], path)
			if !ok {
				return place{}, false
			}
			to.captured[name] = text
		}
	}
	for i := range e.While {
		holds, at := s.stateHolds(&e.While[i], last, to.captured)
		if !holds {
			return place{}, false
		}
		to.evidence = append(to.evidence, at)
	}
	for i := range e.Absent {
		since := from.index
		if name := e.Absent[i].Since; name != "" {
			since = from.names[name]
		}
		// mutant: what must be absent may be there
		if s.occurs(&e.Absent[i].Pattern, since+1, last, to.captured) {
			return place{}, false
		}
	}
	to.names = named(from.names, e, last)
	return to, true
}

// quiet is an element without Match: nothing of Absent happens during For.
func (s *search) quiet(n int, e *Element, from place) bool {
	// mutant: quiet takes no time
	until := from.at + time.Duration(e.For)
	end := len(s.events)
	if after := slices.IndexFunc(s.events, func(r history.Entry) bool { return r.Virtual > until }); after >= 0 {
		end = after
	}
	for i := range e.Absent {
		if s.occurs(&e.Absent[i].Pattern, from.index+1, end, from.captured) {
			s.noteStuck(n, e, from)
			return false
		}
	}
	if s.complete.end < until {
		s.undecided = fmt.Sprintf("%s would have to be quiet until %s, and the history ends at %s", elementName(n, e), until, s.complete.end)
		return false
	}
	from.index = max(from.index, end-1)
	from.at = until
	from.names = named(from.names, e, from.index)
	return s.element(n+1, from)
}

// stateHolds looks for the state that the pattern describes, right before the event i.
func (s *search) stateHolds(p *Pattern, i int, captured map[string]string) (holds bool, at int) {
	candidates := s.candidatesOf(p)
	before, _ := slices.BinarySearch(candidates, i)
	// mutant: while looks at the oldest event
	for _, at := range slices.Backward(candidates[:before]) {
		s.effort--
		r := &s.events[at]
		if !p.tookPlace(r) || !p.matchIdentity(r, captured) || !hasDetails(p, r) {
			continue
		}
		return p.matchDetail(r, captured) && !s.deleted(r, at+1, i), at
	}
	return false, 0
}

// deleted reports whether the event's object is deleted in events[from:to].
func (s *search) deleted(r *history.Entry, from, to int) bool {
	s.effort -= to - from
	return slices.ContainsFunc(s.events[from:to], func(other history.Entry) bool {
		return deletes(&other) && other.Object == r.Object
	})
}

// deletes reports whether the event's object is gone with it, or asked to go.
func deletes(r *history.Entry) bool {
	return r.Source == history.API && r.Verb == "delete" && r.Code < 400 && r.Detail["subresource"] == nil ||
		r.Source == history.Cloud && r.Verb == "deleted"
}

// occurs reports whether one of events[from:to] is what the pattern of an absence is
// about, refused or not.
func (s *search) occurs(p *Pattern, from, to int, captured map[string]string) bool {
	candidates := s.candidatesOf(p)
	first, _ := slices.BinarySearch(candidates, from)
	for _, i := range candidates[first:] {
		if s.effort--; i >= to {
			return false
		}
		// mutant: what was refused counts as absent
		if p.tried(&s.events[i], captured) {
			return true
		}
	}
	return false
}
