//go:build linux

package clock

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"nodestorm/sim/time/clock/raw"
	"nodestorm/sim/time/clock/task"
)

// Driver owns a world's clock page and makes its time pass. It starts held.
type Driver struct {
	cfg   Config
	page  *page
	clock *virtualClock
	own   *ownProcess
	load  task.Load

	stop context.CancelFunc
	done chan struct{}

	mu      sync.Mutex // guards what follows
	holds   int
	procs   []*process       // by slot
	outside []*process       // that have a name and no slot
	gone    lagHistogram     // of programs that ended, since the driver was made
	ended   map[string]*part // by name, since the last Count
	us      part             // our own process; its lag is the clock's
	meter   meter
	err     error

	families []*family // guests, and those whom they started
	closed   bool

	grain   time.Duration // the present one
	wait    time.Duration // real; before the last look
	changed uint64        // changes at the last jump
	seemed  bool          // idle, at a look since the last jump

	ears  []unix.PollFd // where the driver's thread, which alone uses it, hears guests
	heard []*family     // in the same order

	polls  []unix.PollFd
	reaped int64 // raw time of the last look for ended processes
	seen   int64 // raw time of the last look who is stopped
	looked int64 // virtual time of the last look at anything, and what was jumped since
}

// NewDriver makes the page and lets virtual time pass as real time does until
// Release. Close ends it.
func NewDriver(cfg Config) (*Driver, error) {
	if err := cfg.Mode.Try(); err != nil {
		return nil, err
	}
	if cfg.Start.IsZero() {
		cfg.Start = time.Now()
	}
	own, err := newOwnProcess()
	if err != nil {
		return nil, err
	}
	load, err := task.OpenLoad()
	if err != nil {
		return nil, err
	}
	p, err := createPage(cfg.Path, cfg.Start)
	if err != nil {
		return nil, errors.Join(err, load.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	d := &Driver{cfg: cfg, page: p, clock: &virtualClock{page: p}, own: own, load: load, holds: 1, grain: fineGrain,
		wait: firstLook, stop: cancel, done: make(chan struct{})}
	d.looked = p.now()
	d.meter.start(d.looked, rawNow())
	go d.run(ctx)
	return d, nil
}

// Clock is the world's time for our own components.
func (d *Driver) Clock() Clock { return d.clock }

// Env is what a program of the world needs in its environment.
func (d *Driver) Env() string { return EnvPage + "=" + d.cfg.Path }

// Hold lets virtual time pass as real time does until a matching Release: for
// the start of a component, which is work, not waiting. No jump is under way
// when it returns.
func (d *Driver) Hold() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.holds++; d.holds == 1 && d.cfg.Mode != Auto {
		d.setRate(1)
	}
}

// Release ends one Hold, or the one that a new Driver starts with.
func (d *Driver) Release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.holds--; d.holds == 0 && d.cfg.Mode != Auto {
		d.setRate(d.cfg.Mode.factor)
	}
}

// Err is why virtual time had to stay at 1x, if it had to.
func (d *Driver) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hearGuests()
	return d.err
}

// hearGuests takes in why a guest's time is not virtual.
func (d *Driver) hearGuests() {
	for _, p := range d.procs {
		if p == nil || p.guest == nil || d.err != nil {
			continue
		}
		d.err = p.guest.why()
	}
}

// Close stops the clock and removes the page. Programs that still run keep the
// last rate, and so does Clock, whose timers never fire again.
func (d *Driver) Close() error {
	d.stop()
	<-d.done
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.scan() // a program may have come since the last look
	for i, p := range d.procs {
		if p != nil {
			d.end(p, d.page.slots[i].take())
			p.detach()
		}
	}
	for _, p := range d.outside {
		d.end(p, lagHistogram{})
		p.detach()
	}
	d.procs, d.outside = nil, nil
	d.own.threads.Close()
	return errors.Join(d.page.close(), d.load.Close())
}

// setRate is for fixed rates; in auto mode it is always 1.
func (d *Driver) setRate(factor float64) {
	d.page.set(0, int64(math.Round(factor*1000)))
	for _, p := range d.procs {
		if p != nil {
			p.wake(d.page.now()) // its sleep was measured at the old rate
		}
	}
}

// run is the driver's thread.
func (d *Driver) run(ctx context.Context) {
	defer close(d.done)
	runtime.LockOSThread() // and never unlock: the thread ends with what is set here
	defer task.BeDriver()()
	defer oneMoreP()()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	for ctx.Err() == nil {
		d.clock.fire()
		if wait := d.look(); wait > 0 {
			d.listen(wait)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, f := range d.families {
		// mutant: who outlives the clock is never answered
		go f.hearAlone()
	}
	d.families = nil
}

// look follows the processes, jumps if it may, and returns how long to wait, in
// real time, before the next look.
func (d *Driver) look() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.scan()
	now := d.page.now()
	d.meter.see(now)
	d.follow(now)
	d.wakeGuests(now)
	d.hearGuests()
	d.prick()
	d.looked = now
	jumps := d.cfg.Mode == Auto && d.holds == 0 && d.err == nil
	wait := d.cfg.Mode.tick()
	if err == nil && jumps {
		wait, err = d.jump()
	}
	if err != nil && d.err == nil && d.cfg.Mode.Virtual() {
		d.err = err
	}
	return wait
}

// wakeGuests ends the waits of guests whose time is there: the kernel has measured them in real
// time. Who was built with the clock does that himself.
func (d *Driver) wakeGuests(now int64) {
	for _, p := range d.procs {
		if p == nil || p.guest == nil {
			continue
		}
		p.guest.wake(now)
	}
}

// jump moves virtual time to the next timer if the whole world is idle.
//
// Four looks make it sure: every slot says so; no poller holds an event that its
// program has not yet been given (data written to a socket is there before the
// write returns); no thread is on its way from an event, a timer or a system
// call to saying so in its slot; and no slot has changed in between.
func (d *Driver) jump() (wait time.Duration, err error) {
	next, idle := d.idleUntil()
	if !idle {
		return d.later(), nil
	}
	if !d.seemed {
		d.seemed, d.wait = true, firstLook/2
	}
	switches := d.own.switches()
	if d.eventsPending() {
		return d.later(), nil
	}
	if runs, err := d.threadRuns(); err != nil || runs {
		return d.later(), err
	}
	if works, err := d.own.works(switches); err != nil || works {
		return d.later(), err
	}
	changes, programs := d.changes()
	grain := fineGrain
	if changes-d.changed < eventful*programs {
		grain = min(2*d.grain, coarseGrain)
	}
	now := d.page.now()
	next = min(next, d.clock.next())
	to := min(max(next, now+int64(grain)), now+int64(maxJump))
	if d.stirred() {
		return d.later(), nil
	}
	d.page.set(to, 1000)
	d.looked += to - now
	d.grain, d.changed = grain, changes
	for i, p := range d.procs {
		// One that is about to sleep, at 0, may still see the old time.
		if p != nil && d.page.slots[i].wakeAt.Load() <= to {
			p.wake(to)
		}
	}
	d.seemed, d.wait = false, firstLook/2
	return 0, nil
}

// later is the wait before the next look at programs that are busy.
func (d *Driver) later() time.Duration {
	d.wait = min(2*d.wait, lastLook)
	return d.wait
}

// threadRuns reports whether any thread of the world runs, wants to, or waits for a
// disk.
func (d *Driver) threadRuns() (bool, error) {
	idle, err := d.load.OnlyUs()
	if err != nil {
		return false, err
	}
	for _, p := range d.procs {
		// Who waits for a disk does not run either, but has left its P before.
		if p == nil || idle && p.gen == p.calm {
			continue
		}
		if runs, err := p.threads.Run(); err != nil || runs {
			return runs, err
		}
		p.calm = p.gen
	}
	if found, err := d.newcomers(); err != nil || found {
		return true, err
	}
	if idle {
		return false, nil
	}
	// Looking took its time.
	return d.eventsPending(), nil
}

// newcomers looks for processes that guests have started and that are not known yet.
func (d *Driver) newcomers() (found bool, err error) {
	for _, p := range d.procs { // which may grow in the loop
		if p == nil || p.guest == nil {
			continue
		}
		some, err := p.guest.newcomers()
		if err != nil {
			return false, err
		}
		found = found || some
	}
	return found, nil
}

// changes is how often the programs of the world went to sleep or woke, and how
// many there are.
func (d *Driver) changes() (changes, programs uint64) {
	for _, p := range d.procs {
		if p != nil {
			changes += p.gen
			programs++
		}
	}
	return changes, programs
}

// idleUntil reports whether every slot says that its program has nothing to do,
// and until when, in virtual monotonic ns.
func (d *Driver) idleUntil() (next int64, idle bool) {
	next = forever
	raw := rawNow()
	for i, p := range d.procs {
		if p == nil {
			continue
		}
		s := &d.page.slots[i].slot
		gen := s.gen.Load()
		if gen != p.gen {
			p.gen, p.since = gen, raw
		}
		if s.busy.Load() > 0 {
			return 0, false
		}
		switch at := s.wakeAt.Load(); {
		case at > 0:
			next = min(next, at)
		case raw-p.since < int64(settled):
			return 0, false
		}
	}
	return next, true
}

// stirred reports whether any slot has changed since idleUntil.
func (d *Driver) stirred() bool {
	for i, p := range d.procs {
		if p != nil {
			if s := &d.page.slots[i].slot; s.gen.Load() != p.gen || s.busy.Load() > 0 {
				return true
			}
		}
	}
	return false
}

// eventsPending reports whether any program's poller has an event for it. What is
// in a poller that no thread waits for, as the last wake, has no reader.
func (d *Driver) eventsPending() bool {
	d.polls = append(d.polls[:0], unix.PollFd{Fd: d.own.epfd, Events: unix.POLLIN})
	for i, p := range d.procs {
		if p != nil && p.epfd >= 0 && d.page.slots[i].wakeAt.Load() > 0 {
			d.polls = append(d.polls, unix.PollFd{Fd: int32(p.epfd), Events: unix.POLLIN})
		}
	}
	n, err := raw.Poll(d.polls)
	return err != nil || n > 0
}
