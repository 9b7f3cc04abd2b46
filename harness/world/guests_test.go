package world_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/harness/world"
	"nodestorm/sim/clock"
)

// A control plane that does not know the clock lives in the world's time: its waits are jumped
// over, its timers are counted, and nothing is left of it. Programs that were built with the
// clock do, too, as they are not told where its page is.
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
				if !slices.ContainsFunc(f.Programs, func(p clock.Program) bool { return p.Name == name && p.Vital && p.Lag.Timers > 0 }) {
					t.Errorf("no timer of %s is counted: %+v", name, f.Programs)
				}
				environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", left.pid(t, name)))
				if err != nil || strings.Contains(string(environment), clock.EnvPage) {
					t.Errorf("%s is no guest: it is told of the clock's page (%v)", name, err)
				}
			}
			if err := w.Stop(); err != nil {
				t.Error(err)
			}
			left.gone(t)
		})
	}
}
