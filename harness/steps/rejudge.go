package steps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cucumber/godog"

	"nodestorm/harness/verdict"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
)

var (
	observationType = reflect.TypeFor[observation]()
	contextType     = reflect.TypeFor[context.Context]()
	errorType       = reflect.TypeFor[error]()
	quotedType      = reflect.TypeFor[quotation]()
)

// isObserver tells whether a sentence only makes an observation of its arguments.
func isObserver(do any) bool {
	t := reflect.TypeOf(do)
	return t != nil && t.Kind() == reflect.Func && t.NumOut() == 2 && t.Out(0) == observationType
}

// observerOf is the function in place of the statements that a sentence is a name for.
func observerOf(pattern, do any) any {
	if n, is := do.(named); is {
		return n.observer(pattern.(string))
	}
	return do
}

// live is godog, which is given a function that waits for each observation.
type live struct {
	sentences
	s *scenario
}

func (l live) Then(pattern, do any) {
	do = observerOf(pattern, do)
	if isObserver(do) {
		do = l.s.waiting(do, strings.HasSuffix(pattern.(string), ":$"))
	}
	l.sentences.Then(pattern, do)
}

// quotes tells whether the last argument of an observer is what the step quotes, or the
// file that it names.
func quotes(observe reflect.Type) bool {
	n := observe.NumIn()
	return n > 0 && observe.In(n-1) == quotedType
}

// waiting is the step that judges the observation that observe makes of its arguments.
func (s *scenario) waiting(observe any, docString bool) any {
	t := reflect.TypeOf(observe)
	in := []reflect.Type{contextType}
	for i := range t.NumIn() {
		if t.In(i) != quotedType {
			in = append(in, t.In(i))
		}
	}
	if docString {
		in = append(in, docStringType)
	}
	step := reflect.FuncOf(in, []reflect.Type{errorType}, false)
	return reflect.MakeFunc(step, func(args []reflect.Value) []reflect.Value {
		err := s.judgeLive(args, observe, docString)
		return []reflect.Value{reflect.ValueOf(&err).Elem()}
	}).Interface()
}

func (s *scenario) judgeLive(args []reflect.Value, observe any, docString bool) error {
	ctx, of := args[0].Interface().(context.Context), args[1:]
	if quotes(reflect.TypeOf(observe)) {
		if docString {
			n := len(of) - 1
			s.quoted = of[n].Interface().(*godog.DocString).Content
			of = of[:n:n]
		} else {
			name, _ := scenarios.FileOf(s.text)
			text, err := readBeside(s.rig.Beside, name)
			if err != nil {
				return err
			}
			s.quoted = string(text)
		}
		of = append(of, reflect.ValueOf(quotation(s.quoted)))
	}
	o, err := made(reflect.ValueOf(observe).Call(of))
	if err != nil {
		return err
	}
	return s.holds(ctx, o)
}

func made(out []reflect.Value) (observation, error) {
	err, _ := out[1].Interface().(error)
	return out[0].Interface().(observation), err
}

// observers are the sentences that make observations.
type observers []observer

type observer struct {
	pattern *regexp.Regexp
	observe reflect.Value
}

var knownObservers = sync.OnceValue(func() (known observers) {
	(&scenario{}).register(&known)
	return known
})

func (*observers) Given(any, any) {}
func (*observers) When(any, any)  {}
func (o *observers) Then(pattern, do any) {
	do = observerOf(pattern, do)
	if isObserver(do) {
		*o = append(*o, observer{regexp.MustCompile(pattern.(string)), reflect.ValueOf(do)})
	}
}

// find makes the observation of a sentence, and of what its step quoted. There is none for one that does more than
// observe the history, or that nodestorm does not know any more.
func (o observers) find(text, said string) (made_ observation, ok bool, err error) {
	for _, sentence := range o {
		m := sentence.pattern.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		if quotes(sentence.observe.Type()) {
			if said == "" {
				continue
			}
			m = append(m, said)
		}
		if len(m)-1 != sentence.observe.Type().NumIn() {
			continue
		}
		args := make([]reflect.Value, 0, len(m))
		for i, text := range m[1:] {
			arg := reflect.New(sentence.observe.Type().In(i)).Elem()
			switch arg.Kind() {
			case reflect.String:
				arg.SetString(text)
			default:
				n, err := strconv.ParseInt(text, 10, 64)
				if err != nil {
					return observation{}, true, fmt.Errorf("%q is no number: %w", text, err)
				}
				arg.SetInt(n)
			}
			args = append(args, arg)
		}
		made_, err = made(sentence.observe.Call(args))
		return made_, true, err
	}
	return observation{}, false, nil
}

// Judged says which Thens of a run were judged by its history.
type Judged struct {
	// Again is how many were, AsRecorded how many were not: their sentences ask the
	// world for what is not in a history.
	Again, AsRecorded int
	// Differences are those of which the history says something else than the recorded
	// outcome, a sentence each.
	Differences []string
}

// Undecided is the status of a Then whose time a history does not have.
const Undecided = "undecided"

// Rejudge judges the Thens of a run by its records. It returns the records, in the order
// of arrival, with the outcomes that they show in place of those that were recorded.
func Rejudge(records []history.Record) ([]history.Record, Judged) {
	records = slices.Clone(records)
	slices.SortStableFunc(records, func(a, b history.Record) int { return cmp.Compare(a.Seq, b.Seq) })
	known := knownObservers()
	var judged Judged
	again := slices.Clone(records)
	for i, r := range records {
		step, ok := history.OutcomeOf(r)
		if !ok || step.Role != history.Then || step.Status != passed && step.Status != failed {
			continue
		}
		o, ok, err := known.find(step.Text, step.Quoted)
		if !ok {
			judged.AsRecorded++
			continue
		}
		decided := err != nil
		if !decided {
			decided, err = judging(o, records[:i]).stored(records, i)
		}
		if errors.Is(err, errLacking) || !decided && step.Status == failed && died(records) {
			judged.AsRecorded++
			continue
		}
		judged.Again++
		now := step
		now.Status, now.Error = passed, ""
		switch {
		case !decided:
			now.Status = Undecided
		case err != nil:
			now.Status = failed
		}
		if err != nil {
			now.Error = err.Error()
		}
		if now.Status == step.Status {
			continue // the recorded error is what the user has read
		}
		why := now.Status
		if now.Error != "" {
			why += ": " + verdict.OneLine(now.Error)
		}
		judged.Differences = append(judged.Differences, fmt.Sprintf("the Then %q was recorded as %s, the history says %s", step.Text, step.Status, why))
		again[i].Event = now.Event()
	}
	return again, judged
}

const passed, failed = "passed", "failed"

// stored judges by all records of a run, of which the one at own is that of the step. A
// live judge saw those before it; what it would have seen had it gone on counts as well.
func (j *judge) stored(records []history.Record, own int) (decided bool, err error) {
	for i, r := range records {
		if i > own && r.Virtual > j.end || i == own && r.Virtual >= j.end {
			return true, j.over()
		}
		if decided, err := j.take(r); decided {
			return true, err
		}
	}
	last := time.Duration(0)
	for _, r := range records {
		last = max(last, r.Virtual)
	}
	return false, fmt.Errorf("its window ends at %s, and the history at %s", j.end.Round(time.Millisecond), last.Round(time.Millisecond))
}

// died tells whether the world did, which makes the step of then fail.
func died(records []history.Record) bool {
	return slices.ContainsFunc(records, func(r history.Record) bool {
		return r.Source == history.Harness && r.Verb == history.Died
	})
}
