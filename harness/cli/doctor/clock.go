package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"nodestorm/harness/world/process"
	"nodestorm/sim/time/clock"
	"nodestorm/sim/time/clock/overlay"
)

// FolderPrefix begins the name of the folder in which the clock is tried.
const FolderPrefix = "nodestorm-doctor-"

// waits is a program that has nothing to do for an hour.
const waits = `package main

import "time"

func main() { time.Sleep(time.Hour) }
`

// tryClock has a program wait for an hour of virtual time, and returns how long that took:
// 0 without a Go toolchain, which is what the kernel allows alone.
func tryClock(ctx context.Context) (took time.Duration, err error) {
	if err := errors.Join(clock.Auto.Try(), clock.TryBuiltIn()); err != nil {
		return 0, err
	}
	if goFound() != nil {
		return 0, nil
	}
	dir, remove, err := process.Scratch(FolderPrefix)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	program, err := buildWaiting(ctx, dir)
	if err != nil {
		return 0, fmt.Errorf("building a program with it: %w", err)
	}
	driver, err := clock.NewDriver(clock.Config{Path: filepath.Join(dir, "clock"), Mode: clock.Auto})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, driver.Close()) }()
	began := time.Now()
	p, err := process.Start(ctx, process.Spec{Name: "waits", Path: program, Env: []string{driver.Env()}, Log: filepath.Join(dir, "waits.log")})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, p.Kill()) }()
	driver.Release()
	select {
	case <-p.Exited():
	case <-time.After(clockLimit):
		return 0, errors.Join(fmt.Errorf("an hour of waiting did not pass within %s; use --clock real", clockLimit), driver.Err())
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if err := errors.Join(p.Exit(), driver.Err()); err != nil && p.Code() != 0 {
		return 0, err
	}
	return time.Since(began), driver.Err()
}

// tryGuest says what of a guest's life in virtual time is refused here, and the way out.
func tryGuest() error {
	if err := clock.TryGuest(); err != nil {
		return fmt.Errorf("%w; the kernel is to be 5.9 or later, and a container needs a seccomp profile that allows ptrace and seccomp, as "+
			"the default ones do; or build targets: nodestorm target build", err)
	}
	return nil
}

// buildWaiting builds the program in dir as targets are built.
func buildWaiting(ctx context.Context, dir string) (program string, err error) {
	goCommand := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GO111MODULE=on")
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("go %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
		}
		return strings.TrimSpace(string(out)), err
	}
	for name, text := range map[string]string{"main.go": waits, "go.mod": "module waits\n\ngo 1.24\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	goroot, err := goCommand("env", "GOROOT")
	if err != nil {
		return "", err
	}
	edits, _, err := overlay.Write(goroot, runtime.GOARCH, filepath.Join(dir, "overlay"))
	if err != nil {
		return "", err
	}
	program = filepath.Join(dir, "waits")
	_, err = goCommand("build", "-trimpath", "-buildvcs=false", "-overlay="+edits, "-o", program, ".")
	return program, err
}

// clockLimit is how long, in real time, the hour of the clock's trial may take: it takes a
// fraction of a second, and the machine may be busy.
const clockLimit = time.Minute
