//go:build linux && (amd64 || arm64)

package clock

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"nodestorm/sim/time/lag"
)

// A stopped program is named, whatever it is to the world and however it lives in its time: a
// verdict that does not depend on a program would not need it. None of them says so itself.
func TestWhoeverIsStopped(t *testing.T) {
	if err := TryGuest(); err != nil {
		t.Skip(err)
	}
	d := testDriver(t, Auto)
	launched := func(launch func(*exec.Cmd) error, path string, args ...string) int {
		cmd := exec.Command(path, args...)
		cmd.Env = append(os.Environ(), d.Env())
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := launch(cmd); err != nil {
			t.Fatal(err)
		}
		pid := cmd.Process.Pid
		t.Cleanup(func() {
			_ = syscall.Kill(-pid, syscall.SIGKILL)
			awaitEnd(t, pid)
			_ = cmd.Wait()
		})
		return pid
	}
	started := (*exec.Cmd).Start
	pids := map[string]int{
		"component": start(t, d.Env(), "actor", "tick", "1s").cmd.Process.Pid,
		"actor":     start(t, d.Env(), "actor", "signal").cmd.Process.Pid, // which gets no other name
		"kubelet":   launched(started, program(t, "actor"), "signal"),     // is named before it has come to its slot
		"guest":     launched(d.Start, guestProgram(t), "tick", "1s", "1h"),
		"outside":   launched(started, "/bin/sleep", "1000"), // does not know the clock
		"parent":    launched(d.Start, "/bin/sh", "-c", "sleep 1000 & wait"),
	}
	for name, pid := range pids {
		if name != "actor" {
			d.Name(pid, name)
		}
	}
	eventually(t, "all are there", func() bool {
		for name := range pids {
			if named(d, name).Name == "" {
				return false
			}
		}
		return named(d, "sleep").Name != ""
	})
	pids["sleep"] = childOf(t, pids["parent"]) // which a guest has started
	d.Release()
	if why := d.Figures().Distorted(); why != "" {
		t.Fatalf("before: %s", why)
	}
	signal := func(s syscall.Signal) {
		for name, pid := range pids {
			if err := syscall.Kill(pid, s); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	signal(syscall.SIGSTOP)
	time.Sleep(tooLong)
	signal(syscall.SIGCONT)
	f := d.Figures()
	for name := range pids {
		of := lag.Figures{Programs: []lag.Program{named(d, name)}}
		if why := of.Distorted(); !strings.Contains(why, name+": stopped for ") {
			t.Errorf("of %s the figures say %q: %+v", name, why, of.Programs)
		}
	}
	if why := f.Distorted(); !strings.Contains(why, "2 programs more") || len(f.Programs) != len(pids)+1 {
		t.Errorf("%q, of %+v", why, f.Programs)
	}
	// Who has ended is no longer looked at, and what it has shown is kept.
	_ = syscall.Kill(pids["outside"], syscall.SIGKILL)
	eventually(t, "it is gone", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.outside) == 0
	})
	if p := named(d, "outside"); p.Stopped < lag.Longest {
		t.Errorf("gone, it has %+v", p)
	}
	d.Name(0, "nowhere")
	if p := named(d, "nowhere"); p.Name != "" {
		t.Errorf("of no process the figures have %+v", p)
	}
}

// childOf is the one child of a process.
func childOf(t *testing.T, pid int) (child int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(text), &child); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return child
}
