//go:build linux

package clock

import (
	"maps"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"nodestorm/sim/time/lag"
)

// OurName is what our own process is called among the programs.
const OurName = "nodestorm"

// part is what one program of the world has shown since the last Count, when it was
// before as late as it says.
type part struct {
	name          string
	named         bool // by Name, and not by its file
	before        lagHistogram
	lag           lagHistogram // of a running program: only what is not in its slot any more
	stopped, disk int64        // the longest stay, virtual ns
	calls         uint64       // of a guest, as is listening
	listening     int64        // ns of processor time
}

// merge adds what another process of the same name has shown.
func (p *part) merge(o part) {
	p.lag.merge(o.lag)
	p.stopped, p.disk = max(p.stopped, o.stopped), max(p.disk, o.disk)
	p.calls, p.listening = p.calls+o.calls, p.listening+o.listening
}

// Name says what the program with that process ID is called in the figures, where
// processes of the same name are one. It may not have come to its slot yet, or never
// will, as one that is not built with the clock: who has a name is followed until it
// ends. One that has ended, or is no process of this machine (0), is not.
func (d *Driver) Name(pid int, name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.scan() // it may have come since the last look
	for p := range d.followed {
		if int(p.pid) == pid {
			p.name, p.named = name, true
			return
		}
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	p := newProcess(int32(pid), name)
	p.pidfd, p.named = fd, true
	// mutant: who has no slot is not followed
	d.outside = append(d.outside, p)
}

// followed are all programs that are known: those with a slot, and those outside.
func (d *Driver) followed(yield func(*process) bool) {
	for _, p := range d.procs {
		if p != nil && !yield(p) {
			return
		}
	}
	for _, p := range d.outside {
		if !yield(p) {
			return
		}
	}
}

// Count makes the programs' figures begin anew: a world calls it when that begins
// which they are judged by.
func (d *Driver) Count() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count()
}

func (d *Driver) count() {
	now := d.page.now()
	d.ended = nil
	d.clock.take()
	d.us.stopped, d.us.disk = 0, 0
	d.own.threads.StayFrom(now)
	for i, p := range d.procs {
		if p != nil {
			p.before.merge(d.page.slots[i].take())
		}
	}
	for p := range d.followed {
		p.stopped, p.disk = 0, 0
		p.threads.StayFrom(now)
	}
}

// follow looks who is stopped or waits for a disk. Our own process can't see that it
// is stopped, only that it was: its last look is long ago then.
func (d *Driver) follow(now int64) {
	d.us.stopped = max(d.us.stopped, now-d.looked)
	raw := rawNow()
	if raw-d.seen < int64(followEvery) {
		return
	}
	d.seen = raw
	_, disk := d.own.threads.Follow(now)
	d.us.disk = max(d.us.disk, disk)
	for p := range d.followed {
		stopped, disk := p.threads.Follow(now)
		p.stopped, p.disk = max(p.stopped, stopped), max(p.disk, disk)
	}
}

// programs are the figures of all programs that were there since the last Count.
func (d *Driver) programs() []lag.Program {
	parts := map[string]part{}
	add := func(p part) {
		if before, ok := parts[p.name]; ok {
			p.merge(before)
		}
		parts[p.name] = p
	}
	for _, p := range d.ended {
		add(*p)
	}
	for i, p := range d.procs {
		if p != nil {
			now := p.part
			now.lag = d.page.slots[i].histogram()
			if p.guest != nil {
				now.calls, now.listening = p.guest.cost()
			}
			add(now)
		}
	}
	for _, p := range d.outside {
		add(p.part)
	}
	us := d.us
	us.name = OurName
	d.clock.mu.Lock()
	us.lag = d.clock.lag
	d.clock.mu.Unlock()
	add(us)
	var programs []lag.Program
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		p := parts[name]
		programs = append(programs,
			lag.Program{Name: name, Lag: p.lag.figures(), Stopped: time.Duration(p.stopped), Disk: time.Duration(p.disk),
				Calls: p.calls, Listening: time.Duration(p.listening)})
	}
	return programs
}
