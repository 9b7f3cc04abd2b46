//go:build !linux || (!amd64 && !arm64)

package clock

import (
	"errors"
	"os/exec"
	"sync/atomic"
)

// Start starts a program in real time: virtual time needs Linux on amd64 or arm64.
func (d *Driver) Start(cmd *exec.Cmd) error { return cmd.Start() }

// TryGuest says that programs as they are have no virtual time here.
func TryGuest() error { return errors.New("it needs Linux on amd64 or arm64") }

type guest struct{ err atomic.Pointer[error] }

func (*guest) wake(int64) {}
func (*guest) end()       {}
