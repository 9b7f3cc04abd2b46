//go:build linux && (amd64 || arm64)

package clock

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// guestProgram is one that was built as any other.
func guestProgram(t *testing.T) string {
	t.Helper()
	path, err := buildGuest()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var buildGuest = sync.OnceValues(func() (path string, err error) { return buildPlainly("guest") })

// buildPlainly builds a program of testdata as any other is, once.
func buildPlainly(name string) (path string, err error) {
	dir, err := plainly()
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, name)
	cmd := exec.Command("go", "build", "-o", path, "./testdata/"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
}

// plainly is the folder of programs that were built as any other.
var plainly = sync.OnceValues(func() (dir string, err error) {
	dir, err = os.MkdirTemp("", "nodestorm-clock-test-")
	plain = dir
	return dir, err
})

// plays starts a guest, lets time pass, and returns what it said last.
func plays(t *testing.T, d *Driver, path string, args ...string) (took time.Duration, last string) {
	t.Helper()
	l := live(t, d, path, args...)
	if l.err != nil {
		t.Fatalf("%v\n%s", l.err, strings.Join(l.lines, "\n"))
	}
	return l.took, l.lines[len(l.lines)-1]
}

// An unchanged program sleeps an hour in no time, by all its clocks, ticks as often
// as it should, and hears what is sent to it.
func TestGuest(t *testing.T) {
	path := guestProgram(t)
	for _, mode := range []Mode{Auto, {factor: 60}} {
		t.Run(mode.String(), func(t *testing.T) {
			d := testDriver(t, mode)
			lasts := time.Hour
			if mode != Auto {
				lasts = time.Minute
			}
			took, said := plays(t, d, path, "sleep", lasts.String())
			var mono, wall int64
			if _, err := fmt.Sscan(said, &mono, &wall); err != nil {
				t.Fatalf("%q: %v", said, err)
			}
			for _, slept := range []int64{mono, wall} {
				if late := time.Duration(slept) - lasts; late < 0 || late > coarseGrain+took*60 {
					t.Errorf("it slept %s", time.Duration(slept))
				}
			}
			took, said = plays(t, d, path, "tick", "100ms", "1m")
			ticks := 0
			if _, err := fmt.Sscan(said, &ticks); err != nil || ticks > 600 || ticks < 100 {
				t.Errorf("it ticked %q times in %s", said, took)
			}
			took, said = plays(t, d, path, "talk")
			t.Logf("a minute's talk: %s in %s; %+v", said, took, d.Figures())
		})
	}
}

// Who was killed at work has left that in its slot, which a guest may take: it is not at work for that.
func TestGuestAfterAKilledProgram(t *testing.T) {
	path := guestProgram(t)
	d := testDriver(t, Auto)
	victim := start(t, d.Env(), "actor", "spin")
	eventually(t, "the program works", func() bool { return d.page.slots[0].busy.Load() > 0 })
	if err := victim.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the slot of a killed program is free", func() bool { return d.page.slots[0].pid.Load() == 0 })
	plays(t, d, path, "sleep", "1h")
}

// A program that a guest has left behind has its filter, and no say in the slot of what comes
// next.
func TestGuestLeavesItsSlot(t *testing.T) {
	var s slot
	g := &guest{family: &family{}, slot: &s, waits: map[int]wait{}}
	g.wait(1, wait{until: 5})
	if s.wakeAt.Load() != 5 {
		t.Fatalf("a wait until 5 is one until %d", s.wakeAt.Load())
	}
	g.end()
	s.wakeAt.Store(0)
	g.wait(2, wait{until: 7})
	if at := s.wakeAt.Load(); at != 0 {
		t.Errorf("who comes next waits until %d", at)
	}
}

// A guest that outlives its world's clock is answered all the same, and its calls are counted until
// then.
func TestGuestOutlivesItsClock(t *testing.T) {
	d, err := NewDriver(Config{Path: filepath.Join(t.TempDir(), "clock"), Mode: Auto})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(guestProgram(t), "tick", "20ms", "500ms")
	if err := d.Start(cmd); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it waits", func() bool {
		programs := d.Figures().Programs
		return programs[0].Name == "guest" && programs[0].Calls > 3 && programs[0].Listening > 0
	})
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	within(t, func() {
		awaitEnd(t, cmd.Process.Pid)
		err = cmd.Wait()
	})
	if err != nil {
		t.Error(err)
	}
}

// What cannot be read is not listened on: it may be all addresses.
func TestGuestsAddressCannotBeRead(t *testing.T) {
	if err := onLoopback(os.Getpid(), 1, 16); err == nil {
		t.Error("an unreadable address is taken for a good one")
	}
}

// Whatever a guest asks for, no other machine can connect to it.
func TestGuestListensOnLoopback(t *testing.T) {
	d := testDriver(t, Auto)
	if _, said := plays(t, d, guestProgram(t), "listen"); said != "127.0.0.1 127.0.0.1 127.0.0.1" {
		t.Errorf("it listens on %s", said)
	}
}
