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
	"unsafe"

	"golang.org/x/sys/unix"
)

// A guest is a program as somebody else has built it. It reads its time from the clock page, see
// vdso.go. Of what else of it has to do with time the kernel tells us before it begins (a seccomp
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

	// What the listening thread alone knows.
	image  image
	own    []uint64 // see image
	entry  uint64
	vdso   uint64
	poller uint64 // descriptor of Go's runtime, and one more; 0 if it is not known

	mu    sync.Mutex
	waits map[int]wait // by thread
	ended bool         // its slot is another's
}

// wait is a system call that may last until then.
type wait struct {
	nr     uint32
	until  int64   // virtual monotonic ns
	signal bool    // SIGURG ends it
	value  int64   // what it returns then, else
	left   uintptr // where a timeval says what is left of its time, if not 0
}

// family is a program that was started in virtual time and all that it starts: they have its
// filter, and so one listener.
type family struct {
	driver   *Driver
	listener int
	root     int                   // our child: whoever waits for its end is another
	err      atomic.Pointer[error] // why its time is not virtual
	forked   atomic.Bool           // there may be a process that nobody knows of yet
	tracing  sync.Mutex            // one at a time

	mu      sync.Mutex
	guests  map[int]*guest // by process ID
	threads map[int]*guest // by thread ID
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
	f := &family{driver: d, listener: listener, root: pid, guests: map[int]*guest{}, threads: map[int]*guest{}}
	d.mu.Lock()
	err = d.admit(f, pid)
	d.mu.Unlock()
	if err != nil {
		return errors.Join(err, unix.Close(listener))
	}
	go f.serve()
	if err := syscall.PtraceDetach(pid); err != nil {
		return fmt.Errorf("letting it go: %w", err)
	}
	return nil
}

// prepare has a program, which has not begun yet, read its time from the page and tell of its
// waits.
func prepare(pid int, page string) (listener int, err error) {
	t, err := stopped(pid)
	if err != nil {
		return -1, err
	}
	if err := t.virtualTime(page); err != nil {
		return -1, err
	}
	of, err := imageOf(pid)
	if err != nil {
		return -1, err
	}
	entry, err := auxiliary(pid, atEntry)
	if err != nil {
		return -1, err
	}
	return t.listen(filepath.Dir(page), filterCode(of.in(entry)))
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
			return unix.ESRCH // it has ended meanwhile
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
	if g.image, err = imageOf(g.pid); err != nil {
		return err
	}
	entry, err := auxiliary(g.pid, atEntry)
	if err != nil {
		return err
	}
	g.entry, g.own, g.poller = entry, g.image.in(entry), 0
	g.vdso, err = auxiliary(g.pid, atSysinfoEHDR)
	return err
}

// inVDSO reports whether an instruction is the kernel's own, in its library.
func (g *guest) inVDSO(at uint64) bool { return at-g.vdso < 2*vdsoSize }

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
	if g.poller == 0 {
		at := n.at
		if from, ok := caller(int(n.tid)); ok && !g.polls(at) {
			at = from
		}
		if !g.polls(at) {
			return false
		}
		g.poller = n.args[0] + 1
	}
	return g.poller == n.args[0]+1
}

// polls reports whether an instruction is of Go's runtime, where it waits for events.
func (g *guest) polls(at uint64) bool {
	for _, s := range g.image.poll {
		if at-g.entry-s.begin <= s.end-s.begin {
			return true
		}
	}
	return false
}

// listen has the tracee install a filter that tells us of its waits, and hand us the end that
// hears of them, by way of a socket in the folder.
func (t *tracee) listen(folder string, code []unix.SockFilter) (listener int, err error) {
	path := filepath.Join(folder, fmt.Sprintf("listener-%d", t.pid))
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return -1, err
	}
	defer socket.Close()
	address := text("\x01\x00" + path)
	if len(path) > 100 {
		return -1, fmt.Errorf("%s is too long for a socket's name: use a shorter folder for temporary files (TMPDIR)", path)
	}
	fd := t.call("making a socket", unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	t.call("connecting to us", unix.SYS_CONNECT, fd, t.leave(address), uintptr(len(address)))
	t.call("forbidding new privileges", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	filter := t.leaveFilter(code)
	notify := t.call("installing a seccomp filter with a listener", unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, filter)
	message := t.message(notify)
	t.call("handing us the listener", unix.SYS_SENDMSG, fd, message, 0)
	t.call("closing the listener", unix.SYS_CLOSE, notify)
	t.call("closing the socket", unix.SYS_CLOSE, fd)
	if t.err != nil {
		return -1, t.err
	}
	return receive(socket)
}

// message leaves a message with a descriptor in the tracee.
func (t *tracee) message(fd uintptr) uintptr {
	at := t.room()
	control := unix.UnixRights(int(fd))
	words := func(values ...uintptr) (data []byte) {
		for _, v := range values {
			data = binary.NativeEndian.AppendUint64(data, uint64(v))
		}
		return data
	}
	const header, vector, some = 56, 16, 8
	data := words(0, 0, at+header, 1, at+header+vector+some, uintptr(len(control)), 0)
	data = append(data, words(at+header+vector, 1, 0)...)
	t.poke(at, append(data, control...))
	return at
}

// receive gets the descriptor that a tracee has sent.
func receive(socket *net.UnixListener) (fd int, err error) {
	_ = socket.SetDeadline(time.Now().Add(10 * time.Second)) // it has been sent
	c, err := socket.AcceptUnix()
	if err != nil {
		return -1, err
	}
	defer c.Close()
	control := make([]byte, 64)
	_, n, _, _, err := c.ReadMsgUnix(make([]byte, 8), control)
	if err != nil {
		return -1, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) != 1 {
		return -1, errors.Join(errors.New("it has sent no listener"), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return -1, errors.Join(errors.New("it has sent no listener"), err)
	}
	return fds[0], nil
}

// notification and response are what the kernel says of a system call, and what it is told, see
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

// serve is told of the family's calls until the last of it has ended.
func (f *family) serve() {
	runtime.LockOSThread() // and never unlock: the thread ends with what it has seen
	defer unix.Close(f.listener)
	for {
		fds := []unix.PollFd{{Fd: int32(f.listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
			f.fail(fmt.Errorf("listening to process %d: %w", f.root, err))
			return
		}
		if fds[0].Revents&unix.POLLIN == 0 {
			if fds[0].Revents != 0 { // nobody has the filter any more
				return
			}
			continue
		}
		if err := f.hear(); err != nil {
			f.fail(fmt.Errorf("being told of what process %d does: %w", f.root, err))
			return
		}
	}
}

// fail says why no time is virtual any more. The first reason counts.
func (f *family) fail(err error) { f.err.CompareAndSwap(nil, &err) }

// named says that a guest does what passes in real time only.
func (f *family) named(g *guest, what string) {
	f.fail(fmt.Errorf("%s (process %d) %s, which is so in real time only: use --clock real", programName(int32(g.pid)), g.pid, what))
}

// hear takes in one call that is about to begin, and lets it, or answers.
func (f *family) hear() error {
	var n notification
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(f.listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n)))
	switch errno {
	case 0:
	case unix.EINTR, unix.ENOENT, unix.EAGAIN: // it has ended meanwhile
		return nil
	default:
		return errno
	}
	g, err := f.guest(int(n.tid))
	if err != nil {
		if f.stillThere(&n) {
			f.fail(fmt.Errorf("finding out who thread %d is: %w", n.tid, err))
		}
		return f.respond(&n, proceed())
	}
	r, known := rules[uint32(n.nr)]
	if n.arch != auditArch || !known {
		f.named(g, "makes system calls as programs for another machine do")
		return f.respond(&n, proceed())
	}
	return f.respond(&n, r.do(f, g, &n))
}

func (f *family) respond(n *notification, r response) error {
	if r.id = n.id; r.flags == answered {
		return nil
	}
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(f.listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&r)))
	if errno != 0 && errno != unix.ENOENT {
		return errno
	}
	return nil
}

// answered are the flags of a response that has been sent.
const answered = ^uint32(0)

// stillThere reports whether who made the call waits for an answer, so that what is at its
// thread's ID is its own.
func (f *family) stillThere(n *notification) bool {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(f.listener), unix.SECCOMP_IOCTL_NOTIF_ID_VALID, uintptr(unsafe.Pointer(&n.id)))
	return errno == 0
}

// guest is the process that the thread is of.
func (f *family) guest(tid int) (*guest, error) {
	f.mu.Lock()
	g := f.threads[tid]
	f.mu.Unlock()
	if g != nil && unix.Tgkill(g.pid, tid, 0) == nil {
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

// children admits the processes that the family has started and nobody knows of yet, and reports
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

// onLoopback has a program that would listen on all addresses listen on loopback, which those
// that are built with the clock do by themselves. With an error nobody knows where it would.
func onLoopback(tid int, at uint64, size int) error {
	address := make([]byte, min(max(size, 0), unix.SizeofSockaddrInet6))
	if n, err := readMemory(tid, at, address); err != nil || n != len(address) {
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
	copy(ip, loopback)
	if _, err := writeMemory(tid, at, address); err != nil {
		return fmt.Errorf("keeping it on loopback: %w", err)
	}
	return nil
}

// wait notes until when a thread waits.
func (g *guest) wait(tid int, w wait) {
	g.mu.Lock()
	defer g.mu.Unlock()
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
			_ = unix.Tgkill(g.pid, tid, unix.SIGURG) // a thread that has ended waits for nothing
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
