package target

import "syscall"

// childAttr gives a child a process group of its own, and ends it when the
// thread that started it is gone: a build does not outlive a killed nodestorm.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT}
}
