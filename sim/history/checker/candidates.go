package checker

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"nodestorm/sim/history"
)

// candidatesOf returns the indexes of the events that all but the pattern's details match, in
// order; a field that refers to a capture is left open.
func (s *search) candidatesOf(p *Pattern) []int {
	if indexes, ok := s.candidates[p]; ok {
		return indexes
	}
	plain := p.identity()
	indexes := []int{}
	for i := range s.events {
		if plain.matchIdentity(&s.events[i], nil) {
			indexes = append(indexes, i)
		}
	}
	s.candidates[p] = indexes
	return indexes
}

// identity is as much of a pattern without details as needs no captures.
func (p *Pattern) identity() *Pattern {
	return &Pattern{
		Source: p.Source, Verb: fixed(p.Verb), Resource: fixed(p.Resource), Code: p.Code,
		Namespace: fixed(p.Namespace), Name: fixed(p.Name), Actor: fixed(p.Actor),
	}
}

// fixed returns the values unless they refer to captures.
func fixed(v *Values) *Values {
	if len(v.captures()) > 0 {
		return nil
	}
	return v
}

// whyUnknown says why a search that found nothing proves nothing, or "".
func (s *search) whyUnknown() string {
	if s.effort < 0 {
		return fmt.Sprintf("too many events could match, gave up after %d comparisons; name the events of the sequence more closely", effort)
	}
	if s.undecided != "" {
		return s.undecided
	}
	if why := s.complete.incompleteReason(); why != "" {
		return why
	}
	for i := range s.sequence {
		if s.refuted && i > 0 {
			break // a source without an event of the rest has none of one after the first either
		}
		if m := s.sequence[i].Match; m != nil {
			if why := s.complete.silent(m); why != "" {
				return why
			}
		}
	}
	return ""
}

func (s *search) noteStuck(n int, e *Element, from place) {
	if s.stuck != "" && n <= s.deepest {
		return
	}
	s.deepest = n
	s.stuck = elementName(n, e) + " is not in the history"
	if from.index >= 0 {
		s.stuck += fmt.Sprintf(" after event %d", s.events[from.index].Seq)
	}
}

func elementName(n int, e *Element) string {
	if e.As != "" {
		return fmt.Sprintf("%q", e.As)
	}
	return fmt.Sprintf("element %d of the sequence", n+1)
}

func named(names map[string]int, e *Element, index int) map[string]int {
	if e.As == "" {
		return names
	}
	names = maps.Clone(names)
	names[e.As] = index
	return names
}

// captureText is the text of the field that path names.
func captureText(r *history.Entry, path string) (string, bool) {
	return scalar(fieldAt(r, path))
}

// fieldAt is the field that path names, nil where it is missing.
func fieldAt(r *history.Entry, path string) any {
	if key, ok := strings.CutPrefix(path, "detail."); ok {
		return detail(r, key)
	}
	return field(r, path)
}

func hasDetails(p *Pattern, r *history.Entry) bool {
	for key := range p.Detail {
		if detail(r, key) == nil {
			return false
		}
	}
	return true
}

// needsAbsence reports whether the sequence holds only because of what is not
// there, so that an unreadable event could refute it.
func needsAbsence(sequence []Element) bool {
	return slices.ContainsFunc(sequence, func(e Element) bool { return len(e.Absent) > 0 || len(e.While) > 0 })
}
