// Package story puts the events of a run in order for people: who was alive in
// what state and when, who belongs to whom, what the autoscaler decided, and how
// many of each there were. It is pure, judges nothing and draws nothing.
//
// It is made for a million events: a Builder takes them one by one and keeps of
// each a few numbers, and every text once.
package story

import (
	"math"
	"time"

	"nodestorm/reports/table"
	"nodestorm/sim/history/measure"
	"nodestorm/sim/time/lag"
)

// Run is what is known of a run in addition to its history. All fields may be empty: of
// a damaged run what could be read is shown.
type Run struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	// Summary is what users see of the failure, Mechanism why.
	Summary   string `json:"summary,omitempty"`
	Mechanism string `json:"mechanism,omitempty"`
	// Issue and Fix are owner/repository#number.
	Issue string `json:"issue,omitempty"`
	Fix   string `json:"fix,omitempty"`
	// Autoscaler is the name of the program under test, and the actor of its
	// events: "karpenter". Target is the build, "karpenter@v1.6.4", Source where
	// it came from; Kubernetes is the control plane.
	Autoscaler string `json:"autoscaler,omitempty"`
	Target     string `json:"target,omitempty"`
	Source     string `json:"source,omitempty"`
	Kubernetes string `json:"kubernetes,omitempty"`
	// Departures say in which ways the run was something else than Target and
	// Kubernetes say: uncommitted changes, a manifest of the user's. A line each.
	Departures []string `json:"departures,omitempty"`
	// Builds name the programs, each with its digest.
	Builds []string `json:"builds,omitempty"`
	// Verdict is healthy, reproduced, failed or inconclusive, Expected what the catalogue
	// promises, Outcome how the two compare, Reason why.
	Verdict  string `json:"verdict,omitempty"`
	Expected string `json:"expected,omitempty"`
	Outcome  string `json:"outcome,omitempty"`
	Reason   string `json:"reason,omitempty"`
	// Discarded says which run counts in place of this one; empty if this one counts.
	Discarded string `json:"discarded,omitempty"`
	// Broken are the invariants of every run that do not hold: a name and a sentence each.
	Broken []string `json:"broken,omitempty"`
	// Symptom is the statement of what the failure looks like.
	Symptom string `json:"symptom,omitempty"`
	// Evidence are the Seq of the events that show the verdict, in order.
	Evidence []uint64 `json:"evidence,omitempty"`
	Seed     uint64   `json:"seed"`
	Commit   string   `json:"commit,omitempty"` // nodestorm's own
	// Nodestorm is its commit for people, with whether there were uncommitted changes.
	Nodestorm string `json:"nodestorm,omitempty"`
	// Started is real time, Epoch the virtual time from which offsets count.
	Started time.Time `json:"started,omitzero"`
	Epoch   time.Time `json:"epoch,omitzero"`
	Clock   Clock     `json:"clock"`
	// Took is how long it took in real time, its world's start included, in milliseconds;
	// zero where that was not kept.
	Took float64 `json:"took,omitempty"`
	// Settings are what the target was started with, without credentials.
	Settings []string `json:"settings,omitempty"`
	// Repeat is the command that makes the run again, with the departures as a comment.
	Repeat string `json:"repeat,omitempty"`
	// Problems name what could not be read.
	Problems []string `json:"problems,omitempty"`
	// Live says that the run is still going on.
	Live bool `json:"live,omitempty"`
	// Unjudged says that there will never be a verdict: a user keeps the world.
	Unjudged bool `json:"unjudged,omitempty"`
	// HourlyEUR is what a machine costs an hour in euros, where its own events
	// do not say. Zero: unknown, and then only node-hours are counted.
	HourlyEUR float64 `json:"hourlyEUR,omitempty"`
	// Measures are what the run came to, by their names: see sim/history/measure.
	Measures measure.Values `json:"measures,omitempty"`
}

// Clock says how time passed. Durations are in milliseconds.
type Clock struct {
	Mode    string  `json:"mode,omitempty"`
	Virtual float64 `json:"virtual"`
	Wall    float64 `json:"wall"`
	Factor  float64 `json:"factor"` // mean; NaN and infinity are shown as 0
	LagP50  float64 `json:"lagP50"` // how late timers fired, virtual
	LagP99  float64 `json:"lagP99"`
	LagMax  float64 `json:"lagMax"`
	// Programs say it of each program, from the first When on.
	Programs []table.Program `json:"programs,omitempty"`
}

// Passed is what the figures of a run's clock say.
func Passed(f lag.Figures) Clock {
	factor := f.Mean
	if math.IsNaN(factor) || math.IsInf(factor, 0) {
		factor = 0
	}
	return Clock{
		Mode: f.Mode, Virtual: table.Millis(f.Virtual), Wall: table.Millis(f.Wall), Factor: factor,
		LagP50: table.Millis(f.Lag.P50), LagP99: table.Millis(f.Lag.P99), LagMax: table.Millis(f.Lag.Max),
		Programs: table.Lateness(f),
	}
}
