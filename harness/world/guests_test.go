package world_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/harness/world"
	"nodestorm/harness/world/process"
	"nodestorm/sim/history"
	"nodestorm/sim/time/clock"
	"nodestorm/sim/time/lag"
)

// A control plane that does not know the clock lives in the world's time: its waits are jumped
// over, its timers are counted, and nothing is left of it. Programs that were built with the
// clock do, too, as their environment does not say where its page is.
func TestControlPlaneOfGuests(t *testing.T) {
	if err := clock.TryGuest(); err != nil {
		t.Skip(err)
	}
	for name, choose := range map[string]func(*testing.T, *world.Config){
		"other": func(t *testing.T, cfg *world.Config) { cfg.ControlPlane, cfg.Kubernetes = cfg.Kubernetes, t.TempDir() },
		"plain": func(_ *testing.T, cfg *world.Config) { cfg.Plain = true },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t, clock.Auto)
			choose(t, &cfg)
			left := newTraces(t)
			w := start(t, cfg)
			select {
			case <-w.Clock().After(20 * time.Minute):
			case <-w.Done():
				t.Fatal(w.Err())
			}
			f := w.Driver().Figures()
			if err := w.Driver().Err(); err != nil || f.Mean < 2 {
				t.Errorf("%.1fx, %v: time does not jump", f.Mean, err)
			}
			for _, name := range world.ControlPlanePrograms {
				if !slices.ContainsFunc(f.Programs, func(p lag.Program) bool { return p.Name == name && p.Lag.Timers > 0 }) {
					t.Errorf("no timer of %s is counted: %+v", name, f.Programs)
				}
				environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", left.pid(t, name)))
				if err != nil || strings.Contains(string(environment), clock.EnvPage) {
					t.Errorf("%s is no guest: its environment names the clock's page (%v)", name, err)
				}
			}
			if err := w.Stop(); err != nil {
				t.Error(err)
			}
			left.gone(t)
		})
	}
}

// A world in which a program does what passes in real time only ends with the reason, and does not go on at
// 1x: its run would prove nothing.
func TestWorldEndsWhenTimeStandsStill(t *testing.T) {
	if err := clock.TryGuest(); err != nil {
		t.Skip(err)
	}
	asker := filepath.Join(t.TempDir(), "asker")
	build := exec.Command("go", "build", "-o", asker, "nodestorm/sim/time/clock/testdata/kernel")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	names, err := exec.Command(asker, "names").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(names)), "\n")
	name, _, _ := strings.Cut(lines[len(lines)-1], ",")
	w := start(t, config(t, clock.Auto))
	if _, err := w.StartComponent(t.Context(), process.Spec{
		Name: "shell", Path: "/bin/sh", Args: []string{"-c", asker + " real " + name + "; exec sleep 1000"}, Dir: t.TempDir(),
		Launch: w.Launch(false), Ready: func(context.Context) error { return nil },
	}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-time.After(time.Minute): // real: what is virtual may pass at 1x
		t.Fatal("it goes on")
	case <-w.Done():
	}
	if err := w.Err(); err == nil || !strings.Contains(err.Error(), "virtual time stood still: asker") || !strings.Contains(err.Error(), "use --clock real") {
		t.Errorf("it ended with %v", err)
	}
}

// What Go's race detector says of a program of the world is in the history: it has none of the
// clock, and is a guest.
func TestProgramThatRaces(t *testing.T) {
	if err := clock.TryGuest(); err != nil {
		t.Skip(err)
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skipf("building with Go's race detector needs a C compiler: %v", err)
	}
	racing := filepath.Join(t.TempDir(), "racing")
	if out, err := exec.Command("go", "build", "-race", "-o", racing, "nodestorm/harness/world/testdata/racing").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	w := start(t, config(t, clock.Auto))
	if _, err := w.StartComponent(t.Context(), process.Spec{
		Name: "target", Path: racing, Dir: t.TempDir(), Launch: w.Launch(false), Ready: func(context.Context) error { return nil },
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	race, err := w.History().Wait(ctx, func(r history.Entry) bool {
		return r.Source == history.Logged && r.Verb == "race" && r.Actor == "target"
	})
	if err != nil {
		t.Fatalf("nothing is recorded of its race: %v", err)
	}
	if text, _ := race.Detail["message"].(string); strings.Count(text, " in main.add (main.go:") != 2 {
		t.Errorf("of the race it says %q", text)
	}
}
