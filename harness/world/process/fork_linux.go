package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes give a child its own process group, and an end when we end, even
// by SIGKILL.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// The kernel sends the death signal when the thread that forked the child ends,
// so all children come from one thread that lives as long as we do.
var forks = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

func fork(start func() error) error {
	started := make(chan error)
	forks() <- func() { started <- start() }
	return <-started
}

// NamesHosts reports whether a Spec may have a Host: that takes root, and in a container CAP_SYS_ADMIN.
var NamesHosts = sync.OnceValue(func() bool {
	may := make(chan bool)
	go func() {
		runtime.LockOSThread() // never unlocked, so that the thread ends with this, and what it has for itself
		may <- unix.Unshare(unix.CLONE_NEWUTS) == nil
	}()
	return <-may
})

// onHost starts a child that finds itself on a machine of that name, on the thread that starts all. Names of machines are those
// of a thread and of what it starts, see uts_namespaces(7).
func onHost(name string, start func() error) (err error) {
	before, err := os.Open("/proc/thread-self/ns/uts")
	if err != nil {
		return err
	}
	defer before.Close()
	if err := unix.Unshare(unix.CLONE_NEWUTS); err != nil {
		return fmt.Errorf("a machine called %s: %w", name, err)
	}
	// mutant: what starts later is on that machine as well
	defer func() { err = errors.Join(err, unix.Setns(int(before.Fd()), unix.CLONE_NEWUTS)) }()
	if err := unix.Sethostname([]byte(name)); err != nil {
		return fmt.Errorf("a machine called %s: %w", name, err)
	}
	return start()
}

// ended reports whether a child of ours has, also if it has not been waited for yet.
func ended(pid int) bool {
	var found unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &found, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	// One that the clock holds for a moment is reported as well.
	const exited, killed, dumped = 1, 2, 3 // see siginfo_t in sigaction(2)
	return errors.Is(err, unix.ECHILD) || err == nil && found.Signo != 0 && (found.Code == exited || found.Code == killed ||
		found.Code == dumped)
}

// awaitEnd waits until a child of ours has ended, and for nothing else that a wait would report: the
// clock holds its guests for a moment, see clock.Driver.Start. Where there are no descriptors of
// processes, there is no such clock.
func awaitEnd(pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// state says what the kernel has of a program that does not end: the state of each
// of its threads, and what those wait for that are within the kernel.
func state(pid int) string {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if len(threads) == 0 {
		return "the kernel no longer has it"
	}
	var states []string
	for _, t := range threads {
		status, _ := os.ReadFile(filepath.Join(t, "status"))
		_, rest, _ := strings.Cut(string(status), "State:")
		s, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
		if at, err := os.ReadFile(filepath.Join(t, "wchan")); err == nil && len(at) > 1 {
			s += " in " + string(at)
		}
		states = append(states, s)
	}
	return "its threads are " + strings.Join(states, ", ")
}
