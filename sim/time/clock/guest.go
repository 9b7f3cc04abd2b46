//go:build linux && (amd64 || arm64)

package clock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nodestorm/sim/time/clock/raw"
	"nodestorm/sim/time/clock/tracee"
)

// A guest is a program that was not built here. It reads its time from the clock page, see
// vdso.go. Of what else of it has to do with time the kernel informs us before it begins (a seccomp
// filter with a listener), see calls.go: of waits above all. We note until when, in virtual time,
// and let it wait. If virtual time is there first the wait ends. That of a Go runtime's poller
// does by SIGURG, which it takes for one of its own requests to look up from its work: timers
// are looked at again. Others do by ptrace: they return what they do when their time is up, see
// seize.go.
//
//	guest ──epoll_pwait(…, 5000)──▶ kernel ──▶ listener: thread 17 waits until 12:00:05
//	  ▲                                                   │
//	  └─────────────────── SIGURG ──────────────── 12:00:05 is there
type guest struct {
	family *family
	pid    int
	slot   *slot

	// What the family's own thread alone knows.
	image tracee.Image
	own   []uint64 // see image
	entry uint64
	vdso  uint64

	calls atomic.Uint64 // how many the kernel reported to us

	mu     sync.Mutex
	poller uint64       // descriptor of Go's runtime, and one more; 0 if it is not known
	waits  map[int]wait // by thread
	ended  bool         // its slot is another's
}

// wait is a system call that may last until then.
type wait struct {
	nr     uint32
	until  int64   // virtual monotonic ns
	signal bool    // SIGURG ends it
	value  int64   // what it returns then, else
	left   uintptr // where a timeval says what is left of its time, if not 0
}

// Start starts a program that knows nothing of this clock in virtual time, in place of
// cmd.Start, and so all that it starts. It must be called from a thread that lives as long as
// we do if cmd.SysProcAttr has a Pdeathsig. Who waits for the program's end must do so by a
// descriptor of the process (see pidfd_open) before cmd.Wait, or may take a moment in which it is
// stopped for its end.
func (d *Driver) Start(cmd *exec.Cmd) error {
	runtime.LockOSThread() // only one thread may trace it
	defer runtime.UnlockOSThread()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Ptrace = true
	switch err := cmd.Start(); {
	case errors.Is(err, unix.ENOEXEC):
		return fmt.Errorf("%s is neither a program for this machine (ELF, %s) nor a script: %w", filepath.Base(cmd.Path), runtime.GOARCH, err)
	case err != nil:
		return err
	}
	if err := d.adopt(cmd.Process.Pid); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return fmt.Errorf("%s cannot live in virtual time: %w", filepath.Base(cmd.Path), err)
	}
	return nil
}

func (d *Driver) adopt(pid int) error {
	listener, err := prepare(pid, d.cfg.Path)
	if err != nil {
		return err
	}
	f := newFamily(d, pid, listener)
	d.mu.Lock()
	if err = d.admit(f, pid); err == nil {
		d.hearFrom(f)
	}
	d.mu.Unlock()
	if err != nil {
		f.leave()
		return err
	}
	if err := syscall.PtraceDetach(pid); err != nil {
		return fmt.Errorf("letting it go: %w", err)
	}
	return nil
}

// prepare has a program, which has not begun yet, read its time from the page and report its
// waits.
func prepare(pid int, page string) (listener int, err error) {
	t, err := tracee.Stopped(pid)
	if err != nil {
		return -1, err
	}
	if err := t.VirtualTime(page); err != nil {
		return -1, err
	}
	of, err := tracee.ImageOf(pid)
	if err != nil {
		return -1, err
	}
	entry, err := tracee.Auxiliary(pid, tracee.AtEntry)
	if err != nil {
		return -1, err
	}
	return t.Listen(filepath.Dir(page), filterCode(of.In(entry)))
}

// TryGuest does with a child of ours what Driver.Start does, and says what of it is refused
// here. The child, which is our own program, ends before it begins.
var TryGuest = sync.OnceValue(func() (err error) {
	dir, err := os.MkdirTemp("", "nodestorm-clock-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p, err := createPage(filepath.Join(dir, "clock"), time.Now())
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{} // not ours
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting a program under ptrace: %w", err)
	}
	listener, err := prepare(cmd.Process.Pid, p.path)
	if err == nil {
		err = errors.Join(unix.Close(listener), childrenShown())
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return err
})

// admit takes a slot of the page for a process, and knows it from then on. The driver is locked.
func (d *Driver) admit(f *family, pid int) error {
	g := &guest{family: f, pid: pid, waits: map[int]wait{}}
	if err := g.look(); err != nil {
		return err
	}
	for i := range d.page.slots {
		s := &d.page.slots[i].slot
		if !s.pid.CompareAndSwap(0, int32(pid)) {
			continue
		}
		g.slot = s
		if err := d.scan(); err != nil {
			return err
		}
		if d.procs[i] == nil {
			return unix.ESRCH // it has ended since
		}
		d.procs[i].guest = g
		f.mu.Lock()
		defer f.mu.Unlock()
		f.guests[pid] = g
		return nil
	}
	return errors.New("no free slot in the clock page")
}

// look finds out what the process runs.
func (g *guest) look() (err error) {
	if g.image, err = tracee.ImageOf(g.pid); err != nil {
		return err
	}
	entry, err := tracee.Auxiliary(g.pid, tracee.AtEntry)
	if err != nil {
		return err
	}
	g.mu.Lock()
	g.poller = 0
	g.mu.Unlock()
	g.entry, g.own = entry, g.image.In(entry)
	g.vdso, err = tracee.Auxiliary(g.pid, tracee.AtVDSO)
	return err
}

// inVDSO reports whether an instruction is the kernel's own, in its library.
func (g *guest) inVDSO(at uint64) bool { return at-g.vdso < 2*tracee.VDSOSize }

// isRuntimes reports whether it is Go's runtime that waits, for itself.
func (g *guest) isRuntimes(n *notification) bool { return slices.Contains(g.own, n.at) }

// pollerEvents is how many events Go's runtime takes at a time.
const pollerEvents = 128

// isRuntimesPoller reports whether it is Go's runtime that waits for events: it knows what SIGURG
// means. Others' waits in the same program have another descriptor.
func (g *guest) isRuntimesPoller(n *notification) bool {
	if len(g.own) == 0 || n.args[2] != pollerEvents {
		return false
	}
	if is, known := g.knownPoller(n); known {
		return is
	}
	at := n.at
	if from, ok := tracee.Caller(int(n.tid)); ok && !g.polls(at) {
		at = from
	}
	if !g.polls(at) {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.poller = n.args[0] + 1
	return true
}

// knownPoller reports whether the descriptor is that of Go's runtime, if that is known.
func (g *guest) knownPoller(n *notification) (is, known bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.poller == n.args[0]+1 && n.args[2] == pollerEvents, g.poller != 0
}

// polls reports whether an instruction is of Go's runtime, where it waits for events.
func (g *guest) polls(at uint64) bool {
	return g.image.Polls(at - g.entry)
}

// processOf is the process that a thread is of.
func processOf(tid int) (pid int, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(status), "\nTgid:\t")
	id, _, _ := strings.Cut(after, "\n")
	return strconv.Atoi(id)
}

// why is why its time is not virtual, if it is not.
func (g *guest) why() error {
	if err := g.family.err.Load(); err != nil {
		return *err
	}
	return nil
}

// newcomers are looked for if one may have been started since. The driver is locked.
func (g *guest) newcomers() (found bool, err error) {
	if !g.family.forked.Swap(false) {
		return false, nil
	}
	return g.family.children()
}

// onLoopback has a program that would listen on all addresses listen on loopback, which those
// that are built with the clock do by themselves. With an error it is unknown where it would.
func onLoopback(tid int, at uint64, size int) error {
	address := make([]byte, min(max(size, 0), unix.SizeofSockaddrInet6))
	if n, err := tracee.ReadMemory(tid, at, address); err != nil || n != len(address) {
		// mutant: an address that cannot be read is loopback
		return errors.Join(errors.New("the address to listen on cannot be read"), err)
	}
	var ip []byte
	loopback := net.IPv4(127, 0, 0, 1)
	switch {
	case len(address) < unix.SizeofSockaddrInet4:
		return nil
	case binary.NativeEndian.Uint16(address) == unix.AF_INET:
		ip, loopback = address[4:8], loopback.To4()
	case binary.NativeEndian.Uint16(address) == unix.AF_INET6 && len(address) == unix.SizeofSockaddrInet6:
		ip = address[8:24] // what is mapped is heard by sockets of both kinds
	default:
		return nil
	}
	if !net.IP(ip).IsUnspecified() {
		return nil
	}
	// mutant: a guest listens on all addresses
	copy(ip, loopback)
	if _, err := tracee.WriteMemory(tid, at, address); err != nil {
		return fmt.Errorf("keeping it on loopback: %w", err)
	}
	return nil
}

// wait notes until when a thread waits. Go's runtime has one thread at a time wait for events: what
// another waited for is over.
func (g *guest) wait(tid int, w wait) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.signal {
		maps.DeleteFunc(g.waits, func(_ int, of wait) bool { return of.signal })
	}
	g.waits[tid] = w
	g.show()
}

// end leaves the slot to others.
func (g *guest) end() {
	g.mu.Lock()
	g.ended = true
	g.mu.Unlock()
	f := g.family
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.guests, g.pid)
	maps.DeleteFunc(f.threads, func(_ int, of *guest) bool { return of == g })
}

// show says in the slot when the next wait ends.
func (g *guest) show() {
	// mutant: a guest that has ended writes into its slot
	if g.ended {
		return
	}
	next := int64(0)
	for _, w := range g.waits {
		if next == 0 || w.until < next {
			next = w.until
		}
	}
	g.slot.wakeAt.Store(next)
	g.slot.gen.Add(1)
}

// wake ends the waits whose time is there.
func (g *guest) wake(now int64) {
	if next := g.slot.wakeAt.Load(); next == 0 || next > now {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for tid, w := range g.waits {
		if w.until > now {
			continue
		}
		if w.signal {
			_ = raw.Tgkill(g.pid, tid, unix.SIGURG) // a thread that has ended waits for nothing
		} else if done, err := g.family.endWait(g.pid, tid, w); err != nil {
			g.family.fail(fmt.Errorf("ending a wait of process %d whose time is up: %w", g.pid, err))
		} else if !done {
			continue
		}
		delete(g.waits, tid)
		late := now - w.until
		g.slot.lag[lagBucket(late)].Add(1)
		if late > g.slot.lagMax.Load() {
			g.slot.lagMax.Store(late)
		}
	}
	g.show()
}
