// Package lag has the figures of how time passed in a world, and when they say that it was distorted: programs and their
// timers were later than what is concluded from a run bears. It measures nothing, see sim/time/clock.
package lag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// Budget is the lag at p99 beyond which a run is distorted: a quarter of a
	// second, a fortieth of the shortest interval that the failures are made of
	// (Karpenter's 10 s batch, Cluster Autoscaler's 10 s scan).
	Budget = 250 * time.Millisecond

	// Longest is how late one timer of a program may fire, and for how long a program may
	// stand still: a fifth of that interval.
	Longest = 2 * time.Second

	// fewest is how many timers a program must have for its own p99 to be judged. Of
	// fewer than 500 at most four are beyond it: the timers that are due in one and the
	// same hiccup of the machine, which Longest judges.
	fewest = 500
)

// Figures say how a world's time passed since its driver was made or Restart.
type Figures struct {
	Mode    string        `json:"mode"`
	Virtual time.Duration `json:"virtual"` // ns in JSON, as is Wall
	Wall    time.Duration `json:"wall"`
	Mean    float64       `json:"meanFactor"` // Virtual / Wall
	Max     float64       `json:"maxFactor"`  // of the windows
	Lag     Spread        `json:"lag"`
	// Programs say how late each program's own timers were, by name. They count from
	// Driver.Count on. Runs of before they were kept have none.
	Programs []Program `json:"programs,omitempty"`
	// Shares of wall time by factor, over windows of 100 ms.
	Shares []Share `json:"shares"`
}

// Share is the part of wall time that passed at less than Below times real time
// (and at no less than the share before it); Below 0 means no bound.
type Share struct {
	Below float64 `json:"below"`
	Part  float64 `json:"part"` // 0 to 1
}

// Program says how late one program of the world was, whatever it is there for: what runs in a world
// is there because something in it depends on it. Durations are virtual.
type Program struct {
	Name string `json:"name"`
	Lag  Spread `json:"lag"`
	// Stopped is the longest that the program was stopped (SIGSTOP), or, of nodestorm
	// itself, not run; Disk the longest that one of its threads waited for a disk.
	Stopped time.Duration `json:"stopped"` // ns in JSON, as is Disk
	Disk    time.Duration `json:"disk"`
	// Calls is how many system calls of a guest the kernel has reported to us since it started, and
	// Listening the processor time that this took us; both are 0 of other programs.
	Calls     uint64        `json:"told,omitempty"`
	Listening time.Duration `json:"listening,omitempty"` // ns in JSON
}

// Distorted says in a few words how the program was later than it may be, or "".
func (p Program) Distorted() string {
	var how []string // causes before what comes of them
	for _, most := range []struct {
		took time.Duration
		what string
	}{
		{p.Stopped, "stopped for %s (at most %s)"}, {p.Disk, "waited %s for a disk (at most %s)"},
		{p.Lag.Max, "a timer %s late (at most %s)"},
	} {
		// mutant: who stands still is not named
		if most.took > Longest {
			how = append(how, fmt.Sprintf(most.what, most.took.Round(100*time.Millisecond), Longest))
		}
	}
	if p.Lag.Timers >= fewest && p.Lag.P99 > Budget {
		how = append(how, fmt.Sprintf("timers %s late at p99 (at most %s)", p.Lag.P99.Round(time.Millisecond), Budget))
	}
	return strings.Join(how, ", ")
}

// worst is what of a program is furthest from what it should be.
func (p Program) worst() time.Duration { return max(p.Stopped, p.Disk, p.Lag.Max) }

// maxNamed is how many programs Distorted names.
const maxNamed = 5

// Distorted says in a sentence why nothing may be concluded from the run, or "".
func (f Figures) Distorted() string {
	var late []string
	for _, p := range slices.SortedStableFunc(slices.Values(f.Programs), func(a, b Program) int { return cmp.Compare(b.worst(), a.worst()) }) {
		if how := p.Distorted(); how != "" {
			late = append(late, p.Name+": "+how)
		}
	}
	if more := len(late) - maxNamed; more > 0 {
		late = append(late[:maxNamed], fmt.Sprintf("%d programs more", more))
	}
	if f.Lag.P99 > Budget {
		late = append(late, fmt.Sprintf("timers of all programs fired %s late at p99 (at most %s)", f.Lag.P99.Round(time.Millisecond), Budget))
	}
	if len(late) == 0 {
		return ""
	}
	return fmt.Sprintf("the clock was distorted: %s, in virtual time; try a lower --clock factor, or a quieter machine",
		strings.Join(late, "; "))
}

// Spread is how late timers fired, in virtual time, over all programs of the world.
type Spread struct {
	Timers uint64        `json:"timers"` // how many fired
	P50    time.Duration `json:"p50"`    // ns in JSON, as are the others
	P99    time.Duration `json:"p99"`
	Max    time.Duration `json:"max"`
}

func (l Spread) String() string {
	return fmt.Sprintf("p50 %s, p99 %s, max %s over %d timers",
		l.P50.Round(10*time.Microsecond), l.P99.Round(100*time.Microsecond), l.Max.Round(time.Millisecond), l.Timers)
}
