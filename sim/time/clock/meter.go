//go:build linux

package clock

import (
	"time"

	"nodestorm/sim/time/lag"
)

const window = 100 * time.Millisecond

var shareBounds = []float64{2, 10, 50, 100, 200, 500, 0}

// meter follows how virtual time passed.
type meter struct {
	virt0, wall0 int64
	virt, wall   int64 // start of the present window
	max          float64
	in           [7]int64 // wall ns by shareBounds
	lag0         lagHistogram
}

// start begins at a virtual time and the real one, which is read first: virtual time that
// passes in between would count as won.
func (m *meter) start(virt, wall int64) {
	*m = meter{virt0: virt, wall0: wall, virt: virt, wall: wall}
}

// see is called often, with the present virtual time.
func (m *meter) see(virt int64) {
	wall := rawNow()
	if wall-m.wall < int64(window) {
		return
	}
	factor := float64(virt-m.virt) / float64(wall-m.wall)
	m.max = max(m.max, factor)
	for i, bound := range shareBounds {
		if bound == 0 || factor < bound {
			m.in[i] += wall - m.wall
			break
		}
	}
	m.virt, m.wall = virt, wall
}

// Restart makes the figures begin anew: a world calls it when it is ready.
func (d *Driver) Restart() {
	d.mu.Lock()
	defer d.mu.Unlock()
	lag, wall := d.lagNow(), rawNow()
	d.meter.start(d.page.now(), wall)
	d.meter.lag0 = lag
	d.count()
}

// Figures since the start or the last Restart.
func (d *Driver) Figures() lag.Figures {
	d.mu.Lock()
	defer d.mu.Unlock()
	m, now := &d.meter, d.page.now()
	f := lag.Figures{
		Mode:    d.cfg.Mode.String(),
		Virtual: time.Duration(now - m.virt0),
		Wall:    time.Duration(rawNow() - m.wall0),
		Lag:     d.lagNow().minus(m.lag0).figures(),

		Programs: d.programs(),
	}
	f.Mean = float64(f.Virtual) / float64(f.Wall)
	f.Max = max(m.max, f.Mean)
	var total int64
	for _, ns := range m.in {
		total += ns
	}
	for i, ns := range m.in {
		if ns > 0 {
			f.Shares = append(f.Shares, lag.Share{Below: shareBounds[i], Part: float64(ns) / float64(total)})
		}
	}
	return f
}

// lagNow is the lag of all programs since the driver was made.
func (d *Driver) lagNow() lagHistogram {
	h := d.gone
	for i, p := range d.procs {
		if p != nil {
			h.merge(p.before)
			h.merge(d.page.slots[i].histogram())
		}
	}
	d.clock.mu.Lock()
	defer d.clock.mu.Unlock()
	h.merge(d.clock.before)
	h.merge(d.clock.lag)
	return h
}
