//go:build linux

package clock

import (
	"time"

	"nodestorm/sim/time/lag"
)

// Window follows how a world's time passes, span by span. It disturbs neither the
// driver's figures nor other windows; it is not safe for concurrent use.
type Window struct {
	d          *Driver
	virt, wall int64
	lag        lagHistogram
}

// Window begins a span.
func (d *Driver) Window() *Window {
	w := &Window{d: d}
	w.Next()
	return w
}

// Next ends the span, returns its figures, of which Max and Shares are not known, and
// begins the next one.
func (w *Window) Next() lag.Figures {
	w.d.mu.Lock()
	virt, wall, late := w.d.page.now(), rawNow(), w.d.lagNow()
	w.d.mu.Unlock()
	f := lag.Figures{
		Mode:    w.d.cfg.Mode.String(),
		Virtual: time.Duration(virt - w.virt),
		Wall:    time.Duration(wall - w.wall),
		Lag:     late.minus(w.lag).figures(),
	}
	if f.Wall > 0 {
		f.Mean = float64(f.Virtual) / float64(f.Wall)
	}
	w.virt, w.wall, w.lag = virt, wall, late
	return f
}
