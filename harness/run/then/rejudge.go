package then

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/oneline"
)

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

// Rejudge judges the Thens of a run by its events. It returns the events with the outcomes
// that they show in place of those that were recorded.
func Rejudge(events history.Entries) (history.Entries, Judged) {
	var steps []history.Entry
	var end time.Duration
	died := false
	for r := range events.Arrived() {
		if _, ok := history.OutcomeOf(r); ok {
			steps = append(steps, r)
		}
		end = max(end, r.Virtual)
		died = died || r.Source == history.Harness && r.Verb == history.Died
	}
	var judged Judged
	thens := judged.find(steps)
	if slices.ContainsFunc(thens, func(t *stored) bool { return !t.decided }) {
		for r := range events.Arrived() {
			for _, t := range thens {
				t.add(r)
			}
		}
	}
	again := rejudged{events, map[uint64]history.Event{}}
	for _, t := range thens {
		if !t.decided {
			t.err = fmt.Errorf("its window ends at %s, and the history at %s", t.end.Round(time.Millisecond), end.Round(time.Millisecond))
		}
		if errors.Is(t.err, errLacking) || !t.decided && t.step.Status != passed && died {
			judged.AsRecorded++
			continue
		}
		judged.Again++
		if now := t.outcome(); now.Status != t.step.Status { // else the recorded error is what the user has read
			judged.differs(t.step, now)
			again.events[t.own] = now.Event()
		}
	}
	return again, judged
}

// find finds the Thens among the steps that the history can judge.
func (judged *Judged) find(steps []history.Entry) (thens []*stored) {
	for i, r := range steps {
		step, ok := history.OutcomeOf(r)
		if !ok || step.Role != history.Then || !slices.Contains([]string{passed, failed, Undecided}, step.Status) {
			continue
		}
		o, ok, err := Find(step.Text, step.Quoted)
		if !ok {
			judged.AsRecorded++
			continue
		}
		if err != nil {
			// mutant: who has asked in vain blames the target
			err = fmt.Errorf("%w: %w", ErrUndecided, err) // the question is wrong, whatever the target has done
		}
		j := NewJudge(o, steps[:i])
		if r.Virtual < j.settled { // by an older nodestorm, which let nothing settle
			j.due = false
		}
		thens = append(thens, &stored{Judge: j, own: r.Seq, step: step, decided: err != nil, err: err})
	}
	return thens
}

// outcome is what the history says of the Then.
func (t *stored) outcome() history.Outcome {
	now := t.step
	now.Status, now.Error = passed, ""
	switch {
	case !t.decided, errors.Is(t.err, ErrUndecided):
		now.Status = Undecided
	case t.err != nil:
		now.Status = failed
	}
	if t.err != nil {
		now.Error = t.err.Error()
	}
	return now
}

// differs notes that the history says something else than was recorded.
func (judged *Judged) differs(recorded, now history.Outcome) {
	why := now.Status
	if now.Error != "" {
		why += ": " + oneline.Ends(now.Error)
	}
	judged.Differences = append(judged.Differences,
		fmt.Sprintf("the Then %q was recorded as %s, the history says %s", recorded.Text, recorded.Status, why))
}

// rejudged are events, of which some say something else now.
type rejudged struct {
	history.Entries
	events map[uint64]history.Event // by Seq
}

func (r rejudged) Arrived() iter.Seq[history.Entry] { return r.changed(r.Entries.Arrived()) }
func (r rejudged) Timed() iter.Seq[history.Entry]   { return r.changed(r.Entries.Timed()) }

func (r rejudged) changed(events iter.Seq[history.Entry]) iter.Seq[history.Entry] {
	return func(yield func(history.Entry) bool) {
		for event := range events {
			if now, is := r.events[event.Seq]; is {
				event.Event = now
			}
			if !yield(event) {
				return
			}
		}
	}
}

// stored is a Then that is judged by all events of a run: a live judge saw those before its
// own, and what it would have seen had it gone on counts as well.
type stored struct {
	*Judge
	own     uint64 // Seq of the event of its outcome
	step    history.Outcome
	decided bool
	err     error
}

// add takes in the next event, in the order of arrival.
func (t *stored) add(r history.Entry) {
	switch {
	case t.decided:
	case r.Seq > t.own && r.Virtual > t.end, r.Seq == t.own && r.Virtual >= t.end:
		t.decided, t.err = true, t.over()
	default:
		t.decided, t.err = t.Judge.Add(r)
	}
}

const passed, failed = "passed", "failed"
