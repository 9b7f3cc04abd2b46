package world_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"nodestorm/harness/world"
	"nodestorm/harness/world/process"
	"nodestorm/sim/history"
	"nodestorm/sim/time/clock"
)

// Two processes give way to two others one by one, as Karpenter's chart has it: one ends at once, the other when one that came
// is Ready.
func TestRollOut(t *testing.T) {
	w := start(t, config(t, clock.Real))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var ready atomic.Bool
	ready.Store(true)
	of := world.Rollout{Program: "target", Replicas: 2, Surge: 1, Unavailable: 1, Spec: func(name string) (process.Spec, error) {
		return process.Spec{Name: name, Path: "/bin/sleep", Args: []string{"1000"}, Ready: func(context.Context) error {
			if !ready.Load() {
				return errors.New("not yet")
			}
			return nil
		}}, nil
	}}
	if err := w.RollOut(ctx, of); err != nil {
		t.Fatal(err)
	}
	old := w.Replicas("target")
	if want := []string{"target", "target-2"}; !slices.Equal(slices.Sorted(slices.Values(old)), want) {
		t.Fatalf("%q run, want %q", old, want)
	}
	ready.Store(false)
	done := make(chan error, 1)
	go func() { done <- w.RollOut(ctx, of) }()
	said := func(verb, name string) func(history.Entry) bool {
		return func(e history.Entry) bool { return e.Verb == verb && e.Actor == "target" && e.Object.Name == name }
	}
	for _, awaited := range []func(history.Entry) bool{said(history.Started, "target-3"), said(history.Started, "target-4"),
		said(history.Stopped, old[1])} {
		if _, err := w.History().WaitAfter(ctx, 0, awaited); err != nil {
			t.Fatal(err)
		}
	}
	if slices.ContainsFunc(w.History().Since(0), said(history.Stopped, old[0])) {
		t.Errorf("%s ends while none that came is Ready", old[0])
	}
	ready.Store(true)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	now := slices.Sorted(slices.Values(w.Replicas("target")))
	if want := []string{"target-3", "target-4"}; !slices.Equal(now, want) {
		t.Errorf("%q run, want %q", now, want)
	}
	if err := w.RollOut(ctx, world.Rollout{Program: "target", Replicas: 2, Spec: of.Spec}); err == nil {
		t.Error("with no process more and none less there is no end, and no error")
	}
}
