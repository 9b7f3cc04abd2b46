//go:build linux && (amd64 || arm64)

package clock

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"nodestorm/sim/time/clock/raw"
)

// refusing, if it is in the environment, are the numbers of system calls that this test is to be
// refused: it starts itself again with them.
const refusing = "NODESTORM_TEST_REFUSING"

// refuse installs a filter in all threads of ours, for ever.
func refuse(numbers []uint32) error {
	code := []unix.SockFilter{{Code: loadWord, K: callNumber}}
	for i, nr := range numbers {
		code = append(code, jump(unix.BPF_JEQ, nr, len(numbers)-i, 0))
	}
	code = append(code, allow, unix.SockFilter{Code: give, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)})
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(code)
	return raw.Error(errno)
}

// under runs f in a process of its own that is refused those calls, and fails with what it says.
func under(t *testing.T, numbers []uint32, f func() error) {
	t.Helper()
	if list, ok := os.LookupEnv(refusing); ok {
		var refused []uint32
		for field := range strings.FieldsSeq(list) {
			nr, err := strconv.ParseUint(field, 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			refused = append(refused, uint32(nr))
		}
		if err := refuse(refused); err != nil {
			t.Fatal(err)
		}
		if err := f(); err != nil {
			t.Fatal(err)
		}
		return
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), refusing+"="+strings.Trim(fmt.Sprint(numbers), "[]"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// containerRefuses is what the default profiles of containers refuse to who has no capabilities, of
// what a clock might come upon.
var containerRefuses = []uint32{
	unix.SYS_PIDFD_GETFD, unix.SYS_PERF_EVENT_OPEN, unix.SYS_KCMP, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_BPF, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_CLOCK_SETTIME, unix.SYS_ADD_KEY, unix.SYS_KEYCTL,
	unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_INIT_MODULE, unix.SYS_QUOTACTL, unix.SYS_OPEN_BY_HANDLE_AT,
}

// Under a filter as containers have it, guests and what they start live in virtual time.
func TestGuestInContainer(t *testing.T) {
	under(t, containerRefuses, func() error {
		if fd, err := unix.PidfdOpen(os.Getpid(), 0); err != nil {
			return err
		} else if _, err := unix.PidfdGetfd(fd, 0, 0); !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("pidfd_getfd is not refused: %w", err)
		}
		if err := TryBuiltIn(); !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("what has the clock built in is let live here: %w", err)
		}
		if err := TryGuest(); err != nil {
			return err
		}
		d, err := NewDriver(Config{Path: filepath.Join(t.TempDir(), "clock"), Mode: Auto})
		if err != nil {
			return err
		}
		defer d.Close()
		got := live(t, d, asker(t), "start", guestProgram(t), "sleep", "1h")
		var mono time.Duration
		if _, err := fmt.Sscan(got.lines[len(got.lines)-1], (*int64)(&mono)); err != nil {
			return fmt.Errorf("%w: %s", err, got.lines)
		}
		if mono < time.Hour || mono > time.Hour+time.Second {
			return fmt.Errorf("its hour was %s", mono)
		}
		return errors.Join(got.err, d.Err())
	})
}

// What is refused is named before anything is started.
func TestGuestWithoutPtrace(t *testing.T) {
	under(t, []uint32{unix.SYS_PTRACE}, func() error { return refusedAs("starting a program under ptrace") })
}

func TestGuestWithoutSeccomp(t *testing.T) {
	under(t, []uint32{unix.SYS_SECCOMP}, func() error { return refusedAs("installing a seccomp filter with a listener") })
}

func refusedAs(what string) error {
	err := TryGuest()
	if !errors.Is(err, unix.EPERM) || !strings.Contains(err.Error(), what) {
		return fmt.Errorf("it is said: %w", err)
	}
	return nil
}
