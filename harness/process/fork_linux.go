package process

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
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
