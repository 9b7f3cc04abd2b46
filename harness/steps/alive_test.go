package steps

import (
	"errors"
	"syscall"
	"testing"

	"nodestorm/harness/target"
	"nodestorm/harness/target/targettest"
	"nodestorm/harness/world"
	"nodestorm/sim/clock"
	"nodestorm/sim/history"
	"nodestorm/sim/workload"
)

// Whoever waits for pods of a Deployment sees the world die.
func TestDeploymentOfADyingWorld(t *testing.T) {
	kubernetes := targettest.Get(t, target.Kubernetes)
	w, err := world.Start(t.Context(), world.Config{Kubernetes: kubernetes.Bin(), Out: t.TempDir(), Clock: clock.Real, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Stop() }() // it is dead
	s := &scenario{world: w}
	ran := make(chan error, 1)
	go func() { ran <- s.runDeployment(t.Context(), "web", 1, workload.Template{CPU: "1"}) }() // there is no node
	_, err = w.History().Wait(t.Context(), func(r history.Record) bool {
		return r.Source == history.API && r.Verb == "create" && r.Object.Resource == "pods"
	})
	if err != nil {
		t.Fatal(err)
	}
	scheduler, ok := w.Component("kube-scheduler")
	if !ok {
		t.Fatal("there is no kube-scheduler")
	}
	if err := syscall.Kill(scheduler.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-ran; err == nil || !errors.Is(err, w.Err()) {
		t.Errorf("error %v, want the world's: %v", err, w.Err())
	}
}
