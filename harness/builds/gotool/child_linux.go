package gotool

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// childAttr gives a child a process group of its own, and ends it when the
// thread that started it is gone: a build does not outlive a killed nodestorm.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT}
}

// yield gives this thread, and what it starts from now on, the lowest priority there is.
func yield() {
	const thisThread, lowest = 0, 19
	_ = unix.Setpriority(unix.PRIO_PROCESS, thisThread, lowest) // it is only slower for others without
}
