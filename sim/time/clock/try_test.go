//go:build linux

package clock

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestDuplicates(t *testing.T) {
	if err := duplicates(unix.PidfdOpen, unix.PidfdGetfd); err != nil {
		t.Errorf("on this machine: %v", err)
	}
	err := duplicates(unix.PidfdOpen, func(int, int, int) (int, error) { return 0, unix.EPERM })
	if !errors.Is(err, unix.EPERM) || !strings.Contains(err.Error(), "pidfd_getfd is refused") || !strings.Contains(err.Error(), "SYS_PTRACE") {
		t.Errorf("as in a container: %v", err)
	}
	err = duplicates(func(int, int) (int, error) { return 0, unix.ENOSYS }, unix.PidfdGetfd)
	if !errors.Is(err, unix.ENOSYS) || !strings.Contains(err.Error(), "pidfd_open is refused") {
		t.Errorf("on an old kernel: %v", err)
	}
}
