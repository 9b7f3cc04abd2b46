//go:build linux

package clock

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"nodestorm/sim/time/clock/task"
)

// Try says what a clock of this mode is refused here, whatever programs its world has, and the
// way out. See also [TryBuiltIn] and [TryGuest].
func (m Mode) Try() error {
	if !m.Virtual() {
		return nil
	}
	if err := m.supported(runtime.GOOS, runtime.GOARCH); err != nil {
		return err
	}
	b, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	if scope := strings.TrimSpace(string(b)); err == nil && scope != "0" && scope != "1" {
		return fmt.Errorf("kernel.yama.ptrace_scope is %s, which keeps the clock from its own programs; "+
			"sysctl kernel.yama.ptrace_scope=1, or --clock real", scope)
	}
	if m == Auto {
		if err := task.SleepShown(task.ReadWchan); err != nil {
			return err
		}
	}
	return nil
}

// TryBuiltIn does with our own process what a clock does with programs that were built with it,
// and says what of it is refused here, and the way out. Guests need nothing of it.
func TryBuiltIn() error {
	// mutant: what has the clock built in is let live where nothing reaches it
	return duplicates(unix.PidfdOpen, unix.PidfdGetfd)
}

// duplicates is nil if descriptors of other programs can be duplicated: pollers of the
// world's are watched and woken that way. For ourselves only a kernel that lacks the calls,
// or a filter of system calls, refuses them.
func duplicates(open func(pid, flags int) (int, error), get func(pidfd, fd, flags int) (int, error)) error {
	pidfd, err := open(os.Getpid(), 0)
	if err != nil {
		return refused("pidfd_open", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return errors.Join(err, unix.Close(pidfd))
	}
	fd, err := get(pidfd, int(r.Fd()), 0)
	if err != nil {
		// mutant: a container that refuses the clock is found out a minute later
		err = refused("pidfd_getfd", err)
	} else {
		err = unix.Close(fd)
	}
	return errors.Join(err, unix.Close(pidfd), r.Close(), w.Close())
}

func refused(call string, err error) error {
	return fmt.Errorf("the system call %s is refused (%w), by which the clock reaches programs that it is "+
		"built into; a container needs a seccomp profile that allows it, as the default one does with the "+
		"capability SYS_PTRACE, and the kernel is to be 5.11 or later; or use builds without it (nodestorm "+
		"target build --plain, of Kubernetes too), or --clock real", call, err)
}
