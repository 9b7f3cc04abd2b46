package clock

import (
	"errors"
	"fmt"
	"os"
	"runtime/metrics"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// process is another program of the world as the driver sees it.
type process struct {
	pid     int32
	pidfd   int
	epfd    int // our duplicate of its poller; -1 until it has one
	eventfd int // our duplicate; writing to it wakes its poller

	gen   uint64 // of the slot when last looked at
	since int64  // raw time at which gen was first seen
}

// attach opens a process's poller. The kernel allows it to a process's parent
// or to whoever may trace it.
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
		return fmt.Errorf("reaching the poller of process %d (is tracing forbidden, kernel.yama.ptrace_scope > 1, or the kernel older than 5.11? --clock real needs neither): %w", p.pid, err)
	}
	eventfd, err := unix.PidfdGetfd(p.pidfd, int(s.eventfd.Load()), 0)
	if err != nil {
		return errors.Join(fmt.Errorf("reaching the poller of process %d: %w", p.pid, err), unix.Close(epfd))
	}
	p.epfd, p.eventfd = epfd, eventfd
	p.wake() // it may sleep since before the last change of the clock
	return nil
}

func (p *process) detach() {
	for _, fd := range []int{p.pidfd, p.epfd, p.eventfd} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

var wakeUp = []byte{1, 0, 0, 0, 0, 0, 0, 0} // an eventfd takes 8 bytes

// wake makes the process's poller look at the clock again.
func (p *process) wake() {
	if p.eventfd >= 0 {
		_, _ = unix.Write(p.eventfd, wakeUp) // EAGAIN: it is awake already
	}
}

// ownProcess tells whether the process that the driver runs in has work to do:
// it is not built with the clock, so Go's own figures stand in for a slot.
type ownProcess struct {
	epfd    int32
	samples []metrics.Sample
}

func newOwnProcess() (*ownProcess, error) {
	// A timer makes the runtime open its poller.
	time.AfterFunc(time.Hour, func() {}).Stop()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil, fmt.Errorf("looking for our own poller: %w", err)
	}
	epfd := -1
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if dest, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && dest == "anon_inode:[eventpoll]" && (epfd < 0 || fd < epfd) {
			epfd = fd
		}
	}
	if epfd < 0 {
		return nil, errors.New("looking for our own poller: no epoll descriptor in /proc/self/fd")
	}
	return &ownProcess{
		epfd: int32(epfd),
		samples: []metrics.Sample{
			{Name: "/sched/goroutines/runnable:goroutines"},
			{Name: "/sched/goroutines/running:goroutines"},
		},
	}, nil
}

// idle reports whether only the calling goroutine runs.
func (o *ownProcess) idle() bool {
	metrics.Read(o.samples)
	return o.samples[0].Value.Uint64() == 0 && o.samples[1].Value.Uint64() <= 1
}
