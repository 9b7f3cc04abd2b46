package measure

import (
	"time"

	"nodestorm/sim/history"
)

// Watch judges a bound by the events of a run as they arrive. It is for one judgement.
type Watch struct {
	bound       *Bound
	meter       *Meter
	any, counts bool
}

// Watch begins to judge the bound, which Check has found right; nil without one.
func (b *Bound) Watch() *Watch {
	if b == nil {
		return nil
	}
	return &Watch{bound: b, meter: NewMeter()}
}

// Add takes in the next event; counts says whether what is meant has begun. What there was before is there.
func (w *Watch) Add(r history.Entry, counts bool) {
	// mutant: a measure counts from the start of the run
	if counts && !w.counts && w.any {
		w.meter.StartAt(r.Virtual)
	}
	w.any, w.counts = true, w.counts || counts
	w.meter.Add(r)
}

// ResultAt is how it stands at the end of what is meant, in words as checker.Result has them, and why.
func (w *Watch) ResultAt(end time.Duration) (result, why string) {
	holds, known, why := w.bound.Judge(w.meter.ValuesAt(end))
	switch {
	// mutant: a run that lacks a measure breaks its bound
	case !known:
		return "unknown", why
	case !holds:
		return "invalid", why
	}
	return "valid", ""
}
