//go:build linux && (amd64 || arm64)

package clock

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stripped is a copy of a program without the table of its sections, as packers leave it: nothing of
// Go is to be seen in it.
func stripped(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const sections, count = 40, 60 // e_shoff, e_shnum and e_shstrndx of a 64-bit ELF
	clear(data[sections : sections+8])
	clear(data[count : count+4])
	to := filepath.Join(t.TempDir(), "stripped")
	if err := os.WriteFile(to, data, 0o700); err != nil {
		t.Fatal(err)
	}
	if f, err := elf.Open(to); err != nil || len(f.Sections) > 0 {
		t.Fatalf("%v: it still has sections", err)
	}
	return to
}

// Programs of all kinds sleep an hour in no time: one in which no Go can be seen, and one that a
// script starts or becomes.
func TestGuestsOfAllKinds(t *testing.T) {
	sleeper := guestProgram(t)
	script := func(text string) string {
		path := filepath.Join(t.TempDir(), "script")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, path := range map[string]string{
		"stripped":                stripped(t, sleeper),
		"script that starts it":   script(sleeper + ` "$@"; exit $?`),
		"script that becomes it":  script("exec " + sleeper + ` "$@"`),
		"script in a second one":  script("(sleep 60; " + sleeper + ` "$@")`),
		"script with a pipe":      script(sleeper + ` "$@" | cat`),
		"script after a sleep":    script("sleep 1800; exec " + sleeper + ` "$@"`),
		"program beside another":  script("sleep 900 & " + sleeper + ` "$@"; s=$?; wait; exit $s`),
		"program that is missing": script("/nonexistent/program; exec " + sleeper + ` "$@"`),
	} {
		t.Run(name, func(t *testing.T) {
			d := testDriver(t, Auto)
			got := live(t, d, path, "sleep", "1h")
			var mono, wall time.Duration
			if _, err := fmt.Sscan(got.lines[len(got.lines)-1], (*int64)(&mono), (*int64)(&wall)); err != nil || got.err != nil {
				t.Fatalf("%v, %v: %s", err, got.err, got.lines)
			}
			if mono < time.Hour || mono > time.Hour+time.Second || wall < time.Hour || wall > time.Hour+time.Second {
				t.Errorf("its hour was %s, %s by the time of day", mono, wall)
			}
		})
	}
}

// What is no program is said to be none, and nothing is left of the trial.
func TestGuestIsNoProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte("\x00 no program\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	d := testDriver(t, Auto)
	err := d.Start(exec.Command(path))
	if !errors.Is(err, unix.ENOEXEC) || !strings.Contains(err.Error(), "text is neither a program for this machine") {
		t.Errorf("it is said: %v", err)
	}
}

// A guest that crashes is reported as one, and its world goes on.
func TestGuestCrashes(t *testing.T) {
	d := testDriver(t, Auto)
	got := live(t, d, guestProgram(t), "sleep", "not so long")
	if exit := new(exec.ExitError); !errors.As(got.err, &exit) || exit.ExitCode() != 2 {
		t.Errorf("it ended with %v", got.err)
	}
	if _, said := plays(t, d, guestProgram(t), "tick", "1s", "10s"); said == "" {
		t.Error("the next one says nothing")
	}
}

// supervised, if it is in the environment, has the test be the supervisor that is killed: of that
// program, with its clock in a folder that outlives it.
const supervised = "NODESTORM_TEST_SUPERVISED"

// With its supervisor a guest ends, however that ends.
func TestSupervisorKilled(t *testing.T) {
	if both, ok := os.LookupEnv(supervised); ok {
		path, dir, _ := strings.Cut(both, ":")
		d, err := NewDriver(Config{Path: filepath.Join(dir, "clock"), Mode: Fixed(1.5)})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(path, "tick", "10ms", "10h")
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := d.Start(cmd); err != nil {
			t.Fatal(err)
		}
		d.Release()
		fmt.Println("guest", cmd.Process.Pid)
		select {}
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestSupervisorKilled$", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), supervised+"="+guestProgram(t)+":"+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	pid := 0
	for lines := bufio.NewScanner(out); pid == 0 && lines.Scan(); {
		if id, ok := strings.CutPrefix(lines.Text(), "guest "); ok {
			if pid, err = strconv.Atoi(id); err != nil {
				t.Fatal(err)
			}
		}
	}
	guest, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(guest)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	within(t, func() {
		for {
			if n, err := unix.Poll([]unix.PollFd{{Fd: int32(guest), Events: unix.POLLIN}}, -1); n > 0 || err != unix.EINTR {
				return
			}
		}
	})
}
