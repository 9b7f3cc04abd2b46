//go:build linux

package process

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestState: what is said of a program that would not end. It waits for the kernel's
// own word of each state, and leaves the program to be waited for.
func TestState(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = attributes()
	if err := fork(cmd.Start); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	for _, step := range []struct {
		signal syscall.Signal
		until  int
		says   string
	}{
		{syscall.SIGSTOP, unix.WSTOPPED, "T (stopped)"},
		{syscall.SIGKILL, unix.WEXITED, "Z (zombie)"}, // dead, and not waited for
	} {
		if err := cmd.Process.Signal(step.signal); err != nil {
			t.Fatal(err)
		}
		if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, step.until|unix.WNOWAIT, nil); err != nil {
			t.Fatal(err)
		}
		if got := state(cmd.Process.Pid); !strings.Contains(got, step.says) {
			t.Errorf("%q does not say %q", got, step.says)
		}
	}
	_ = cmd.Wait()
	if got := state(cmd.Process.Pid); !strings.Contains(got, "no longer has it") {
		t.Errorf("%q of a program that is gone", got)
	}
}
