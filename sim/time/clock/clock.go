// Package clock makes a world of real programs live in one virtual time.
//
// Programs built with the edits of package overlay read their time from a page shared
// by the whole world. A [Driver] owns the page and decides how virtual time
// passes: as real time does, at a fixed factor, or ("auto") as real time does
// while any program has work to do, and at once to the next timer when none has.
//
// Our own components are not built that way: they take the k8s.io/utils/clock
// clock that [Driver.Clock] returns, which reads the same page. The package
// starts no process and knows nothing of Kubernetes.
package clock

import (
	"time"

	"k8s.io/utils/clock"
)

// Clock is virtual time for our own components.
//
// Now is the virtual wall time; durations are virtual nanoseconds. It never
// goes back, neither across a change of the rate nor across a jump, and keeps a
// constant distance to the clocks of all programs of the world. A timer never
// fires early. In auto mode it fires at most 190 ms late for the clock's sake.
type Clock interface {
	clock.WithTickerAndDelayedExecution
}

// Config of a Driver. Path is required.
type Config struct {
	Path  string    // of the clock page, which must not exist
	Mode  Mode      // zero: Auto
	Start time.Time // virtual time at the start; zero: now
}

// EnvPage names the environment variable that says to a program built with the
// overlay where its world's clock page is.
const EnvPage = "NODESTORM_CLOCK"
