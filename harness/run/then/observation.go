package then

import (
	"errors"
	"fmt"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
)

// Observation is what a Then says of the history, made from the sentence's arguments
// alone. It is given the events one after the other, in the order of their arrival,
// live and stored alike, and keeps what it has seen: it is for one judgement.
type Observation struct {
	// window is how long it may take, in virtual time from the step's beginning; zero
	// is about what is so then.
	window time.Duration
	// settle is how long after that it is decided at the earliest: what the step before did
	// needs so long to be seen.
	settle time.Duration
	// see takes in an event of the run, and says when the Then is decided: it holds, or
	// does not for the reason of the error.
	see func(r history.Entry, at phase) (decided bool, err error)
	// over is how it stands when the window ends undecided.
	over func() error
	// stated are the statements that it is about; none of one that is about something else.
	stated []checker.Statement
}

// EachStatement calls check with each statement that it is about, and says of an error that it is in one.
func (o Observation) EachStatement(check func(*checker.Statement) error) error {
	for i := range o.stated {
		if err := check(&o.stated[i]); err != nil {
			return fmt.Errorf("the statement: %w", err)
		}
	}
	return nil
}

// phase is where in the run an event is, seen from a Then. An event of the step before
// counts as the beginning.
type phase int

const (
	earlier phase = iota
	asked         // since the Whens right before the Then, or since the start without any
	begun         // since the Then itself
)

// errLacking is what an observation says of a history of before it had what is asked for.
var errLacking = errors.New("the history does not have what this asks for")

// state is what the events of a run add up to.
type state interface{ add(r history.Entry) }

// eventually holds as soon as the state does, from the step's beginning on.
func eventually(window time.Duration, s state, holds func() error) Observation {
	return Observation{
		window: window,
		see: func(r history.Entry, at phase) (bool, error) {
			s.add(r)
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
	}
}

// now is about the state as the step begins.
func now(s state, holds func() error) Observation {
	return Observation{
		see:  func(r history.Entry, _ phase) (bool, error) { s.add(r); return false, nil },
		over: holds,
	}
}
