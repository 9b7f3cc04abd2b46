package world_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"nodestorm/harness/world"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/node"
	"nodestorm/sim/time/clock"
)

// A control plane of another kind, here that of another world, has all else of a world
// around it.
func TestControlPlaneOfAnotherKind(t *testing.T) {
	var at world.Site
	var other *world.World
	cfg := world.Config{Out: t.TempDir(), Clock: clock.Auto, Start: func(_ context.Context, site world.Site) (world.ControlPlane, error) {
		at = site
		return other, nil
	}}
	failsWith(t, t.Context(), cfg, "--clock real")

	other = start(t, config(t, clock.Real))
	cfg.Clock = clock.Real
	w := start(t, cfg)
	profile := node.DefaultProfile()
	profile.BootDelay, profile.ReadyDelay = 0, 0 // of real time
	if err := w.Fleet().Boot(node.Spec{Name: "simulated", Profile: profile}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.History().WaitAfter(t.Context(), 0, func(r history.Entry) bool {
		return r.Source == history.Node && r.Verb == "ready" && r.Object.Name == "simulated"
	}); err != nil {
		t.Fatal(err)
	}
	path, err := w.Kubeconfig("tester", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kubernetes.NewForConfigOrDie(config).CoreV1().Nodes().Get(t.Context(), "simulated", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := w.ClientCA(); err == nil || !strings.Contains(err.Error(), "no kubelet can join") {
		t.Errorf("kubelets in a world that did not ask for them: %v", err)
	}
	at.World.Died("the cluster", errors.New("it was removed"))
	<-w.Done()
	if err := w.Err(); err == nil || !strings.Contains(err.Error(), "removed") {
		t.Errorf("the world ends with %v", err)
	}
}
