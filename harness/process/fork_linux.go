package process

import (
	"errors"
	"os/exec"
	"runtime"
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

func fork(cmd *exec.Cmd) error {
	started := make(chan error)
	forks() <- func() { started <- cmd.Start() }
	return <-started
}

// ended reports whether a child of ours has, also if nobody has waited for it yet.
func ended(pid int) bool {
	var found unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &found, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return errors.Is(err, unix.ECHILD) || err == nil && found.Signo != 0
}
