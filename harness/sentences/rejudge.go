package sentences

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cucumber/godog"

	"nodestorm/harness/run/verdict"
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

// Rejudge judges the Thens of a run by its records. It returns the records with the outcomes
// that they show in place of those that were recorded.
func Rejudge(records history.Records) (history.Records, Judged) {
	var steps []history.Record
	var end time.Duration
	died := false
	for r := range records.Arrived() {
		if _, ok := history.OutcomeOf(r); ok {
			steps = append(steps, r)
		}
		end = max(end, r.Virtual)
		died = died || r.Source == history.Harness && r.Verb == history.Died
	}
	known := knownObservers()
	var judged Judged
	var thens []*then
	for i, r := range steps {
		step, ok := history.OutcomeOf(r)
		if !ok || step.Role != history.Then || !slices.Contains([]string{passed, failed, Undecided}, step.Status) {
			continue
		}
		o, ok, err := known.find(step.Text, step.Quoted)
		if !ok {
			judged.AsRecorded++
			continue
		}
		j := judging(o, steps[:i])
		if r.Virtual < j.settled { // by an older nodestorm, which let nothing settle
			j.due = false
		}
		thens = append(thens, &then{judge: j, own: r.Seq, step: step, decided: err != nil, err: err})
	}
	if slices.ContainsFunc(thens, func(t *then) bool { return !t.decided }) {
		for r := range records.Arrived() {
			for _, t := range thens {
				t.take(r)
			}
		}
	}
	again := rejudged{records, map[uint64]history.Event{}}
	for _, t := range thens {
		if !t.decided {
			t.err = fmt.Errorf("its window ends at %s, and the history at %s", t.end.Round(time.Millisecond), end.Round(time.Millisecond))
		}
		if errors.Is(t.err, errLacking) || !t.decided && t.step.Status != passed && died {
			judged.AsRecorded++
			continue
		}
		judged.Again++
		now := t.step
		now.Status, now.Error = passed, ""
		switch {
		case !t.decided, errors.Is(t.err, errUntold):
			now.Status = Undecided
		case t.err != nil:
			now.Status = failed
		}
		if t.err != nil {
			now.Error = t.err.Error()
		}
		if now.Status == t.step.Status {
			continue // the recorded error is what the user has read
		}
		why := now.Status
		if now.Error != "" {
			why += ": " + verdict.OneLine(now.Error)
		}
		judged.Differences = append(judged.Differences, fmt.Sprintf("the Then %q was recorded as %s, the history says %s", t.step.Text, t.step.Status, why))
		again.events[t.own] = now.Event()
	}
	return again, judged
}

// rejudged are records, of which some tell of something else now.
type rejudged struct {
	history.Records
	events map[uint64]history.Event // by Seq
}

func (r rejudged) Arrived() iter.Seq[history.Record] { return r.told(r.Records.Arrived()) }
func (r rejudged) Timed() iter.Seq[history.Record]   { return r.told(r.Records.Timed()) }

func (r rejudged) told(records iter.Seq[history.Record]) iter.Seq[history.Record] {
	return func(yield func(history.Record) bool) {
		for record := range records {
			if now, changed := r.events[record.Seq]; changed {
				record.Event = now
			}
			if !yield(record) {
				return
			}
		}
	}
}

// then is a Then that is judged by all records of a run: a live judge saw those before its
// own, and what it would have seen had it gone on counts as well.
type then struct {
	*judge
	own     uint64 // Seq of the record of its outcome
	step    history.Outcome
	decided bool
	err     error
}

// take takes in the next record, in the order of arrival.
func (t *then) take(r history.Record) {
	switch {
	case t.decided:
	case r.Seq > t.own && r.Virtual > t.end, r.Seq == t.own && r.Virtual >= t.end:
		t.decided, t.err = true, t.over()
	default:
		t.decided, t.err = t.judge.take(r)
	}
}

const passed, failed = "passed", "failed"
