//go:build linux

package clock

import "time"

const (
	// fineGrain and coarseGrain are the least that auto mode jumps, in virtual
	// time: timers due within one grain fire together, so none is later than this
	// for the clock's sake. While things happen the grain is fine; while nothing
	// does it doubles with each jump up to coarseGrain, which leaves a fifth of the
	// lag Budget.
	fineGrain   = 10 * time.Millisecond
	coarseGrain = 190 * time.Millisecond

	// eventful is how often, between two jumps, a program's Ps and its poller go to
	// sleep or wake for things to happen, on average over the programs. The timers
	// of a quiet control plane make it 5 to 10, a lease's renewal 20 to 30, one pod's
	// way through it hundreds.
	// It counts and does not time, so that a noisy machine changes nothing.
	eventful = 40

	// maxJump bounds one jump, so that work that the kernel has not yet handed
	// to an idle program meets a small step, not a large one.
	maxJump = time.Second

	// firstLook is how long after a jump the driver looks whether the world is
	// idle again, in real time; it waits twice as long before each further look,
	// up to lastLook, so as not to take a processor from those who work. Once it
	// seems idle, what is still on its way takes microseconds: it begins anew.
	firstLook = 20 * time.Microsecond
	lastLook  = 160 * time.Microsecond
	// shortTick and longTick bound, in real time, how often the driver looks at our own
	// timers while it does not jump; at fixed rates it is every fineGrain.
	shortTick = 200 * time.Microsecond
	longTick  = 2 * time.Millisecond

	// settled is the real time after which a program with idle Ps and no
	// sleeping poller counts as idle: it waits for nothing but other programs.
	settled = 2 * time.Millisecond

	// followEvery is how often, in real time, the driver looks who is stopped or waits
	// for a disk.
	followEvery = 50 * time.Millisecond

	// reapEvery is how often ended programs are looked for, in real time.
	reapEvery = 10 * time.Millisecond
)

// tick is the real time from one look to the next at a rate that does not jump.
func (m Mode) tick() time.Duration {
	if m == Auto { // held for a thread that works, and is not to wait for us
		return longTick
	}
	grain := float64(fineGrain) / max(1, m.factor)
	return max(time.Duration(grain), shortTick)
}
