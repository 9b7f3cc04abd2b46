package then

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"nodestorm/harness/sentences/words"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/strict"
)

// General are those that state anything of the history.
var General = []Sentence{
	{Words: `this holds:`, Observe: quoted},
	{Words: `this holds from the file "FILE"`, Observe: quoted},
	{Words: `this holds within DURATION:`, Observe: quoted},
	{Words: `this holds within DURATION from the file "FILE"`, Observe: quoted},

	{Words: `EVENT within DURATION`, Observe: recorded},
	{Words: `NEVER within DURATION`, Observe: neverRecorded},
	{Words: `EVENT (at least|no more than|exactly) N time[s] within DURATION`, Observe: recordedTimes},
	{
		Words:   `EVENT no more than N time[s] in any DURATION, for (each object|all objects together), within DURATION`,
		Observe: recordedRate,
	},
	{Words: `EVENT before EVENT within DURATION`, Observe: recordedBefore},

	{Words: `the detail "NAME" of "NAME" "NAME" is "NAME" within DURATION`, Observe: detailIs},
	{Words: `the detail "NAME" of "NAME" "NAME" stays "NAME" for DURATION`, Observe: detailStays},
	{Words: `DURATION from now, the detail "NAME" of "NAME" "NAME" has at no time been (above|below) N since the start`,
		Observe: detailBound},
}

func quoted(args words.Args) (Observation, error) { return stated(args.Quoted, args.Named("DURATION")) }

// stated observes a statement in YAML. Without a window of the step's it is the statement's,
// or what has been until then.
func stated(text, d string) (Observation, error) {
	var s checker.Statement
	if err := strict.Unmarshal([]byte(text), &s); err != nil {
		return Observation{}, fmt.Errorf("the statement: %w", err)
	}
	if d == "" {
		if err := s.Check(); err != nil {
			return Observation{}, fmt.Errorf("the statement: %w", err)
		}
		span := time.Duration(0)
		if s.Since == nil {
			span = time.Duration(s.Within)
		}
		return observing(s, span), nil
	}
	if s.Within != 0 && s.Since == nil {
		return Observation{}, errors.New("the statement: within is said twice, in the step and in the statement: leave one out")
	}
	return statement(s, d)
}

// statement observes a statement in a window.
func statement(s checker.Statement, d string) (Observation, error) {
	span, err := words.Duration(d)
	if err != nil {
		return Observation{}, err
	}
	if s.Since != nil && time.Duration(s.Within) > span {
		return Observation{}, fmt.Errorf("the statement: within: %s after since is longer than the %s of the step: it would never be over",
			time.Duration(s.Within), d)
	}
	if s.Since == nil && s.Sequence == nil && s.NoSequence == nil {
		s.Within = checker.Duration(span)
	}
	if err := s.Check(); err != nil {
		return Observation{}, fmt.Errorf("the statement: %w", err)
	}
	return observing(s, span), nil
}

// observing judges a statement that Check has found right, live and stored alike.
func observing(s checker.Statement, span time.Duration) Observation {
	// mutant: what was before the Whens counts
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
	return Observation{
		window: span, stated: []checker.Statement{s},
		see: func(r history.Entry, at phase) (bool, error) {
			if at == begun && begins < 0 {
				begins = r.Virtual
			}
			end = max(end, r.Virtual)
			f, decided := m.Add(r, at >= from)
			return decided, failure(f)
		},
		over: func() error {
			if span > 0 {
				end = max(begins, 0) + span
			}
			return failure(m.FindingAt(end))
		},
	}
}

// failure is why a statement does not hold, with the events that show it.
func failure(f checker.Finding) error {
	if f.Result == checker.Valid || f.Result == "" {
		return nil
	}
	err := errors.New(f.Reason)
	if n := len(f.Evidence); n == 1 {
		err = fmt.Errorf("%s (event %d)", f.Reason, f.Evidence[0])
	} else if n > 1 {
		err = fmt.Errorf("%s (events %s)", f.Reason, strings.Trim(fmt.Sprint(f.Evidence), "[]"))
	}
	if f.Result == checker.Unknown {
		return fmt.Errorf("%w: %w", ErrUndecided, err)
	}
	return err
}

// ErrUndecided is what a Then says of a statement that the history cannot decide.
var ErrUndecided = errors.New("it cannot be decided")

// inAll states something of an event in words, as often as the words do not say.
func inAll(said string) (checker.Statement, Awaited, error) {
	a, err := InWords(said)
	if err == nil && a.Count != 0 {
		err = fmt.Errorf("%q: leave out how many times, the step says it", said)
	}
	return checker.Statement{Statement: said, Count: &a.Pattern, Ever: a.Ever}, a, err
}

// timesSaid ends an event in words that says how many times.
var timesSaid = regexp.MustCompile(` \d+ times$`)

func recorded(args words.Args) (Observation, error) {
	said := args.Text(0)
	a, err := InWords(said)
	if err != nil {
		return Observation{}, err
	}
	n := 1
	if timesSaid.MatchString(said) {
		n = a.Count
	}
	return statement(checker.Statement{Statement: said, Count: &a.Pattern, AtLeast: &n, Ever: a.Ever}, args.Text(1))
}

// onceSaid are events in words that never are, as if they were.
var onceSaid = strings.NewReplacer(" never sends ", " has sent ", " never records ", " has recorded ", " is never refused ",
	" has been refused ", " has never ", " has ever ")

func neverRecorded(args words.Args) (Observation, error) {
	s, a, err := inAll(onceSaid.Replace(args.Text(0)))
	if err != nil {
		return Observation{}, err
	}
	s.Count, s.Never = nil, &a.Pattern
	return statement(s, args.Text(1))
}

func recordedTimes(args words.Args) (Observation, error) {
	s, _, err := inAll(args.Text(0))
	if err != nil {
		return Observation{}, err
	}
	bound, n := args.Text(1), args.Int(2)
	if bound != "no more than" {
		s.AtLeast = &n
	}
	if bound != "at least" {
		s.AtMost = &n
	}
	return statement(s, args.Text(3))
}

func recordedRate(args words.Args) (Observation, error) {
	s, _, err := inAll(args.Text(0))
	if err != nil {
		return Observation{}, err
	}
	n := args.Int(1)
	s.AtMost, s.Every = &n, checker.Duration(args.Duration(2))
	if args.Text(3) == "each object" {
		s.ForEach = []string{"resource", "namespace", "name"}
	}
	return statement(s, args.Text(4))
}

func recordedBefore(args words.Args) (Observation, error) {
	s, a, err := inAll(args.Text(0))
	if err != nil {
		return Observation{}, err
	}
	of, b, err := inAll(args.Text(1))
	if err != nil {
		return Observation{}, err
	}
	if a.Ever != b.Ever {
		return Observation{}, errors.New("say ever of both events, or of none")
	}
	s.Count, s.First, s.Then = nil, &a.Pattern, of.Count
	return statement(s, args.Text(2))
}

func detailIs(args words.Args) (Observation, error) {
	state, err := stateOf(args.Texts(), "is", args.Text(3))
	if err != nil {
		return Observation{}, err
	}
	return statement(checker.Statement{Eventually: state}, args.Text(4))
}

func detailStays(args words.Args) (Observation, error) {
	state, err := stateOf(args.Texts(), "is", args.Text(3))
	if err != nil {
		return Observation{}, err
	}
	return statement(checker.Statement{Throughout: state}, args.Text(4))
}

// detailBound is about the whole run.
func detailBound(args words.Args) (Observation, error) {
	bound := "atMost"
	if args.Text(4) == "below" {
		bound = "atLeast"
	}
	state, err := stateOf(args.Texts()[1:], bound, args.Int(5))
	if err != nil {
		return Observation{}, err
	}
	return statement(checker.Statement{Throughout: state, Ever: true}, args.Text(0))
}

// stateOf is the value of an object's detail, in events of any source; the first arguments are its key, the resource and
// the object.
func stateOf(args []string, compare string, value any) (*checker.State, error) {
	key, resource, object := args[0], args[1], args[2]
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
