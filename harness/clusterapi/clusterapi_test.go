package clusterapi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/autoscaler"
	"nodestorm/harness/clusterapi"
	"nodestorm/harness/target"
	"nodestorm/harness/target/targettest"
	"nodestorm/harness/world"
	"nodestorm/sim/clock"
)

// up is a release in a world of its own.
func up(t *testing.T, version string) (*world.World, *clusterapi.ClusterAPI) {
	t.Helper()
	w := start(t)
	return w, bring(t, clusterapi.Config{World: w}, version)
}

// bring brings a release up in a world.
func bring(t *testing.T, cfg clusterapi.Config, version string) *clusterapi.ClusterAPI {
	t.Helper()
	cfg.Target, cfg.Seed = targettest.Get(t, target.Ref{Name: clusterapi.Name, Version: version}), 1
	a, err := clusterapi.Up(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// start starts a world, whose controllers' last lines a test shows that fails.
func start(t *testing.T) *world.World {
	t.Helper()
	kubernetes := targettest.Get(t, target.Kubernetes)
	out := t.TempDir()
	w, err := world.Start(t.Context(), world.Config{Kubernetes: kubernetes.Bin(), Out: out, Clock: clock.Auto, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f := w.Driver().Figures()
		t.Logf("%s virtual in %s, lag %s", f.Virtual, f.Wall, f.Lag)
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			for _, name := range []string{clusterapi.Name, autoscaler.Name} {
				b, _ := os.ReadFile(filepath.Join(out, "logs", name+".log"))
				t.Logf("%s: %s", name, b[max(0, len(b)-6000):])
			}
		}
	})
	return w
}

// A machine whose instance goes behind everybody's back, and one that is scaled
// away: each takes its node and its instance with it.
func TestInstancesAndMachinesAgree(t *testing.T) {
	w, a := up(t, "v1.9.5")
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(a.CreateMachineDeployment(ctx, clusterapi.MachineDeployment{Name: "workers", Replicas: 2, Taints: "example.org/a=b:NoSchedule", NodeLabels: "example.org/pool=workers"}))
	machines, err := a.AwaitRunning(ctx, "workers", 2, 5*time.Minute)
	must(err)
	for _, i := range a.Cloud().Instances() {
		if i.Type != "cpx31" {
			t.Errorf("instance %s is a %s", i.Name, i.Type)
		}
		node, err := w.Client().CoreV1().Nodes().Get(ctx, i.Name, metav1.GetOptions{})
		must(err)
		if want := fmt.Sprintf("%s%d", clusterapi.ProviderIDPrefix, i.ID); node.Spec.ProviderID != want {
			t.Errorf("node %s has the provider ID %q, want %q", node.Name, node.Spec.ProviderID, want)
		}
		if node.Labels["example.org/pool"] != "workers" || node.Status.Capacity.Cpu().Value() != 4 {
			t.Errorf("node %s: %v %v", node.Name, node.Labels, node.Status.Capacity)
		}
	}
	must(a.DeleteMachine(ctx, machines[0].Name))
	must(a.AwaitGone(ctx, machines[:1], 10*time.Minute))
	_, err = a.AwaitRunning(ctx, "workers", 2, 10*time.Minute)
	must(err)
	if n := len(a.Cloud().Instances()); n != 2 {
		t.Errorf("%d instances, want 2", n)
	}
	if _, err := w.Client().CoreV1().Nodes().Get(ctx, machines[0].Node, metav1.GetOptions{}); err == nil {
		t.Errorf("node %s is still there", machines[0].Node)
	}
}
