package sentences

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nodestorm/sim/history"
)

// observation is what a Then says of the history, made from the sentence's arguments
// alone. It is given the records one after the other, in the order of their arrival,
// live and stored alike, and keeps what it has seen: it is for one judgement.
type observation struct {
	// window is how long it may take, in virtual time from the step's beginning; zero
	// is about what is so then.
	window time.Duration
	// settle is how long after that it is decided at the earliest: what the step before did
	// needs so long to be seen.
	settle time.Duration
	// see takes in a record of the run, and says when the Then is decided: it holds, or
	// does not for the reason of the error.
	see func(r history.Record, at phase) (decided bool, err error)
	// over is how it stands when the window ends undecided.
	over func() error
}

// phase is where in the run a record is, seen from a Then. A record of the step before
// counts as the beginning.
type phase int

const (
	earlier phase = iota
	asked         // since the Whens right before the Then, or since the start without any
	begun         // since the Then itself
)

// errLacking is what an observation says of a history of before it had what is asked for.
var errLacking = errors.New("the history does not have what this asks for")

// state is something that the records of a run tell of.
type state interface{ take(r history.Record) }

// eventually holds as soon as the state does, from the step's beginning on.
func eventually(d string, s state, holds func() error) (observation, error) {
	window, err := duration(d)
	return observation{
		window: window,
		see: func(r history.Record, at phase) (bool, error) {
			s.take(r)
			if at < begun {
				return false, nil
			}
			if err := holds(); err == nil || errors.Is(err, errLacking) {
				return true, err
			}
			return false, nil
		},
		over: func() error {
			if err := holds(); err != nil {
				return fmt.Errorf("not within %s: %w", window, err)
			}
			return nil
		},
	}, err
}

// now is about the state as the step begins.
func now(s state, holds func() error) (observation, error) {
	return observation{
		see:  func(r history.Record, _ phase) (bool, error) { s.take(r); return false, nil },
		over: holds,
	}, nil
}

// judge is the judgement of one observation in one run.
type judge struct {
	observation
	asked, begun uint64        // Seq of the records from which the phases count
	settled      time.Duration // from when it can be decided
	due          bool          // it has not been looked at since
	end          time.Duration // of the window
}

// judging judges from here on: the last of the records, which are in the order of
// arrival, is of the step before or came after it.
func judging(o observation, records []history.Record) *judge {
	j := &judge{observation: o}
	var last history.Role
	for _, r := range records {
		step, ok := history.OutcomeOf(r)
		if !ok {
			continue
		}
		if step.Role == history.When && last != step.Role {
			j.asked = j.begun
		}
		last, j.begun, j.end = step.Role, r.Seq, r.Virtual
	}
	j.settled, j.due = j.end+o.settle, o.settle > 0
	j.end += o.window
	return j
}

// settles tells whether it holds as soon as it can be decided.
func (j *judge) settles() bool {
	j.due = false
	return j.over() == nil
}

// take takes in the next record. What happened after the window decides nothing.
func (j *judge) take(r history.Record) (decided bool, err error) {
	if r.Virtual > j.end && j.window > 0 {
		return false, nil
	}
	if j.due && r.Seq >= j.begun && r.Virtual >= j.settled && j.settles() {
		return true, nil
	}
	at := earlier
	switch {
	case r.Seq >= j.begun && !j.due:
		at = begun
	case r.Seq > j.asked:
		at = asked
	}
	return j.see(r, at)
}

// holds judges an observation live: it waits until it is decided or its window is over.
func (s *scenario) holds(ctx context.Context, o observation) (found error) {
	j := judging(o, s.world.History().Since(0))
	seen := uint64(0)
	until := func(end time.Duration) error {
		wait := s.world.History().Start().Add(end).Sub(s.world.Clock().Now())
		_, err := s.within(ctx, max(wait, 0), seen, func(r history.Record) (decided bool) {
			seen = r.Seq
			decided, found = j.take(r)
			return decided
		})
		return err
	}
	if j.due {
		switch err := until(j.settled); {
		case !errors.Is(err, errWindow):
			return errors.Join(found, err)
		case j.due && j.settles():
			return nil
		}
	}
	if err := until(j.end); !errors.Is(err, errWindow) {
		return errors.Join(found, err)
	}
	return j.over()
}
