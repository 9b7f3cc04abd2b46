package clock

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// fineGrain and coarseGrain are the least that auto mode jumps, in virtual
	// time: timers due within one grain fire together, so none is later than this
	// for the clock's sake. While things happen the grain is fine; while nothing
	// does it grows to coarseGrain, which leaves more than half of the lag Budget.
	fineGrain   = 10 * time.Millisecond
	coarseGrain = 100 * time.Millisecond

	// eventful is how often, between two jumps, a program's Ps and its poller go to
	// sleep or wake for things to happen, on average over the programs. The timers
	// of a quiet control plane make it 5 to 10, one pod's way through it hundreds.
	// It counts and does not time, so that a noisy machine changes nothing.
	eventful = 24

	// maxJump bounds one jump, so that work that the kernel has not yet handed
	// to an idle program meets a small step, not a large one.
	maxJump = time.Second

	// idleLook is how long the driver waits between looks at busy programs, in
	// real time. It is what a jump costs at least.
	idleLook = 20 * time.Microsecond
	// tick is how often fixed rates look at our own timers, in real time.
	tick = 200 * time.Microsecond

	// settled is the real time after which a program with idle Ps and no
	// sleeping poller counts as idle: it waits for nothing but other programs.
	settled = 2 * time.Millisecond

	// reapEvery is how often ended programs are looked for, in real time.
	reapEvery = 10 * time.Millisecond
)

// Config of a Driver. Path is required.
type Config struct {
	Path  string    // of the clock page, which must not exist
	Mode  Mode      // zero: Auto
	Start time.Time // virtual time at the start; zero: now
}

// Driver owns a world's clock page and makes its time pass. It starts held.
type Driver struct {
	cfg   Config
	page  *page
	clock *virtualClock
	own   *ownProcess

	holds atomic.Int32
	stop  context.CancelFunc
	done  chan struct{}

	mu    sync.Mutex // guards what follows
	procs []*process // by slot
	gone  lagHistogram
	meter meter
	err   error

	grain   time.Duration // the present one
	changed uint64        // changes at the last jump

	polls  []unix.PollFd
	reaped int64 // raw time of the last look for ended processes
}

// NewDriver makes the page and lets virtual time pass as real time does until
// Release. Close ends it.
func NewDriver(cfg Config) (*Driver, error) {
	if cfg.Start.IsZero() {
		cfg.Start = time.Now()
	}
	own, err := newOwnProcess()
	if err != nil {
		return nil, err
	}
	p, err := createPage(cfg.Path, cfg.Start)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	d := &Driver{cfg: cfg, page: p, clock: &virtualClock{page: p}, own: own, grain: fineGrain, stop: cancel, done: make(chan struct{})}
	d.holds.Store(1)
	d.meter.start(p.now())
	go d.run(ctx)
	return d, nil
}

// Clock is the world's time for our own components.
func (d *Driver) Clock() Clock { return d.clock }

// Env is what a program of the world needs in its environment.
func (d *Driver) Env() string { return EnvPage + "=" + d.cfg.Path }

// Mode is the mode asked for.
func (d *Driver) Mode() Mode { return d.cfg.Mode }

// Hold lets virtual time pass as real time does until a matching Release: for
// the start of a component, which is work, not waiting.
func (d *Driver) Hold() {
	if d.holds.Add(1) == 1 {
		d.setRate(1000)
	}
}

// Release ends one Hold, or the one that a new Driver starts with.
func (d *Driver) Release() {
	if d.holds.Add(-1) == 0 && d.cfg.Mode.factor > 0 {
		d.setRate(int64(math.Round(d.cfg.Mode.factor * 1000)))
	}
}

// Err is why virtual time had to stay at 1x, if it had to.
func (d *Driver) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// Close stops the clock and removes the page. Programs that still run keep the
// last rate. Timers of Clock never fire again.
func (d *Driver) Close() error {
	d.stop()
	<-d.done
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.procs {
		if p != nil {
			p.detach()
		}
	}
	d.procs = nil
	return d.page.close()
}

func (d *Driver) setRate(milli int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.page.set(0, milli)
	for _, p := range d.procs {
		if p != nil {
			p.wake() // its sleep was measured at the old rate
		}
	}
}

// run is the driver's thread.
func (d *Driver) run(ctx context.Context) {
	defer close(d.done)
	runtime.LockOSThread() // and never unlock: the thread ends with its timer slack
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	for ctx.Err() == nil {
		d.clock.fire()
		wait := tick
		if d.holds.Load() == 0 && d.cfg.Mode == Auto {
			wait = d.jump()
		} else {
			d.observe()
		}
		if wait > 0 {
			ts := unix.NsecToTimespec(int64(wait))
			_ = unix.Nanosleep(&ts, nil)
		}
	}
}

// jump moves virtual time to the next timer if the whole world is idle, and
// returns how long to wait, in real time, before the next look.
func (d *Driver) jump() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return tick
	}
	next, idle, err := d.idleUntil()
	if err != nil {
		d.err = err
		return tick
	}
	now := d.page.now()
	d.meter.see(now)
	if !idle {
		return idleLook
	}
	changes, programs := d.changes()
	if changes-d.changed >= eventful*programs {
		d.grain = fineGrain
	} else {
		d.grain = min(d.grain+d.grain/8, coarseGrain)
	}
	d.changed = changes
	next = min(next, d.clock.next())
	to := min(max(next, now+int64(d.grain)), now+int64(maxJump))
	d.page.set(to, 1000)
	for i, p := range d.procs {
		if p != nil && d.page.slots[i].wakeAt.Load() <= to {
			p.wake()
		}
	}
	return 0
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

// observe keeps the list of processes and the figures while time runs at a rate.
func (d *Driver) observe() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.meter.see(d.page.now())
	if err := d.scan(); err != nil && d.cfg.Mode.Virtual() && d.err == nil {
		d.err = err
	}
}

// idleUntil reports whether no program of the world has anything to do, and
// until when, in virtual monotonic ns.
//
// Three looks make it sure: every slot says so; no poller holds an event that
// its program has not yet been given (data written to a socket is there before
// the write returns); and no slot has changed in between.
func (d *Driver) idleUntil() (next int64, idle bool, err error) {
	if err := d.scan(); err != nil {
		return 0, false, err
	}
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
			return 0, false, nil
		}
		switch at := s.wakeAt.Load(); {
		case at > 0:
			next = min(next, at)
		case raw-p.since < int64(settled):
			return 0, false, nil
		}
	}
	if !d.own.idle() || d.eventsPending() {
		return 0, false, nil
	}
	for i, p := range d.procs {
		if p != nil {
			if s := &d.page.slots[i].slot; s.gen.Load() != p.gen || s.busy.Load() > 0 {
				return 0, false, nil
			}
		}
	}
	return next, true, nil
}

// eventsPending reports whether any program's poller has an event for it.
func (d *Driver) eventsPending() bool {
	d.polls = append(d.polls[:0], unix.PollFd{Fd: d.own.epfd, Events: unix.POLLIN})
	for _, p := range d.procs {
		if p != nil && p.epfd >= 0 {
			d.polls = append(d.polls, unix.PollFd{Fd: int32(p.epfd), Events: unix.POLLIN})
		}
	}
	n, err := unix.Poll(d.polls, 0)
	return err != nil || n > 0
}

// scan follows processes that came or went. Slots are taken lowest first, so
// the first free one behind the known ones ends the list.
func (d *Driver) scan() error {
	if raw := rawNow(); raw-d.reaped > int64(reapEvery) {
		d.reap()
		d.reaped = raw
	}
	for i := 0; i < slotCount; i++ {
		if i == len(d.procs) {
			if d.page.slots[i].pid.Load() == 0 {
				return nil
			}
			d.procs = append(d.procs, nil)
		}
		s := &d.page.slots[i].slot
		p := d.procs[i]
		pid := s.pid.Load()
		if p == nil {
			if pid == 0 {
				continue
			}
			p = &process{pid: pid, pidfd: -1, epfd: -1, eventfd: -1}
			d.procs[i] = p
		}
		if p.pidfd >= 0 && (p.epfd >= 0 || s.epfd.Load() == 0) {
			continue
		}
		if err := p.attach(s); err != nil {
			if unix.Kill(int(pid), 0) == unix.ESRCH {
				d.forget(i)
				continue
			}
			return err
		}
	}
	return fmt.Errorf("the world has more than %d processes", slotCount)
}

// reap frees the slots of programs that ended.
func (d *Driver) reap() {
	for i, p := range d.procs {
		if p == nil || p.pidfd < 0 {
			continue
		}
		fds := []unix.PollFd{{Fd: int32(p.pidfd), Events: unix.POLLIN}}
		if n, err := unix.Poll(fds, 0); err == nil && n > 0 {
			d.forget(i)
		}
	}
}

func (d *Driver) forget(i int) {
	s := &d.page.slots[i].slot
	d.gone.merge(s.histogram())
	for b := range s.lag {
		s.lag[b].Store(0)
	}
	s.lagMax.Store(0)
	s.epfd.Store(0)
	s.eventfd.Store(0)
	s.wakeAt.Store(0)
	d.procs[i].detach()
	d.procs[i] = nil
	s.pid.Store(0) // last: now it can be taken
}

func (s *slot) histogram() (h lagHistogram) {
	for i := range s.lag {
		h.counts[i] = s.lag[i].Load()
	}
	h.max = s.lagMax.Load()
	return h
}
