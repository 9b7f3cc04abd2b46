package sentences

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/strict"
)

// registerStatements registers the Thens that state anything of the history.
func (s *scenario) registerStatements(on sentences) {
	on.Then(`^this holds:$`, s.thisHolds)
	on.Then(`^this holds from the file `+file+`$`, s.thisHoldsOf)
	on.Then(`^this holds within `+span+`:$`, s.thisHoldsWithin)
	on.Then(`^this holds within `+span+` from the file `+file+`$`, s.thisHoldsWithinOf)

	on.Then(`^`+recordWords+` within `+span+`$`, s.recorded)
	on.Then(`^`+recordWords+` at no time within `+span+`$`, s.neverRecorded)
	on.Then(`^`+recordWords+` (at least|no more than|exactly) `+number+` times? within `+span+`$`, s.recordedTimes)
	on.Then(`^`+recordWords+` no more than `+number+` times? in any `+span+`, for (each object|all objects together), within `+span+`$`, s.recordedRate)
	on.Then(`^`+recordWords+` before `+recordWords+` within `+span+`$`, s.recordedBefore)

	on.Then(`^the value `+name+` of `+name+` `+name+` (is|stays) `+name+` within `+span+`$`, s.valueIs)
	on.Then(`^the value `+name+` of `+name+` `+name+` is at no time (above|below) `+number+` within `+span+`$`, s.valueBound)
}

// quotation is what a step quotes, or the file that it names.
type quotation string

func (*scenario) thisHolds(text quotation) (observation, error) { return stated(text, "") }

func (*scenario) thisHoldsOf(_ string, text quotation) (observation, error) { return stated(text, "") }

func (*scenario) thisHoldsWithin(d string, text quotation) (observation, error) {
	return stated(text, d)
}

func (*scenario) thisHoldsWithinOf(d, _ string, text quotation) (observation, error) {
	return stated(text, d)
}

// stated observes a statement in YAML. Without a window of the step's it is the statement's,
// or what has been until then.
func stated(text quotation, d string) (observation, error) {
	var s checker.Statement
	if err := strict.Unmarshal([]byte(text), &s); err != nil {
		return observation{}, fmt.Errorf("the statement: %w", err)
	}
	if d == "" {
		if err := s.Check(); err != nil {
			return observation{}, fmt.Errorf("the statement: %w", err)
		}
		span := time.Duration(0)
		if s.Since == nil {
			span = time.Duration(s.Within)
		}
		return observing(s, span), nil
	}
	if s.Within != 0 && s.Since == nil {
		return observation{}, errors.New("the statement: within is said twice, in the step and in the statement: leave one out")
	}
	return statement(s, d)
}

// statement observes a statement in a window.
func statement(s checker.Statement, d string) (observation, error) {
	span, err := duration(d)
	if err != nil {
		return observation{}, err
	}
	if s.Since != nil && time.Duration(s.Within) > span {
		return observation{}, fmt.Errorf("the statement: within: %s after since is longer than the %s of the step: it would never be over", time.Duration(s.Within), d)
	}
	if s.Since == nil && s.Sequence == nil && s.NoSequence == nil {
		s.Within = checker.Duration(span)
	}
	if err := s.Check(); err != nil {
		return observation{}, fmt.Errorf("the statement: %w", err)
	}
	return observing(s, span), nil
}

// observing judges a statement that Check has found right, live and stored alike.
func observing(s checker.Statement, span time.Duration) observation {
	from := asked
	switch {
	case s.Ever:
		from = earlier
	case s.Throughout != nil, s.Eventually != nil, s.Finally != nil:
		from = begun
	}
	if s.Since == nil {
		s.Within = 0 // the observation has it
	}
	m := s.Monitor()
	begins, end := time.Duration(-1), time.Duration(0)
	return observation{
		window: span,
		see: func(r history.Record, at phase) (bool, error) {
			if at == begun && begins < 0 {
				begins = r.Virtual
			}
			end = max(end, r.Virtual)
			f, decided := m.Take(r, at >= from)
			return decided, failure(f)
		},
		over: func() error {
			if span > 0 {
				end = max(begins, 0) + span
			}
			return failure(m.Over(end))
		},
	}
}

// failure is why a statement does not hold, with the records that show it.
func failure(f checker.Finding) error {
	if f.Result == checker.Valid || f.Result == "" {
		return nil
	}
	err := errors.New(f.Reason)
	if n := len(f.Evidence); n == 1 {
		err = fmt.Errorf("%s (record %d)", f.Reason, f.Evidence[0])
	} else if n > 1 {
		err = fmt.Errorf("%s (records %s)", f.Reason, strings.Trim(fmt.Sprint(f.Evidence), "[]"))
	}
	if f.Result == checker.Unknown {
		return fmt.Errorf("%w: %w", errUntold, err)
	}
	return err
}

// errUntold is what a Then says of a statement that the history cannot decide.
var errUntold = errors.New("it cannot be told")

// inAll states something of a record in words, as often as the words do not say.
func inAll(said string) (checker.Statement, awaited, error) {
	a, err := inWords(said)
	if err == nil && a.Count != 0 {
		err = fmt.Errorf("%q: leave out how many times, the step says it", said)
	}
	return checker.Statement{Statement: said, Count: &a.Pattern, Ever: a.Ever}, a, err
}

func (*scenario) recorded(said, d string) (observation, error) {
	a, err := inWords(said)
	if err != nil {
		return observation{}, err
	}
	n := 1
	if timesSaid.MatchString(said) {
		n = a.Count
	}
	return statement(checker.Statement{Statement: said, Count: &a.Pattern, AtLeast: &n, Ever: a.Ever}, d)
}

func (*scenario) neverRecorded(said, d string) (observation, error) {
	s, a, err := inAll(said)
	if err != nil {
		return observation{}, err
	}
	s.Count, s.Never = nil, &a.Pattern
	return statement(s, d)
}

func (*scenario) recordedTimes(said, bound string, n int, d string) (observation, error) {
	s, _, err := inAll(said)
	if err != nil {
		return observation{}, err
	}
	if bound != "no more than" {
		s.AtLeast = &n
	}
	if bound != "at least" {
		s.AtMost = &n
	}
	return statement(s, d)
}

func (*scenario) recordedRate(said string, n int, every, objects, d string) (observation, error) {
	s, _, err := inAll(said)
	if err != nil {
		return observation{}, err
	}
	span, err := duration(every)
	if err != nil {
		return observation{}, err
	}
	s.AtMost, s.Every = &n, checker.Duration(span)
	if objects == "each object" {
		s.ForEach = []string{"resource", "namespace", "name"}
	}
	return statement(s, d)
}

func (*scenario) recordedBefore(first, then, d string) (observation, error) {
	s, a, err := inAll(first)
	if err != nil {
		return observation{}, err
	}
	of, b, err := inAll(then)
	if err != nil {
		return observation{}, err
	}
	if a.Ever != b.Ever {
		return observation{}, errors.New("say of both records that somebody has ever, or of none")
	}
	s.Count, s.First, s.Then = nil, &a.Pattern, of.Count
	return statement(s, d)
}

func (*scenario) valueIs(key, resource, object, does, value, d string) (observation, error) {
	state, err := stateOf(key, resource, object, "is", value)
	if err != nil {
		return observation{}, err
	}
	if does == "stays" {
		return statement(checker.Statement{Throughout: state}, d)
	}
	return statement(checker.Statement{Eventually: state}, d)
}

// valueBound is about the whole run.
func (*scenario) valueBound(key, resource, object, side string, than int, d string) (observation, error) {
	bound := "atMost"
	if side == "below" {
		bound = "atLeast"
	}
	state, err := stateOf(key, resource, object, bound, than)
	if err != nil {
		return observation{}, err
	}
	return statement(checker.Statement{Throughout: state, Ever: true}, d)
}

// stateOf is the value of an object's detail, whoever tells it.
func stateOf(key, resource, object, compare string, value any) (*checker.State, error) {
	of := map[string]any{"source": []history.Source{history.API, history.Cloud, history.Node, history.Logged}, "resource": resource}
	if namespace, rest, is := strings.Cut(object, "/"); is {
		of["namespace"], object = namespace, rest
	}
	of["name"] = object
	text, err := json.Marshal(map[string]any{"value": "detail." + key, "of": of, compare: value})
	if err != nil {
		return nil, err
	}
	state := &checker.State{}
	return state, strict.Unmarshal(text, state)
}
