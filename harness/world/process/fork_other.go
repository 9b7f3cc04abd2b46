//go:build !linux

package process

import (
	"errors"
	"syscall"
)

// attributes give a child its own process group. Elsewhere than on Linux only
// the Guard ends it when we die by SIGKILL.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func fork(start func() error) error { return start() }

// NamesHosts is for Linux.
func NamesHosts() bool { return false }

func onHost(string, func() error) error { return errors.New("a machine of another name takes Linux") }

// ended is for Linux; elsewhere Start may learn a moment too late.
func ended(int) bool { return false }

// state is for Linux.
func state(int) string { return "its state is not known here" }

// awaitEnd is for guests of a clock, of which there are none here.
func awaitEnd(int) {}
