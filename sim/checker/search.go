package checker

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"nodestorm/sim/history"
)

// effort bounds how many records a search compares, so that a sequence with many
// possible assignments ends as Unknown after about a second and not hours.
const effort = 2_000_000

// Find judges the statement, which Check has found right, by the records, in whatever
// order they are. Valid means that it holds: of a sequence, that it is there, with its
// records and those of While as evidence.
func Find(records []history.Record, s Statement) Finding {
	return Prepare(records).Find(s)
}

// Prepared is a history in which many statements are looked for, one after the other.
type Prepared struct {
	records  []history.Record
	complete completeness
}

// Prepare gets the records, in whatever order they are, ready for searches.
func Prepare(records []history.Record) Prepared {
	records = prepare(records)
	return Prepared{records, completenessOf(records)}
}

// Find is the function Find on this history.
func (p Prepared) Find(s Statement) Finding {
	switch {
	case len(s.NoSequence) > 0:
		return p.not(s)
	case len(s.Sequence) > 0:
		return p.search(s)
	}
	return p.watch(s)
}

// not finds that there is no such sequence.
func (p Prepared) not(s Statement) Finding {
	found := p.search(s)
	first := s.NoSequence[0].Match
	about := Pattern{Source: first.Source, Resource: fixed(first.Resource)}
	switch {
	case found.Result == Valid:
		found.Result, found.Reason = Invalid, "the sequence is in the history"
	case found.Result == Invalid && !slices.ContainsFunc(p.records, func(r history.Record) bool { return about.matchIdentity(&r, nil) }):
		found.Reason = fmt.Sprintf("nothing in the history is about %q: of what never was nothing holds", &about)
	case found.Result == Invalid:
		found.Result, found.Reason = Valid, ""
	}
	return found
}

func (p Prepared) search(statement Statement) Finding {
	s := search{
		records:    p.records,
		complete:   p.complete,
		sequence:   statement.elements(),
		refuted:    len(statement.NoSequence) > 0,
		candidates: map[*Pattern][]int{},
		effort:     effort,
	}
	finding := Finding{Statement: statement.Statement}
	if s.element(0, place{index: -1, names: map[string]int{start: -1}}) {
		finding.Result = Valid
		for _, i := range s.found {
			finding.Evidence = append(finding.Evidence, s.records[i].Seq)
		}
		if s.complete.damaged != 0 && needsAbsence(s.sequence) {
			finding.Result, finding.Reason = Unknown, s.complete.why()
		}
		return finding
	}
	finding.Result, finding.Reason, finding.GaveUp = Unknown, s.whyUnknown(), s.effort < 0
	if finding.Reason == "" {
		finding.Result, finding.Reason = Invalid, s.stuck
	}
	return finding
}

// search is a depth-first search for records that fit the sequence.
type search struct {
	records    []history.Record
	sequence   []Element
	refuted    bool // it is not to be there
	complete   completeness
	candidates map[*Pattern][]int // records that may match, captures aside
	effort     int

	found     []int
	undecided string // a branch that the history is too short for
	deepest   int
	stuck     string // why the deepest branch ended
}

// place is how far a branch of the search has come.
type place struct {
	index    int           // of the last record that is used up, -1 at the start
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
			since = s.records[picked[0]].Virtual
		}
		if e.Within != 0 && s.records[last].Virtual-since > time.Duration(e.Within) {
			continue
		}
		to, ok := s.arrive(e, from, picked)
		if ok && s.element(n+1, to) {
			return true
		}
	}
	s.noteStuck(n, e, from)
	return false
}

// pick returns the first candidate and as many matching ones after it as e.Count
// asks for; nil if the first does not match or there are too few.
func (s *search) pick(e *Element, candidates []int, captured map[string]string) []int {
	var picked []int
	for _, i := range candidates {
		s.effort--
		if e.Match.match(&s.records[i], captured) {
			picked = append(picked, i)
		}
		if len(picked) == 0 || s.effort < 0 {
			return nil
		}
		if len(picked) >= e.Count {
			return picked
		}
	}
	return nil
}

// arrive moves on to the picked records if captures, While and Absent allow.
func (s *search) arrive(e *Element, from place, picked []int) (place, bool) {
	last := picked[len(picked)-1]
	to := place{
		index: last, at: s.records[last].Virtual,
		captured: from.captured, names: from.names,
		evidence: append(slices.Clone(from.evidence), picked...),
	}
	if len(e.Capture) > 0 {
		to.captured = maps.Clone(from.captured)
		if to.captured == nil {
			to.captured = map[string]string{}
		}
		for name, path := range e.Capture {
			text, ok := captureText(&s.records[last], path)
			if !ok {
				return place{}, false
			}
			to.captured[name] = text
		}
	}
	for i := range e.While {
		holds, at := s.while(&e.While[i], last, to.captured)
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
		if s.happens(&e.Absent[i].Pattern, since+1, last, to.captured) {
			return place{}, false
		}
	}
	to.names = named(from.names, e, last)
	return to, true
}

// quiet is an element without Match: nothing of Absent happens during For.
func (s *search) quiet(n int, e *Element, from place) bool {
	until := from.at + time.Duration(e.For)
	end := len(s.records)
	if after := slices.IndexFunc(s.records, func(r history.Record) bool { return r.Virtual > until }); after >= 0 {
		end = after
	}
	for i := range e.Absent {
		if s.happens(&e.Absent[i].Pattern, from.index+1, end, from.captured) {
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

// while looks for the state that the pattern tells of, right before the record i.
func (s *search) while(p *Pattern, i int, captured map[string]string) (holds bool, at int) {
	candidates := s.candidatesOf(p)
	before, _ := slices.BinarySearch(candidates, i)
	for _, at := range slices.Backward(candidates[:before]) {
		s.effort--
		r := &s.records[at]
		if !p.happened(r) || !p.matchIdentity(r, captured) || !hasDetails(p, r) {
			continue
		}
		return p.matchDetail(r, captured) && !s.deleted(r, at+1, i), at
	}
	return false, 0
}

// deleted tells whether the record's object is deleted in records[from:to].
func (s *search) deleted(r *history.Record, from, to int) bool {
	s.effort -= to - from
	return slices.ContainsFunc(s.records[from:to], func(other history.Record) bool {
		return deletes(&other) && other.Object == r.Object
	})
}

// deletes tells whether the record's object is gone with it, or asked to go.
func deletes(r *history.Record) bool {
	return r.Source == history.API && r.Verb == "delete" && r.Code < 400 && r.Detail["subresource"] == nil ||
		r.Source == history.Cloud && r.Verb == "deleted"
}

// happens tells whether one of records[from:to] is what the pattern of an absence is
// about, refused or not.
func (s *search) happens(p *Pattern, from, to int, captured map[string]string) bool {
	candidates := s.candidatesOf(p)
	first, _ := slices.BinarySearch(candidates, from)
	for _, i := range candidates[first:] {
		if s.effort--; i >= to {
			return false
		}
		if p.tried(&s.records[i], captured) {
			return true
		}
	}
	return false
}
