package fault

import (
	"context"
	"maps"
	"math/rand/v2"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/time/seed"
)

// EventDetails is what an event contains about a fault in addition to its name and effect.
type EventDetails struct {
	Actor  string
	Object history.Object
	Detail map[string]any
}

// Recorder is where faults of one part of the world are recorded.
type Recorder struct {
	History history.Recorder
	// Seed is what probabilities are drawn from, for each fault by its name.
	Seed uint64
}

// Life is that of one armed fault; Recorder.Arm makes it. It is not safe for concurrent
// use: its state changes with that of what it breaks, under the same lock.
type Life struct {
	Plan
	name, effect string

	armed, active, effective, cleared time.Time // zero: not yet
	seen, taken                       int

	random  *rand.Rand
	history history.Recorder
}

// Arm begins a life. A plan without When has its time count from now; where it is to
// count from something else, Start or Wait say so afterwards.
func (r Recorder) Arm(name, effect string, plan Plan, now time.Time, about EventDetails) Life {
	l := Life{Plan: plan, name: name, effect: effect, armed: now, random: seed.Stream(r.Seed, "fault", name), history: r.History}
	// mutant: a fault that waits for an event does not
	if plan.When == nil {
		l.Start(now)
	}
	l.record(history.Armed, now, about)
	return l
}

// Start has the plan's time count from then: the fault is active At later.
func (l *Life) Start(from time.Time) {
	// mutant: a fault begins at once
	l.active = from.Add(time.Duration(l.At))
}

// Wait has the plan's time count from a Start that is still to come.
func (l *Life) Wait() { l.active = time.Time{} }

// Name and Effect are what events call the fault and what it does.
func (l *Life) Name() string { return l.name }

// Effect is described with Name.
func (l *Life) Effect() string { return l.effect }

// Armed is when it was armed. As with Begins, Ends, EffectiveSince and Cleared, zero means that
// this has not come or never comes; Begins and Ends may be still to come.
func (l *Life) Armed() time.Time { return l.armed }

// Begins is described with Armed.
func (l *Life) Begins() time.Time { return l.active }

// Ends is described with Armed.
func (l *Life) Ends() time.Time {
	if l.active.IsZero() || l.For == 0 {
		return time.Time{}
	}
	return l.active.Add(time.Duration(l.For))
}

// EffectiveSince is described with Armed.
func (l *Life) EffectiveSince() time.Time { return l.effective }

// Cleared is described with Armed.
func (l *Life) Cleared() time.Time { return l.cleared }

// Expired reports whether its time is over.
func (l *Life) Expired(now time.Time) bool {
	end := l.Ends()
	// mutant: a fault never ends
	return !end.IsZero() && !now.Before(end)
}

// Active reports whether it is at work.
func (l *Life) Active(now time.Time) bool {
	return l.cleared.IsZero() && !l.active.IsZero() && !now.Before(l.active) && !l.Expired(now)
}

// Fire counts an occasion, and reports whether the fault acts on it: not one of those to
// skip, within the limit, and drawn.
func (l *Life) Fire() bool {
	if l.Spent() {
		return false
	}
	l.seen++
	// mutant: a fault never acts
	// mutant: a fault skips one occasion less
	// mutant: a fault's probability is ignored
	// mutant: an API fault never acts
	if l.seen <= l.Skip || l.Probability > 0 && l.random.Float64() >= l.Probability {
		return false
	}
	l.taken++
	return true
}

// Taken is on how many occasions it has acted.
func (l *Life) Taken() int { return l.taken }

// Spent reports whether it has acted on as many occasions as it may.
func (l *Life) Spent() bool {
	// mutant: a fault acts once too often
	// mutant: a fault of the cloud acts once too often while its call runs
	return l.Limit > 0 && l.taken >= l.Limit
}

// Matched records an occasion on which the fault acts.
func (l *Life) Matched(at time.Time, about EventDetails) { l.record(history.Matched, at, about) }

// Effective records a difference, and reports whether it was the first.
func (l *Life) Effective(at time.Time, about EventDetails) (first bool) {
	if first = l.effective.IsZero(); first {
		l.effective = at
	}
	l.record(history.Effective, at, about)
	return first
}

// Ineffective records an occasion on which the fault made no difference, and why.
func (l *Life) Ineffective(at time.Time, about EventDetails) {
	l.record(history.Ineffective, at, about)
}

// Clear ends the fault, and reports whether it was not over already.
func (l *Life) Clear(at time.Time, about EventDetails) bool {
	if !l.cleared.IsZero() {
		return false
	}
	l.cleared = at
	l.record(history.Cleared, at, about)
	return true
}

func (l *Life) record(verb string, at time.Time, about EventDetails) {
	detail := map[string]any{}
	maps.Copy(detail, about.Detail)
	detail["fault"], detail["effect"] = l.name, l.effect
	l.history.Record(history.Event{At: at, Source: history.Fault, Verb: verb, Actor: about.Actor, Object: about.Object, Detail: detail})
}

// Awaiting is the event that a plan's When is about. It is taken before the fault is
// armed, for the fault's own events not to count.
type Awaiting struct {
	log   *history.Log
	after uint64
}

// AwaitIn makes an Awaiting of what comes from now on.
func AwaitIn(log *history.Log) Awaiting {
	a := Awaiting{log: log}
	if before := log.Since(0); len(before) > 0 {
		a.after = before[len(before)-1].Seq
	}
	return a
}

// Event waits for the event, and returns when it happened. The error is that the
// context or the history has ended.
func (a Awaiting) Event(ctx context.Context, plan Plan) (time.Time, error) {
	r, err := a.log.WaitAfter(ctx, a.after, func(r history.Entry) bool { return plan.When.Matches(r) })
	if err != nil {
		return time.Time{}, err
	}
	return a.log.Start().Add(r.Virtual), nil
}
