package karpenter_test

import (
	"errors"
	"strings"
	"testing"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/program/karpenter"
	"nodestorm/harness/world"
	"nodestorm/sim/time/clock"
)

// Once Karpenter has died nothing waits for what only it could do, and the error says so.
func TestPoolOfTheDead(t *testing.T) {
	kubernetes := buildstest.Get(t, builds.Kubernetes)
	build := buildstest.Get(t, builds.Ref{Name: karpenter.Name, Version: "v1.7.0"})
	w, err := world.Start(t.Context(), world.Config{Kubernetes: kubernetes.Bin(), Out: t.TempDir(), Clock: clock.Auto, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
	})
	k, err := karpenter.Install(t.Context(), w, build, nil, karpenter.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	w.Died(karpenter.Name, errors.New("it panicked"))
	if err := k.CreatePool(t.Context(), karpenter.Pool{Name: "default"}); err == nil || !strings.Contains(err.Error(), `NodePool "default" to be ready`) || !strings.Contains(err.Error(), "it panicked") {
		t.Errorf("it says %v", err)
	}
}
