//go:build linux && (amd64 || arm64)

package clock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A guest is a program as somebody else has built it. It reads its time from the clock page, see
// vdso.go. Its waits for events are told to us by the kernel before they begin (a seccomp
// filter with a listener): we note until when, in virtual time, and let it wait. If virtual
// time is there first the thread gets SIGURG, which Go's runtime takes for one of its own
// requests to look up from its work: the wait ends with EINTR, and timers are looked at again.
//
//	guest ──epoll_pwait(…, 5000)──▶ kernel ──▶ listener: thread 17 waits until 12:00:05
//	  ▲                                                   │
//	  └─────────────────── SIGURG ──────────────── 12:00:05 is there
type guest struct {
	pid      int
	slot     *slot
	now      func() int64
	listener int
	err      atomic.Pointer[error] // why it is not listened to any more

	mu    sync.Mutex
	waits map[int]int64 // by thread, until when in virtual monotonic ns
	ended bool          // its slot is another's
}

// Start starts a program that knows nothing of this clock in virtual time, in place of
// cmd.Start. It must be called from a thread that lives as long as we do if
// cmd.SysProcAttr has a Pdeathsig.
func (d *Driver) Start(cmd *exec.Cmd) error {
	runtime.LockOSThread() // only one thread may trace it
	defer runtime.UnlockOSThread()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Ptrace = true
	if err := cmd.Start(); err != nil {
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
	g := &guest{pid: pid, listener: listener, now: d.page.now, waits: map[int]int64{}}
	if err := d.admit(g); err != nil {
		return errors.Join(err, unix.Close(listener))
	}
	go g.serve()
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
	return t.listen(filepath.Dir(page))
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
		err = unix.Close(listener)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return err
})

// admit takes a slot of the page for it.
func (d *Driver) admit(g *guest) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.page.slots {
		s := &d.page.slots[i].slot
		if !s.pid.CompareAndSwap(0, int32(g.pid)) {
			continue
		}
		g.slot = s
		if err := d.scan(); err != nil {
			return err
		}
		d.procs[i].guest = g
		return nil
	}
	return errors.New("no free slot in the clock page")
}

// listen has the tracee install a filter that tells us of its waits, and hand us the end that
// hears of them, by way of a socket in the folder.
func (t *tracee) listen(folder string) (listener int, err error) {
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
	filter := t.filter()
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

// filter leaves a program for seccomp in the tracee: waits for events that have a timeout other than
// zero, and addresses that are to be listened on, are told of, all else is let through.
func (t *tracee) filter() uintptr {
	const (
		load, equal, give = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
		number, arch      = 0, 4
		timeout           = 16 + 3*8 // its lower half
	)
	code := []unix.SockFilter{
		{Code: load, K: arch},
		{Code: equal, K: auditArch, Jf: 7},
		{Code: load, K: number},
		{Code: equal, K: unix.SYS_BIND, Jt: 4},
		{Code: equal, K: sysEpollPwait, Jt: 1},
		{Code: equal, K: sysEpollWait, Jf: 3},
		{Code: load, K: timeout},
		{Code: equal, K: 0, Jt: 1},
		{Code: give, K: unix.SECCOMP_RET_USER_NOTIF},
		{Code: give, K: unix.SECCOMP_RET_ALLOW},
	}
	at := t.room()
	data := binary.NativeEndian.AppendUint64(nil, uint64(len(code)))
	data = binary.NativeEndian.AppendUint64(data, uint64(at)+16)
	for _, c := range code {
		data = binary.NativeEndian.AppendUint16(data, c.Code)
		data = append(data, c.Jt, c.Jf)
		data = binary.NativeEndian.AppendUint32(data, c.K)
	}
	t.poke(at, data)
	return at
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

// serve is told of the guest's waits until it has ended.
func (g *guest) serve() {
	runtime.LockOSThread() // and never unlock: the thread ends with what it has seen
	defer unix.Close(g.listener)
	for {
		fds := []unix.PollFd{{Fd: int32(g.listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
			g.fail(err)
			return
		}
		if fds[0].Revents&unix.POLLIN == 0 {
			if fds[0].Revents != 0 { // nobody has the filter any more
				return
			}
			continue
		}
		if err := g.hear(); err != nil {
			g.fail(err)
			return
		}
	}
}

func (g *guest) fail(err error) { g.err.Store(&err) }

// hear takes one wait in, and lets it begin.
func (g *guest) hear() error {
	var n notification
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(g.listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n)))
	switch errno {
	case 0:
	case unix.EINTR, unix.ENOENT, unix.EAGAIN: // it has ended meanwhile
		return nil
	default:
		return errno
	}
	r := response{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	if n.nr == unix.SYS_BIND {
		if err := onLoopback(int(n.tid), uintptr(n.args[1]), int(n.args[2])); err != nil {
			r.flags, r.err = 0, -int32(unix.EACCES) // rather than that others hear it
		}
	} else {
		until := int64(forever)
		if ms := int32(n.args[3]); ms >= 0 {
			until = g.now() + int64(ms)*int64(time.Millisecond)
		}
		g.wait(int(n.tid), until)
	}
	_, _, errno = unix.Syscall(unix.SYS_IOCTL, uintptr(g.listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&r)))
	if errno != 0 && errno != unix.ENOENT {
		return errno
	}
	return nil
}

// onLoopback has a program that would listen on all addresses listen on loopback, which those
// that are built with the clock do by themselves. With an error nobody knows where it would.
func onLoopback(tid int, at uintptr, size int) error {
	address := make([]byte, min(max(size, 0), unix.SizeofSockaddrInet6))
	there := []unix.RemoteIovec{{Base: at, Len: len(address)}}
	here := []unix.Iovec{{Base: unsafe.SliceData(address)}}
	here[0].SetLen(len(address))
	if n, err := unix.ProcessVMReadv(tid, here, there, 0); err != nil || n != len(address) {
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
	if _, err := unix.ProcessVMWritev(tid, here, there, 0); err != nil {
		return fmt.Errorf("keeping it on loopback: %w", err)
	}
	return nil
}

// wait notes until when a thread waits.
func (g *guest) wait(tid int, until int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waits[tid] = until
	g.show()
}

// end leaves the slot to others: a program that the guest has started has its filter too, and
// may live on.
func (g *guest) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
}

// show says in the slot when the next wait ends.
func (g *guest) show() {
	if g.ended {
		return
	}
	next := int64(0)
	for _, until := range g.waits {
		if next == 0 || until < next {
			next = until
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
	for tid, until := range g.waits {
		if until > now {
			continue
		}
		_ = unix.Tgkill(g.pid, tid, unix.SIGURG) // a thread that has ended waits for nothing
		delete(g.waits, tid)
		late := now - until
		g.slot.lag[lagBucket(late)].Add(1)
		if late > g.slot.lagMax.Load() {
			g.slot.lagMax.Store(late)
		}
	}
	g.show()
}
