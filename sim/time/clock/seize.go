//go:build linux && (amd64 || arm64)

package clock

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"nodestorm/sim/time/clock/raw"
	"nodestorm/sim/time/clock/task"
	"nodestorm/sim/time/clock/tracee"
)

// A thread of a guest is held by ptrace for a moment only, for what nothing else can do: to have a
// wait end as if its time were up, and to see a new program before its first instruction.

const (
	ptraceSeize     = 0x4206
	ptraceInterrupt = 0x4207
	ptraceEventStop = 128
	// anyThread and ownOnly are flags of wait: also threads, and no other thread's.
	anyThread = unix.WALL
	ownOnly   = unix.WNOTHREAD
)

func ptrace(request, tid int, data uintptr) error {
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), 0, data, 0, 0)
	return raw.Error(errno)
}

// seize takes a thread, which runs on. It ends with us until it is let go.
func seize(tid int) error {
	return ptrace(ptraceSeize, tid, unix.PTRACE_O_EXITKILL|unix.PTRACE_O_TRACEEXEC)
}

func letGo(tid int, signal unix.Signal) { _ = ptrace(unix.PTRACE_DETACH, tid, uintptr(signal)) }

// endWait has a thread's wait end, if it is in it. It is not done if that is not known yet.
func (f *family) endWait(pid, tid int, w wait) (done bool, err error) {
	switch in, err := callOf(pid, tid); {
	case err != nil: // it has ended
		return true, nil
	case in == running:
		return false, nil
	case in != int(w.nr) && in != unix.SYS_RESTART_SYSCALL:
		return true, nil // it waits no more
	}
	if !f.tracing.TryLock() {
		return false, nil
	}
	defer f.tracing.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := seize(tid); err != nil {
		if gone(pid, tid) {
			return true, nil
		}
		return true, fmt.Errorf("looking at it by ptrace: %w", err)
	}
	if err := ptrace(ptraceInterrupt, tid, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return true, err
	}
	status, err := f.stop(unix.P_PID, &tid)
	if err != nil || !status.Stopped() {
		return true, err
	}
	var signal unix.Signal // that it was about to be given
	if status>>16 == 0 {
		signal = status.StopSignal()
	}
	defer func() { letGo(tid, signal) }()
	var regs syscall.PtraceRegs
	if err := tracee.GetRegs(tid, &regs); err != nil {
		return true, err
	}
	switch {
	case tracee.InterruptedIn(tid, &regs, w.nr):
		// mutant: a wait whose time is up goes on
		tracee.EndCall(tid, &regs, w.value)
	case signal == 0 && tracee.MakeAgain(&regs):
	default:
		return true, nil
	}
	if w.left != 0 {
		if _, err := syscall.PtracePokeData(tid, w.left, make([]byte, 16)); err != nil {
			return true, err
		}
	}
	return true, tracee.SetRegs(tid, &regs)
}

// running is what callOf says of a thread that is in no system call, or runs in one.
const running = -1

// callOf is the system call that a thread is blocked in.
func callOf(pid, tid int) (nr int, err error) {
	dir := fmt.Sprintf("/proc/%d/task/%d/", pid, tid)
	if in, err := os.ReadFile(dir + "wchan"); err == nil && bytes.HasPrefix(in, task.InSeccomp) {
		return running, nil
	}
	text, err := os.ReadFile(dir + "syscall")
	if err != nil {
		return 0, err
	}
	number, _, _ := bytes.Cut(text, []byte(" "))
	if nr, err = strconv.Atoi(string(number)); err != nil {
		return running, nil
	}
	return nr, nil
}

// gone reports whether a thread has ended, also if it has not been waited for yet.
func gone(pid, tid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", pid, tid))
	if err != nil {
		return true
	}
	state, _ := task.ParseStatus(string(text))
	return state == 'Z' || state == 'X'
}

// stop waits until a thread that we hold stops or ends, and says in tid which. The end of our own
// child is left to its waiter.
func (f *family) stop(which int, tid *int) (unix.WaitStatus, error) {
	var info unix.Siginfo
	for {
		err := unix.Waitid(which, *tid, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT|anyThread|ownOnly, nil)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			return 0, fmt.Errorf("waiting for it to stop: %w", err)
		}
	}
	*tid = int(*(*int32)(unsafe.Add(unsafe.Pointer(&info), siginfoPID)))
	ended := info.Code == cldExited || info.Code == cldKilled || info.Code == cldDumped
	if ended && *tid == f.root {
		return 0, nil
	}
	var status unix.WaitStatus
	_, err := unix.Wait4(*tid, &status, unix.WNOHANG|anyThread|ownOnly, nil)
	return status, err
}

// See siginfo_t in sigaction(2).
const (
	siginfoPID                      = 16
	cldExited, cldKilled, cldDumped = 1, 2, 3
)

// execute is how a process becomes another program, which then is to read its time from the page
// too: the kernel gives it a vDSO as good as new.
func execute(f *family, g *guest, n *notification) response {
	begun, err := f.follow(g, n)
	if err != nil {
		f.fail(fmt.Errorf("%s (process %d) starts another program, which cannot live in virtual time: %w; use --clock real",
			programName(int32(g.pid)), g.pid, err))
	}
	if begun {
		return response{flags: answered}
	}
	return proceed()
}

// follow lets a thread become another program, and sees to that. The call may have begun also
// with an error.
func (f *family) follow(g *guest, n *notification) (begun bool, err error) {
	f.tracing.Lock()
	tid, pid := int(n.tid), g.pid
	if err := seize(tid); err != nil {
		f.tracing.Unlock()
		if gone(pid, tid) {
			return false, nil
		}
		return false, fmt.Errorf("looking at it by ptrace: %w", err)
	}
	became, err := f.trace(&tid, n)
	f.tracing.Unlock()
	if err != nil || !became {
		if gone(pid, tid) {
			return true, nil
		}
		return true, err
	}
	g.mu.Lock()
	g.waits = map[int]wait{}
	g.show()
	g.mu.Unlock()
	if err := g.look(); err != nil {
		if gone(pid, pid) {
			return true, nil
		}
		return true, err
	}
	f.driver.rename(g)
	return true, nil
}

// rename is for a process that is another program now.
func (d *Driver) rename(g *guest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.procs {
		if p != nil && p.guest == g && !p.named {
			p.name = programName(p.pid)
		}
	}
}

// trace lets a thread that we hold go into its system call, and then go, and reports whether it came
// out of the call as another program, which then reads its time from the page.
func (f *family) trace(tid *int, n *notification) (became bool, err error) {
	if err := f.respond(n, proceed()); err != nil {
		return false, err
	}
	// Whatever stops it takes the interruption with it, and so it is asked for again before it goes on:
	// it must not run in between.
	interrupt := func() error {
		if err := ptrace(ptraceInterrupt, *tid, 0); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
		return nil
	}
	if err := interrupt(); err != nil {
		return false, err
	}
	for {
		status, err := f.stop(unix.P_ALL, tid)
		if err != nil || !status.Stopped() {
			return false, err
		}
		signal := unix.Signal(0)
		switch event := int(status >> 16); {
		case event == ptraceEventStop && !became: // there is no such program
			letGo(*tid, 0)
			return false, nil
		case event == ptraceEventStop && status.StopSignal() == unix.SIGTRAP:
			t := tracee.Held(*tid)
			// mutant: what a guest starts reads the real time
			err := t.VirtualTime(f.driver.cfg.Path)
			for _, signal := range t.Late() {
				_ = unix.Kill(*tid, signal)
			}
			letGo(*tid, 0)
			return true, err
		case event == unix.PTRACE_EVENT_EXEC:
			became = true
		case event == 0:
			signal = status.StopSignal()
		}
		if err := interrupt(); err != nil {
			return false, err
		}
		if err := ptrace(unix.PTRACE_CONT, *tid, uintptr(signal)); err != nil {
			return false, err
		}
	}
}

// childrenShown is an error if the kernel does not list a process's children.
func childrenShown() error {
	if _, err := os.ReadFile(filepath.Join("/proc/self/task", strconv.Itoa(os.Getpid()), "children")); err != nil {
		return fmt.Errorf("the kernel does not list which programs a program has started (CONFIG_PROC_CHILDREN): %w", err)
	}
	return nil
}
