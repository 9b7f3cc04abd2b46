package world

import (
	"context"
	"fmt"
	"math"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/time/lag"
)

const (
	// paceEvery is how often, in real time, the pace of the clock is looked at.
	paceEvery = 250 * time.Millisecond
	// paceKept is the longest real time for which a pace that stays the same is not
	// recorded again.
	paceKept = 5 * time.Second
)

// recordPace records how virtual time passes, for reports: an event with the source
// "clock" describes the span before it. Spans that are like the last recorded one
// are left out, so that histories stay small.
func (w *World) recordPace() {
	window := w.driver.Window()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		look := time.NewTicker(paceEvery) // real time: no work waits for it
		defer look.Stop()
		var p pace
		for {
			select {
			case <-look.C:
				if f := window.Next(); p.isNew(f) {
					w.history.Record(paceEvent(f))
				}
				if err := w.driver.Err(); err != nil { // a run whose time stands still proves nothing, and takes long
					w.fail(fmt.Errorf("virtual time stood still: %w", err))
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	w.OnStop(func() error {
		cancel()
		<-done
		return nil
	})
}

// pace is what was recorded last, and for how long spans since were like it.
type pace struct {
	last  lag.Figures
	alike time.Duration // real
}

// isNew reports whether the next span is worth an event.
func (p *pace) isNew(f lag.Figures) bool {
	p.alike += f.Wall
	if near(f.Mean, p.last.Mean, 0.1) && near(float64(f.Lag.Max), float64(p.last.Lag.Max), float64(time.Millisecond)) && p.alike < paceKept {
		return false
	}
	p.last, p.alike = f, 0
	return true
}

// near reports whether two figures differ by less than a fifth, or than least.
func near(a, b, least float64) bool {
	return math.Abs(a-b) <= max(least, 0.2*max(a, b))
}

func paceEvent(f lag.Figures) history.Event {
	return history.Event{Source: history.Clock, Verb: history.Pace, Detail: map[string]any{
		"seconds": round(f.Virtual.Seconds()), "factor": round(f.Mean),
		"lagP99Ms": round(f.Lag.P99.Seconds() * 1000), "lagMaxMs": round(f.Lag.Max.Seconds() * 1000),
	}}
}

// round keeps three decimals.
func round(f float64) float64 { return math.Round(f*1000) / 1000 }
