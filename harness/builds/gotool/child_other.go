//go:build !linux

package gotool

import "syscall"

// childAttr gives a child a process group of its own.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func yield() {}
