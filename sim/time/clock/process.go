//go:build linux

package clock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"nodestorm/sim/time/clock/overlay"
	"nodestorm/sim/time/clock/raw"
	"nodestorm/sim/time/clock/task"
)

// process is another program of the world as the driver sees it.
type process struct {
	part
	pid     int32
	pidfd   int
	epfd    int    // our duplicate of its poller; -1 until it has one
	eventfd int    // our duplicate; writing to it wakes its poller
	guest   *guest // nil: it was built with the clock

	gen   uint64 // of the slot when last looked at
	since int64  // raw time at which gen was first seen
	calm  uint64 // gen when no thread ran, was stopped or waited for a disk

	threads task.Threads
}

func newProcess(pid int32, name string) *process {
	return &process{part: part{name: name}, pid: pid, pidfd: -1, epfd: -1, eventfd: -1, since: rawNow(), threads: task.Of(int(pid))}
}

// attach opens a process's poller. The kernel allows it to a process's parent
// or to one that may trace it.
func (p *process) attach(s *slot) error {
	if p.pidfd < 0 {
		fd, err := unix.PidfdOpen(int(p.pid), 0)
		if err != nil {
			return fmt.Errorf("opening process %d of the world: %w", p.pid, err)
		}
		p.pidfd = fd
	}
	if p.epfd >= 0 || s.epfd.Load() == 0 {
		return nil
	}
	epfd, err := unix.PidfdGetfd(p.pidfd, int(s.epfd.Load()), 0)
	if err != nil {
		return fmt.Errorf("reaching the poller of process %d (see nodestorm doctor; --clock real does without): %w", p.pid, err)
	}
	eventfd, err := unix.PidfdGetfd(p.pidfd, int(s.eventfd.Load()), 0)
	if err != nil {
		return errors.Join(fmt.Errorf("reaching the poller of process %d: %w", p.pid, err), unix.Close(epfd))
	}
	p.epfd, p.eventfd = epfd, eventfd
	p.wake(0) // it may sleep since before the last change of the clock
	return nil
}

func (p *process) detach() {
	for _, fd := range []int{p.pidfd, p.epfd, p.eventfd} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	p.threads.Close()
}

var wakeUp = []byte{1, 0, 0, 0, 0, 0, 0, 0} // an eventfd takes 8 bytes

// wake makes the process's poller look at the clock again, which is now.
func (p *process) wake(now int64) {
	if p.guest != nil {
		p.guest.wake(now)
	}
	if p.eventfd >= 0 {
		raw.Write(p.eventfd, wakeUp) // EAGAIN: it is awake already
	}
}

// scan follows processes that came or went. Slots are taken lowest first, so
// the first free one behind the known ones ends the list.
func (d *Driver) scan() error {
	if raw := rawNow(); raw-d.reaped > int64(reapEvery) {
		d.reap()
		d.reaped = raw
	}
	for i := 0; i < overlay.SlotCount; i++ {
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
			if p = d.comes(pid); p == nil {
				p = newProcess(pid, programName(pid))
			}
			d.procs[i] = p
		}
		if p.pidfd >= 0 && (p.epfd >= 0 || s.epfd.Load() == 0) {
			continue
		}
		switch err := p.attach(s); {
		case errors.Is(err, unix.ESRCH) && p.pidfd < 0:
			d.forget(i)
		case errors.Is(err, unix.ESRCH), errors.Is(err, unix.EBADF):
			// It is ending: its files are closed before it is gone.
		case err != nil:
			return err
		}
	}
	return nil
}

// comes is a program that has had a name before it came to its slot, nil for none.
func (d *Driver) comes(pid int32) *process {
	i := slices.IndexFunc(d.outside, func(p *process) bool { return p.pid == pid })
	if i < 0 {
		return nil
	}
	p := d.outside[i]
	d.outside = slices.Delete(d.outside, i, i+1)
	p.since = rawNow()
	return p
}

// reap frees the slots of programs that ended.
func (d *Driver) reap() {
	for i, p := range d.procs {
		if p != nil && p.ended() {
			d.forget(i)
		}
	}
	d.outside = slices.DeleteFunc(d.outside, func(p *process) bool {
		if !p.ended() {
			return false
		}
		d.end(p, lagHistogram{})
		p.detach()
		return true
	})
}

// ended reports whether the kernel says so of a process that it has shown us.
func (p *process) ended() bool {
	if p.pidfd < 0 {
		return false
	}
	n, err := raw.Poll([]unix.PollFd{{Fd: int32(p.pidfd), Events: unix.POLLIN}})
	return err == nil && n > 0
}

func (d *Driver) forget(i int) {
	s := &d.page.slots[i].slot
	if g := d.procs[i].guest; g != nil {
		if err := g.why(); err != nil && d.err == nil {
			d.err = err
		}
		d.procs[i].calls, d.procs[i].listening = g.cost()
		g.end()
	}
	d.end(d.procs[i], s.take())
	s.epfd.Store(0)
	s.eventfd.Store(0)
	s.wakeAt.Store(0)
	// mutant: who was killed at work is at work for ever
	s.busy.Store(0) // it may have been killed at work, and a guest that takes the slot says nothing of that
	d.procs[i].detach()
	d.procs[i] = nil
	s.pid.Store(0) // last: now it can be taken
}

// end remembers what a program that is gone has shown, of which last has not been
// counted yet.
func (d *Driver) end(p *process, last lagHistogram) {
	p.lag.merge(last)
	d.gone.merge(p.before)
	d.gone.merge(p.lag)
	if d.ended == nil {
		d.ended = map[string]*part{}
	}
	if before := d.ended[p.name]; before != nil {
		p.merge(*before)
	}
	d.ended[p.name] = &p.part
}

// programName is what a program without a name is called.
func programName(pid int32) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return fmt.Sprintf("process %d", pid)
	}
	return filepath.Base(path)
}

// histogram is how late the timers were since the last take.
func (s *slot) histogram() (h lagHistogram) {
	for i := range s.lag {
		h.counts[i] = s.lag[i].Load()
	}
	h.max = s.lagMax.Load()
	return h
}

// take is histogram, which begins anew. No timer that fires during the call is lost; what
// it adds to the maximum may be.
func (s *slot) take() (h lagHistogram) {
	for i := range s.lag {
		h.counts[i] = s.lag[i].Swap(0)
	}
	h.max = s.lagMax.Swap(0)
	return h
}
