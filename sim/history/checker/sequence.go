package checker

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/strict"
)

// Element is one step of a sequence: either an event that comes after
// the element before (Match), or a span after it in which something does not
// happen (Absent and For).
type Element struct {
	As    string   `json:"as,omitempty"`    // As names the element, for since in absent, and for reasons.
	Match *Pattern `json:"match,omitempty"` // Match is the event that comes.
	// Count is how many events must match, not necessarily in a row; the last of
	// them is the element's. Zero means one.
	Count int `json:"count,omitempty"`
	// Capture gives names to fields of the event, for "$NAME" in later patterns, which then mean the same one:
	// name, namespace, verb, actor, code, source, resource or detail.KEY. An event
	// without that field does not match.
	Capture map[string]string `json:"capture,omitempty"`
	// While lists what is the case at the time of the event. Of the events before it that have
	// all the keys of the pattern's detail and match its other fields, the latest matches the
	// detail, too, and the object was not deleted since.
	While []Pattern `json:"while,omitempty"`
	// Within is the longest time since the element before; of the first element,
	// from its first event to its last. Without it, any time may pass.
	Within Duration `json:"within,omitempty"`
	// Absent lists what does not happen before the event, or during For.
	Absent []Absence `json:"absent,omitempty"`
	// For is how long after the element before nothing of Absent happens.
	For Duration `json:"for,omitempty"`
}

// Absence is an event that is not there, with any code unless the pattern has one.
type Absence struct {
	// Since names the earlier element (see as) after which the event is absent, "start"
	// the beginning of the run. Without it, that is the element before.
	Since string `json:"since,omitempty"`
	Pattern
}

// Duration is a time.Duration written as in "150s" or "15m", above zero.
type Duration time.Duration

// UnmarshalJSON implements json.Unmarshaler.
func (d *Duration) UnmarshalJSON(text []byte) error {
	if err := (*strict.Duration)(d).UnmarshalJSON(text); err != nil || *d <= 0 {
		return strict.NoDuration(text)
	}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (d Duration) MarshalJSON() ([]byte, error) { return strict.Duration(d).MarshalJSON() }

// start is the name of the run's beginning in Absence.Since.
const start = "start"

// wellFormed finds what is wrong with a sequence.
func (s *Statement) wellFormed() error {
	elements, names := s.elements(), []string{start}
	captured := map[string]bool{}
	for i := range elements {
		if err := elements[i].check(names, captured); err != nil {
			return fmt.Errorf("%s[%d]: %w", s.about()[0], i, err)
		}
		names = append(names, elements[i].As)
	}
	return s.checkUse()
}

// checkUse finds captures that nothing refers to: the sequence then does not say
// that it is about the same object throughout.
func (s *Statement) checkUse() error {
	elements, used := s.elements(), map[string]bool{}
	for i := range elements {
		for _, name := range elements[i].captures() {
			used[name] = true
		}
	}
	for i := range elements {
		for _, name := range slices.Sorted(maps.Keys(elements[i].Capture)) {
			if !used[name] {
				return fmt.Errorf("%s[%d]: capture %s: no pattern has $%s; name it where the same one is meant, or "+
					"leave the capture out (detail: {KEY: {exists: true}} asks only that a field is there)", s.about()[0], i, name, name)
			}
		}
	}
	return nil
}

// captures are the names of earlier captures that the element refers to.
func (e *Element) captures() (names []string) {
	_ = e.eachPattern(func(p *Pattern) error {
		names = append(names, p.captures()...)
		return nil
	})
	return names
}

// round is the verb with which a log's source records every round of an autoscaler.
const round = "loop"

// showsNothing says what the element is if its events are in healthy histories as
// well, or "".
func (e *Element) showsNothing() string {
	if e.Match == nil {
		return "a span in which something is absent"
	}
	return e.Match.showsNothing()
}

func (p *Pattern) showsNothing() string {
	switch {
	case p.Source.onlyHas(string(history.Logged)) && p.Verb.onlyHas(round) && len(p.Detail) == 0:
		return "a round of the autoscaler, as there is in every run"
	case p.Source.onlyHas(string(history.Step), string(history.Fault), string(history.Clock)):
		return "what the scenario itself does"
	}
	return ""
}

func (e *Element) check(names []string, captured map[string]bool) error {
	if e.As != "" && slices.Contains(names, e.As) {
		return fmt.Errorf("as: %q is taken", e.As)
	}
	switch {
	case e.Match == nil && (len(e.Absent) == 0 || e.For == 0):
		return errors.New("neither match, nor absent with for")
	case e.Match == nil && (e.Count != 0 || len(e.Capture) > 0 || len(e.While) > 0 || e.Within != 0):
		return errors.New("count, capture, while and within need match")
	case e.Match != nil && e.For != 0:
		return errors.New("for belongs to an element without match; use within")
	case e.Count < 0:
		return fmt.Errorf("count: %d is negative", e.Count)
	case e.Count > 1 && len(e.Capture) > 0:
		return errors.New("capture needs a single event, not count")
	}
	if e.Match != nil {
		if err := e.Match.check(captured); err != nil {
			return fmt.Errorf("match: %w", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Capture)) {
		path := e.Capture[name]
		if err := e.Match.checkPath(path); err != nil {
			return fmt.Errorf("capture %s: %w", name, err)
		}
		if captured[name] {
			return fmt.Errorf("capture: %q is taken", name)
		}
		captured[name] = true
	}
	for i := range e.While {
		if err := e.While[i].check(captured); err != nil {
			return fmt.Errorf("while[%d]: %w", i, err)
		}
		if len(e.While[i].Detail) == 0 {
			return fmt.Errorf("while[%d]: detail is missing", i)
		}
		for key, values := range e.While[i].Detail {
			if values.op == "exists" {
				return fmt.Errorf("while[%d]: detail %q: exists says nothing here, the latest event that has it is compared", i, key)
			}
		}
	}
	for i := range e.Absent {
		if err := e.Absent[i].check(captured); err != nil {
			return fmt.Errorf("absent[%d]: %w", i, err)
		}
		if since := e.Absent[i].Since; since != "" && !slices.Contains(names, since) {
			return fmt.Errorf("absent[%d]: since: no earlier element is called %q", i, since)
		}
		if e.Absent[i].Since != "" && e.Match == nil {
			return fmt.Errorf("absent[%d]: since needs match; for counts from the element before", i)
		}
	}
	return nil
}
