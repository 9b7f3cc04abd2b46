//go:build linux && (amd64 || arm64)

package clock

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"nodestorm/sim/time/clock/raw"
	"nodestorm/sim/time/clock/tracee"
)

// family is a program that was started in virtual time and all that it starts: they have its
// filter, and so one listener.
type family struct {
	driver   *Driver
	listener int
	root     int                   // our child: another waits for its end
	calls    chan notification     // what the family's own thread is to look into
	err      atomic.Pointer[error] // why its time is not virtual
	forked   atomic.Bool           // there may be a process that is not known yet
	took     atomic.Int64          // raw ns that listening took
	tracing  sync.Mutex            // one at a time

	mu      sync.Mutex
	guests  map[int]*guest // by process ID
	threads map[int]*guest // by thread ID
}

// notification and response are what the kernel says of a system call, and what we answer, see
// seccomp_unotify(2).
type notification struct {
	id         uint64
	tid, flags uint32
	nr         int32
	arch       uint32
	at         uint64
	args       [6]uint64
}

type response struct {
	id    uint64
	value int64
	err   int32
	flags uint32
}

// newFamily is what a program belongs to that was just started.
func newFamily(d *Driver, root, listener int) *family {
	// Of a thread that sleeps until it is answered no other processor need be woken. Linux before
	// 6.6 does not know of it.
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
	f := &family{driver: d, listener: listener, root: root, calls: make(chan notification, 64), guests: map[int]*guest{},
		threads: map[int]*guest{}}
	go f.work()
	return f
}

// hearFrom has the driver's thread listen to the family, or one of the family's own when there is
// no driver any more: a call without an answer lasts for ever. The driver is locked.
func (d *Driver) hearFrom(f *family) {
	if d.closed {
		go f.hearAlone()
		return
	}
	d.families = append(d.families, f)
}

// listen hears what guests are about to do, for at most so long, and returns once it has. Without
// guests it is a pause.
func (d *Driver) listen(wait time.Duration) {
	if len(d.ears) == 0 {
		raw.Pause(wait)
		return
	}
	for range mostAtOnce {
		if n, err := raw.PollFor(d.ears, wait); err != nil || n == 0 {
			return
		}
		began := rawNow()
		for i := range d.ears {
			ear, f := &d.ears[i], d.heard[i]
			if ear.Revents == 0 {
				continue
			}
			if !f.hear(ear.Revents) {
				ear.Fd = -1 // which poll ignores
				d.mu.Lock()
				d.families = slices.DeleteFunc(d.families, func(of *family) bool { return of == f })
				d.mu.Unlock()
				f.leave()
			}
			now := rawNow()
			f.took.Add(now - began)
			began = now
		}
		wait = firstLook // the thread whose call was answered goes to sleep now, and is not looked at before
	}
}

// mostAtOnce is how many calls of a guest are heard before our own timers are looked at.
const mostAtOnce = 16

// prick has the driver's thread listen to those whom it is to hear now. The driver is locked.
func (d *Driver) prick() {
	d.ears, d.heard = d.ears[:0], d.heard[:0]
	for _, f := range d.families {
		d.ears, d.heard = append(d.ears, unix.PollFd{Fd: int32(f.listener), Events: unix.POLLIN}), append(d.heard, f)
	}
}

// hearAlone hears a family until the last of it has ended.
func (f *family) hearAlone() {
	defer f.leave()
	for {
		fds := []unix.PollFd{{Fd: int32(f.listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
			f.fail(fmt.Errorf("listening to process %d: %w", f.root, err))
			return
		}
		if !f.hear(fds[0].Revents) {
			return
		}
	}
}

// leave is called when no process has the filter any more.
func (f *family) leave() { close(f.calls) }

// fail says why no time is virtual any more. The first reason counts.
func (f *family) fail(err error) { f.err.CompareAndSwap(nil, &err) }

// named says that a guest does what passes in real time only.
func (f *family) named(g *guest, what string) {
	// mutant: what passes in real time is not named
	f.fail(fmt.Errorf("%s (process %d) %s, which is so in real time only: use --clock real", programName(int32(g.pid)), g.pid, what))
}

// hear takes in a call that is about to begin, and lets it if it is one of the most frequent kind, a
// wait of Go's poller. Any other is looked into by the family's own thread. It is false when there
// is no process left that could make one.
func (f *family) hear(events int16) (more bool) {
	if events&unix.POLLIN == 0 {
		return events == 0
	}
	var n notification
	switch err := raw.Ioctl(f.listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); {
	case err == nil:
	case errors.Is(err, unix.EINTR), errors.Is(err, unix.ENOENT), errors.Is(err, unix.EAGAIN): // it has ended since
		return true
	default:
		f.fail(fmt.Errorf("hearing of the system calls of process %d: %w", f.root, err))
		return false
	}
	f.mu.Lock()
	g := f.threads[int(n.tid)]
	f.mu.Unlock()
	if g == nil || n.nr != unix.SYS_EPOLL_PWAIT || n.arch != tracee.AuditArch || raw.Tgkill(g.pid, int(n.tid), 0) != nil {
		f.calls <- n
		return true
	}
	if is, _ := g.knownPoller(&n); !is {
		f.calls <- n
		return true
	}
	g.calls.Add(1)
	_ = f.respond(&n, f.awaitEvents(g, &n, true))
	return true
}

// work is the family's own thread, which looks into calls.
func (f *family) work() {
	runtime.LockOSThread() // and never unlock: the thread ends with what it has seen
	defer unix.Close(f.listener)
	for n := range f.calls {
		began := rawNow()
		f.handle(&n)
		f.took.Add(rawNow() - began)
	}
}

// handle lets a call begin, or answers it.
func (f *family) handle(n *notification) {
	g, err := f.guest(int(n.tid))
	if err != nil {
		if f.stillThere(n) {
			f.fail(fmt.Errorf("finding out who thread %d is: %w", n.tid, err))
		}
		_ = f.respond(n, proceed())
		return
	}
	g.calls.Add(1)
	r, known := rules[uint32(n.nr)]
	if n.arch != tracee.AuditArch || !known {
		f.named(g, "makes system calls as programs for another machine do")
		_ = f.respond(n, proceed())
		return
	}
	_ = f.respond(n, r.do(f, g, n))
}

// respond answers a call. An error is why the family fails, too.
func (f *family) respond(n *notification, r response) error {
	if r.id = n.id; r.flags == answered {
		return nil
	}
	err := raw.Ioctl(f.listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
	if err == nil || errors.Is(err, unix.ENOENT) { // it has ended since
		return nil
	}
	f.fail(fmt.Errorf("answering process %d: %w", f.root, err))
	return err
}

// answered are the flags of a response that has been sent.
const answered = ^uint32(0)

// stillThere reports whether who made the call waits for an answer, so that what is at its
// thread's ID is its own.
func (f *family) stillThere(n *notification) bool {
	return raw.Ioctl(f.listener, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&n.id)) == nil
}

// guest is the process that the thread is of.
func (f *family) guest(tid int) (*guest, error) {
	f.mu.Lock()
	g := f.threads[tid]
	f.mu.Unlock()
	if g != nil && raw.Tgkill(g.pid, tid, 0) == nil {
		return g, nil
	}
	pid, err := processOf(tid)
	if err != nil {
		return nil, err
	}
	f.driver.mu.Lock()
	defer f.driver.mu.Unlock()
	f.mu.Lock()
	g = f.guests[pid]
	f.mu.Unlock()
	if g == nil {
		if err := f.driver.admit(f, pid); err != nil {
			return nil, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.threads[tid] = f.guests[pid]
	return f.guests[pid], nil
}

// cost is how many of its calls the kernel reported to us and, of the first of a family, how long in raw ns it took
// us to hear the family.
func (g *guest) cost() (calls uint64, listening int64) {
	if g.pid == g.family.root {
		listening = g.family.took.Load()
	}
	return g.calls.Load(), listening
}

// children admits the processes that the family has started and that are not known yet, and reports
// whether there were any. The driver is locked.
func (f *family) children() (found bool, err error) {
	f.mu.Lock()
	known := slices.Collect(maps.Keys(f.guests))
	f.mu.Unlock()
	for len(known) > 0 {
		pid := known[0]
		known = known[1:]
		lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
		if err != nil {
			return false, err
		}
		for _, list := range lists {
			text, _ := os.ReadFile(list) // the thread may have ended
			for _, field := range strings.Fields(string(text)) {
				child, err := strconv.Atoi(field)
				if err != nil {
					return false, err
				}
				f.mu.Lock()
				_, old := f.guests[child]
				f.mu.Unlock()
				if old {
					continue
				}
				switch err := f.driver.admit(f, child); {
				case err == nil:
					found, known = true, append(known, child)
				case !errors.Is(err, unix.ESRCH) && !errors.Is(err, unix.ENOENT): // it has not ended
					return false, err
				}
			}
		}
	}
	return found, nil
}
