//go:build !linux

package clock

import (
	"runtime"
	"time"

	"k8s.io/utils/clock"

	"nodestorm/sim/time/lag"
)

// Driver is real time: virtual time needs Linux. There is no page, and
// Config.Path and Config.Start mean nothing.
type Driver struct{ since time.Time }

// NewDriver wants the mode Real.
func NewDriver(cfg Config) (*Driver, error) {
	if err := cfg.Mode.supported(runtime.GOOS, runtime.GOARCH); err != nil {
		return nil, err
	}
	return &Driver{since: time.Now()}, nil
}

// Clock is real time.
func (d *Driver) Clock() Clock { return clock.RealClock{} }

// Env says to programs that there is no page.
func (d *Driver) Env() string { return EnvPage + "=" }

// Hold does nothing, nor do Release and Close.
func (d *Driver) Hold() {}

// Release does nothing.
func (d *Driver) Release() {}

// Err is nil.
func (d *Driver) Err() error { return nil }

// Close does nothing.
func (d *Driver) Close() error { return nil }

// Restart makes the figures begin anew. It must not run beside Figures.
func (d *Driver) Restart() { d.since = time.Now() }

// Name does nothing, nor does Count.
func (d *Driver) Name(int, string) {}

// Count does nothing.
func (d *Driver) Count() {}

// Figures since the start or the last Restart; no timers are measured.
func (d *Driver) Figures() lag.Figures {
	passed := time.Since(d.since)
	return lag.Figures{Mode: Real.String(), Virtual: passed, Wall: passed, Mean: 1, Max: 1}
}

// Window follows real time, span by span.
type Window struct{ since time.Time }

// Window begins a span.
func (d *Driver) Window() *Window { return &Window{time.Now()} }

// Next ends the span, returns its figures and begins the next one.
func (w *Window) Next() lag.Figures {
	passed := time.Since(w.since)
	w.since = time.Now()
	return lag.Figures{Mode: Real.String(), Virtual: passed, Wall: passed, Mean: 1}
}
