package checker

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/history/measure"
)

// Statement is something that a history shows, or not, such as a symptom, a trigger or
// an invariant. It has one of Sequence, NoSequence, Happens, Never, Count, Throughout, Eventually,
// Finally, Measure, and First with Then; the fields after them say where it has to hold. A pattern
// of all but sequences counts what happened; with "code: {exists: true}" also what was
// refused.
type Statement struct {
	// Statement says it in one sentence.
	Statement string `json:"statement,omitempty"`

	// Sequence is found if its elements are there, each after the one before. It is
	// searched in the whole history, and goes with no other field but statement.
	Sequence []Element `json:"sequence,omitempty"`
	// NoSequence is one that is not found, though there are events of the source and the
	// resource that it begins with. It goes with no other field but statement.
	NoSequence []Element `json:"noSequence,omitempty"`
	Happens    *Pattern  `json:"happens,omitempty"` // Happens is an event that is there.
	Never      *Pattern  `json:"never,omitempty"`   // Never is an event that is not there.
	Count      *Pattern  `json:"count,omitempty"`   // Count are events of which there are atLeast and atMost so many.
	AtLeast    *int      `json:"atLeast,omitempty"` // AtLeast is the least number for count, one or more. With every: in one span.
	AtMost     *int      `json:"atMost,omitempty"`  // AtMost is the most for count, zero or more. With every: in each span.
	Every      Duration  `json:"every,omitempty"`   // Every is the length of the spans in which count counts.

	First *Pattern `json:"first,omitempty"` // First is an event that comes before then.
	Then  *Pattern `json:"then,omitempty"`  // Then is an event that comes, and first before it.

	Throughout *State `json:"throughout,omitempty"` // Throughout is how a value is all the time.
	Eventually *State `json:"eventually,omitempty"` // Eventually is how a value is at some time.
	Finally    *State `json:"finally,omitempty"`    // Finally is how a value is at the end.
	// Measure is a number that the run comes to in the span, such as the cost of its machines; it goes with within and ever.
	Measure *measure.Bound `json:"measure,omitempty"`

	// Since begins the span that is meant: after each such event it has to hold again, up to the event of Until or for as
	// long as Within says. Without it there is one span: from the start of the run with Ever or in a record; in a step
	// from the Whens before it, and of a state from the step on.
	Since   *Pattern `json:"since,omitempty"`
	Until   *Pattern `json:"until,omitempty"`   // Until is the event that ends a span that began with since.
	Within  Duration `json:"within,omitempty"`  // Within is how long each span lasts.
	Ever    bool     `json:"ever,omitempty"`    // Ever begins the span at the start of the run.
	ForEach []string `json:"forEach,omitempty"` // ForEach are fields, as in capture, by whose values it has to hold for each.
	ForAny  []string `json:"forAny,omitempty"`  // ForAny are fields by whose values it has to hold for one at least.
}

// about are the fields that say what a statement is about.
var about = []string{
	"sequence", "noSequence", "happens", "never", "count", "first with then", "throughout", "eventually", "finally", "measure",
}

// Check finds what is wrong with a statement before any history is there: also that
// every history would show it, or none.
func (s *Statement) Check() error {
	given := s.about()
	switch {
	case len(given) == 0:
		return fmt.Errorf("it is about nothing: want one of %s", strings.Join(about, ", "))
	case len(given) > 1:
		return fmt.Errorf("it has %s: want one of them", strings.Join(given, " and "))
	case s.elements() != nil:
		return s.checkSequence()
	}
	for _, p := range s.patterns() {
		if err := p.pattern.Check(); err != nil {
			return fmt.Errorf("%s: %w", p.field, err)
		}
	}
	checks := []func() error{s.checkCount, s.checkOrder, s.checkSpan, s.checkEach, s.Measure.Check}
	if state := s.state(); state != nil {
		checks = append(checks, state.check)
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Statement) about() (given []string) {
	for i, is := range []bool{
		len(s.Sequence) > 0, len(s.NoSequence) > 0, s.Happens != nil, s.Never != nil, s.Count != nil,
		s.First != nil || s.Then != nil, s.Throughout != nil, s.Eventually != nil, s.Finally != nil, s.Measure != nil,
	} {
		if is {
			given = append(given, about[i])
		}
	}
	return given
}

// elements are those of a sequence, found or not.
func (s *Statement) elements() []Element {
	if len(s.NoSequence) > 0 {
		return s.NoSequence
	}
	return s.Sequence
}

// state is what a statement about one says of it.
func (s *Statement) state() *State {
	for _, state := range []*State{s.Throughout, s.Eventually, s.Finally} {
		if state != nil {
			return state
		}
	}
	return nil
}

type fieldPattern struct {
	field   string
	pattern *Pattern
}

func (s *Statement) patterns() (all []fieldPattern) {
	for _, p := range []fieldPattern{
		{"happens", s.Happens}, {"never", s.Never}, {"count", s.Count}, {"first", s.First},
		{"then", s.Then}, {"since", s.Since}, {"until", s.Until},
	} {
		if p.pattern != nil {
			all = append(all, p)
		}
	}
	if state := s.state(); state != nil && state.Of != nil {
		all = append(all, fieldPattern{"of", state.Of})
	}
	return all
}

// EachPattern calls check with each pattern, and says where the first is that is wrong.
func (s *Statement) EachPattern(check func(*Pattern) error) error {
	for _, p := range s.patterns() {
		if err := check(p.pattern); err != nil {
			return fmt.Errorf("%s: %w", p.field, err)
		}
	}
	for i := range s.elements() {
		if err := s.elements()[i].eachPattern(check); err != nil {
			return fmt.Errorf("%s[%d]: %w", s.about()[0], i, err)
		}
	}
	return nil
}

func (e *Element) eachPattern(check func(*Pattern) error) error {
	if e.Match != nil {
		if err := check(e.Match); err != nil {
			return fmt.Errorf("match: %w", err)
		}
	}
	for i := range e.While {
		if err := check(&e.While[i]); err != nil {
			return fmt.Errorf("while[%d]: %w", i, err)
		}
	}
	for i := range e.Absent {
		if err := check(&e.Absent[i].Pattern); err != nil {
			return fmt.Errorf("absent[%d]: %w", i, err)
		}
	}
	return nil
}

func (s *Statement) checkSequence() error {
	if others := *s; true {
		others.Statement, others.Sequence, others.NoSequence = "", nil, nil
		if !reflect.DeepEqual(others, Statement{}) {
			return errors.New("a sequence has within, since and absent in its elements, and the statement no other fields")
		}
	}
	if s.NoSequence != nil && s.NoSequence[0].Match == nil {
		return errors.New("noSequence: begin with a match: of what never was nothing holds")
	}
	return s.wellFormed()
}

func (s *Statement) checkCount() error {
	bounded := s.AtLeast != nil || s.AtMost != nil
	switch {
	case s.Count == nil && (bounded || s.Every != 0):
		return errors.New("atLeast, atMost and every need count")
	case s.Count == nil:
		return nil
	case !bounded:
		return errors.New("count: every history has some or none: say atLeast or atMost how many")
	case s.AtLeast != nil && *s.AtLeast < 1:
		return fmt.Errorf("atLeast: %d: no history could have less, want 1 or more, or never of what must not be there", *s.AtLeast)
	case s.AtMost != nil && *s.AtMost < 0:
		return fmt.Errorf("atMost: %d: no history could have so few, want 0 or more", *s.AtMost)
	case s.AtLeast != nil && s.AtMost != nil && *s.AtLeast > *s.AtMost:
		return fmt.Errorf("atLeast: %d is above atMost: %d: no history could have both", *s.AtLeast, *s.AtMost)
	case s.Every != 0 && s.AtLeast != nil && s.AtMost != nil:
		return errors.New("every: want atMost, in each such span, or atLeast, in one, and not both")
	case s.Every != 0 && s.Within != 0 && s.Every >= s.Within:
		return fmt.Errorf("every: %s is no part of within: %s; leave every out", time.Duration(s.Every), time.Duration(s.Within))
	}
	return nil
}

func (s *Statement) checkOrder() error {
	switch {
	case (s.First == nil) != (s.Then == nil):
		return errors.New("first needs then, and then needs first")
	case s.First != nil && reflect.DeepEqual(s.First, s.Then):
		return errors.New("first and then are the same: nothing comes before itself")
	}
	return nil
}

func (s *Statement) checkSpan() error {
	switch {
	case s.Measure != nil && (s.Since != nil || len(s.fields()) > 0):
		return errors.New("measure: it goes with within and ever: leave since, forEach and forAny out")
	case s.Until != nil && s.Since == nil:
		return errors.New("until needs since: say what the span begins with")
	case s.Until != nil && reflect.DeepEqual(s.Since, s.Until):
		return errors.New("since and until are the same: the span would have no time")
	case s.Since != nil && s.Ever:
		return errors.New("ever is the span from the start, and since another one")
	case s.Happens != nil && s.Since != nil && reflect.DeepEqual(s.Happens, s.Until):
		return errors.New("happens and until are the same: the span ends before it could")
	}
	return nil
}

func (s *Statement) checkEach() error {
	if len(s.ForEach) > 0 && len(s.ForAny) > 0 {
		return errors.New("forEach and forAny: want one of them")
	}
	for _, field := range s.fields() {
		for _, p := range s.patterns() {
			if err := p.pattern.checkPath(field); err != nil {
				return fmt.Errorf("forEach, forAny: %s: %w", p.field, err)
			}
		}
	}
	if len(s.fields()) > 0 && s.Since == nil && (s.Happens != nil || s.AtLeast != nil && *s.AtLeast == 1) {
		return errors.New("forEach, forAny: only those are known that have one: say in since what there is one of for each")
	}
	return nil
}

func (s *Statement) fields() []string { return append(slices.Clip(s.ForEach), s.ForAny...) }

func short(number float64) string { return strconv.FormatFloat(number, 'f', -1, 64) }

// checkField reports whether path names a field of events.
func checkField(path string) error {
	if key, ok := strings.CutPrefix(path, "detail."); !slices.Contains(fieldNames, path) && (!ok || key == "") {
		return fmt.Errorf("unknown field %q (allowed: %s, detail.KEY)", path, strings.Join(fieldNames, ", "))
	}
	return nil
}

// CheckSymptom is Check for what a documented failure looks like. The last event shows
// the failure: what is not there could have many reasons, a program that does nothing for
// one.
func (s *Statement) CheckSymptom() error {
	if err := s.CheckTrigger(); err != nil {
		return err
	}
	if len(s.Sequence) == 0 {
		for _, p := range s.patterns() {
			shows := p.field != "since" && p.field != "until" && p.field != "first"
			if why := p.pattern.showsNothing(); shows && why != "" {
				return fmt.Errorf("%s: it is %s: %s", p.field, why, nothingShown)
			}
		}
		return nil
	}
	last := len(s.Sequence) - 1
	if why := s.Sequence[last].showsNothing(); why != "" {
		return fmt.Errorf("sequence[%d]: the last element is %s: %s", last, why, nothingShown)
	}
	return nil
}

const nothingShown = "nothing in the history would show the failure; " +
	"end with what it leads to, such as a complaint in the log, an event's reason, or the call that comes too late"

// CheckTrigger is Check for what made a failure possible, which may well be what the
// scenario itself does, or that something does not come.
func (s *Statement) CheckTrigger() error {
	if strings.TrimSpace(s.Statement) == "" {
		return errors.New("statement is missing")
	}
	if s.Sequence != nil && len(s.Sequence) == 0 {
		return errors.New("sequence is empty")
	}
	if err := s.Check(); err != nil {
		return err
	}
	switch {
	case s.Never != nil, s.NoSequence != nil, s.Count != nil && s.AtLeast == nil, s.Measure != nil && s.Measure.AtLeast == "":
		return errors.New("it is about absences only, which a run in which nothing happens has too; say what happens")
	case len(s.Sequence) > 0 && !slices.ContainsFunc(s.Sequence, func(e Element) bool { return e.Match != nil }):
		return errors.New("sequence: it has absences only, which a run in which nothing happens has too; begin with a match")
	}
	return nil
}

// Span is how long the elements of a sequence may take together that say how long they
// may, or the statement. Those without within count nothing.
func (s *Statement) Span() time.Duration {
	span := s.Within
	for _, e := range s.Sequence {
		span += e.Within + e.For
	}
	return time.Duration(span)
}

// keyOf is what an event is about, as far as the fields distinguish it.
func keyOf(r *history.Entry, fields []string) (key string, ok bool) {
	parts := make([]string, 0, len(fields))
	for _, path := range fields {
		text, ok := captureText(r, path)
		if !ok && path != "namespace" { // of what is in none
			return "", false
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "/"), true
}

// sortedKeys is for reasons that are the same each time.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
