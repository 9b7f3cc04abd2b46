package queue

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"nodestorm/harness/replay/supply"
	"nodestorm/sim/time/lag"
)

// plainGap is the time between plain lines about the same thing.
const plainGap = 10 * time.Second

// board shows what goes on in worlds: on a terminal one line for all, elsewhere, if that is asked for,
// a line when a world comes to another step, and now and then.
type board struct {
	line     supply.Line
	output   supply.Output
	beside   func() string // what goes on beside the worlds, for a terminal's line; may be nil
	parallel bool          // there are several worlds
	alone    bool          // it is the only replay: no line for a finished one shows that something goes on

	mu     sync.Mutex
	worlds map[int]*worldLine // by worker
	done   int
	all    int // 0: not known
}

// worldLine is what is shown of one world.
type worldLine struct {
	what    string
	figures lag.Figures
	subject string // of the last plain line
	shown   time.Time
}

// step shows what a worker's world does.
func (b *board) step(worker int, what, step string, f lag.Figures) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.worlds[worker]
	if w == nil {
		w = &worldLine{what: what}
		b.worlds[worker] = w
	}
	w.figures = f
	subject := what + step
	if !b.line.Steps() && !b.alone {
		return
	}
	if !b.line.Changes() {
		if subject != w.subject || time.Since(w.shown) >= plainGap {
			w.subject, w.shown = subject, time.Now()
			b.line.Show(subject, w.text()+"  "+step, "")
		}
		return
	}
	beside := ""
	if b.beside != nil {
		beside = b.beside()
	}
	if !b.parallel {
		b.line.Show(subject, w.text()+"  "+step, beside)
		return
	}
	var worlds []string
	for _, worker := range slices.Sorted(maps.Keys(b.worlds)) {
		worlds = append(worlds, b.worlds[worker].text())
	}
	text := strings.Join(worlds, " | ")
	if b.all > 0 {
		text = fmt.Sprintf("%d of %d done | %s", b.done, b.all, text)
	}
	b.line.Show("", text, beside)
}

// ended is for a world that is over.
func (b *board) ended(worker int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done++
	delete(b.worlds, worker)
}

// message prints a message between the lines: several workers may have one.
func (b *board) message(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.line.Clear()
	b.output.Say(format, args...)
}

// text is a world with the time that has passed in it.
func (w *worldLine) text() string {
	if w.figures.Virtual <= 0 {
		return w.what
	}
	return fmt.Sprintf("%s  %s  %.0fx", w.what, w.figures.Virtual.Truncate(time.Second), w.figures.Mean)
}

// watcher is called with each step as it begins, see replay.Request.
type watcher = func(step string, clock func() lag.Figures)

// watching shows the step under way with the clock so far, now and then, until stop.
func watching(show func(step string, f lag.Figures)) (watch watcher, stop func()) {
	type news struct {
		step  string
		clock func() lag.Figures
	}
	steps := make(chan news)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		var now news
		for {
			select {
			case n, more := <-steps:
				if !more {
					return
				}
				now = n
			case <-tick.C:
				if now.clock == nil {
					continue
				}
			}
			show(now.step, now.clock())
		}
	}()
	return func(step string, clock func() lag.Figures) { steps <- news{step, clock} },
		func() { close(steps); <-done }
}
