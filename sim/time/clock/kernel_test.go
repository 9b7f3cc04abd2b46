//go:build linux && (amd64 || arm64)

package clock

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// awaitEnd waits for a process to end, and for nothing else that may become of it.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if n > 0 {
			return
		}
		if err != nil && err != unix.EINTR {
			t.Fatal(err)
		}
	}
}

// lived is a guest that has ended.
type lived struct {
	took  time.Duration // real
	lines []string
	err   error
}

// live starts a guest, lets time pass until it ends, and returns what it said.
func live(t *testing.T, d *Driver, path string, args ...string) lived {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := d.Start(cmd); err != nil {
		t.Fatal(err)
	}
	d.Release()
	defer d.Hold()
	ended := false
	defer func() { // also if it has taken too long
		if !ended {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	}()
	var l lived
	l.took = within(t, func() {
		awaitEnd(t, cmd.Process.Pid)
		l.err = cmd.Wait()
	})
	ended = true
	l.lines = strings.Split(strings.TrimSpace(out.String()), "\n")
	return l
}

// kernelProgram asks the kernel itself.
var kernelProgram = sync.OnceValues(func() (path string, err error) { return buildPlainly("kernel") })

func asker(t *testing.T) string {
	t.Helper()
	path, err := kernelProgram()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Whatever a program waits by ends when its time is up, as it would, and not before.
func TestKernelWaits(t *testing.T) {
	for _, mode := range []Mode{Auto, {factor: 60}} {
		t.Run(mode.String(), func(t *testing.T) {
			lasts := 10 * time.Minute
			if mode != Auto {
				lasts = 10 * time.Second
			}
			d := testDriver(t, mode)
			got := live(t, d, asker(t), "waits", lasts.String())
			if got.err != nil {
				t.Fatalf("%v\n%s", got.err, strings.Join(got.lines, "\n"))
			}
			for _, line := range got.lines[1:] {
				var name string
				var took int64
				var value uint64
				var errno unix.Errno
				if _, err := fmt.Sscan(line, &name, &took, &value, (*uintptr)(&errno)); err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				if late := time.Duration(took) - lasts; late < 0 || late > coarseGrain+60*got.took {
					t.Errorf("%s took %s", name, time.Duration(took))
				}
				want := unix.Errno(0)
				switch {
				case strings.HasPrefix(name, "futex"):
					want = unix.ETIMEDOUT
				case name == "rt_sigtimedwait":
					want = unix.EAGAIN
				}
				if errno != want || errno == 0 && value != 0 {
					t.Errorf("%s returned %d, %v", name, value, errno)
				}
			}
			t.Logf("%d waits of %s in %s", len(got.lines)-1, lasts, got.took)
		})
	}
}

// A wait whose event is there first returns that, when it is there.
func TestKernelEvents(t *testing.T) {
	d := testDriver(t, Auto)
	got := live(t, d, asker(t), "events", "10m")
	if got.err != nil {
		t.Fatalf("%v\n%s", got.err, strings.Join(got.lines, "\n"))
	}
	for _, line := range got.lines[1:] {
		var name string
		var took, value, errno int64
		if _, err := fmt.Sscan(line, &name, &took, &value, &errno); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if took := time.Duration(took); took < time.Minute || took > time.Minute+time.Second || value != 1 || errno != 0 {
			t.Errorf("%s returned %d (%d) after %s", name, value, errno, took)
		}
	}
}

// All clocks of the kernel are the world's, read by the kernel's library or not.
func TestKernelClocks(t *testing.T) {
	d := testDriver(t, Auto)
	got := live(t, d, asker(t), "clocks", "10m")
	if got.err != nil {
		t.Fatalf("%v\n%s", got.err, strings.Join(got.lines, "\n"))
	}
	for _, line := range got.lines[1:] {
		var name string
		var passed time.Duration
		if _, err := fmt.Sscan(line, &name, (*int64)(&passed)); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if passed < 10*time.Minute-time.Second || passed > 10*time.Minute+2*time.Second {
			t.Errorf("by %s it was %s", name, passed)
		}
	}
}

// What passes in real time only is named, with the program and the way out.
func TestKernelReal(t *testing.T) {
	names := exec.Command(asker(t), "names")
	out, err := names.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for name := range strings.SplitSeq(lines[len(lines)-1], ",") {
		t.Run(name, func(t *testing.T) {
			d, err := NewDriver(Config{Path: filepath.Join(t.TempDir(), "clock"), Mode: Auto})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			got := live(t, d, asker(t), "real", name)
			t.Logf("%v; %s; %v", d.Err(), got.lines, got.err)
			err = d.Err()
			if err == nil || !strings.Contains(err.Error(), "kernel (process ") || !strings.Contains(err.Error(), "real time only: use --clock real") {
				t.Errorf("it is said: %v", err)
			}
		})
	}
}

// What a guest starts, and what it becomes, lives in its time.
func TestGuestsChildren(t *testing.T) {
	d := testDriver(t, Auto)
	sleeper := guestProgram(t)
	for _, how := range []string{"start", "become"} {
		got := live(t, d, asker(t), how, sleeper, "sleep", "1h")
		if got.err != nil {
			t.Fatalf("%v\n%s", got.err, strings.Join(got.lines, "\n"))
		}
		var mono, wall time.Duration
		if _, err := fmt.Sscan(got.lines[len(got.lines)-1], (*int64)(&mono), (*int64)(&wall)); err != nil {
			t.Fatal(err)
		}
		if mono < time.Hour || mono > time.Hour+time.Second || wall < time.Hour || wall > time.Hour+time.Second {
			t.Errorf("%s: its hour was %s, %s by the time of day", how, mono, wall)
		}
	}
}
