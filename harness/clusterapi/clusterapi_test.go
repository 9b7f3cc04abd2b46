package clusterapi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/clusterapi"
	"nodestorm/harness/target"
	"nodestorm/harness/target/targettest"
	"nodestorm/harness/world"
	"nodestorm/sim/clock"
)

// up is a release in a world of its own.
func up(t *testing.T, version string) (*world.World, *clusterapi.ClusterAPI) {
	t.Helper()
	kubernetes := targettest.Get(t, target.Kubernetes)
	release := targettest.Get(t, target.Ref{Name: clusterapi.Name, Version: version})
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
			b, _ := os.ReadFile(filepath.Join(out, "logs", clusterapi.Name+".log"))
			t.Logf("%s", b[max(0, len(b)-6000):])
		}
	})
	a, err := clusterapi.Up(t.Context(), w, release, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w, a
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
	must(a.CreateMachineDeployment(ctx, clusterapi.MachineDeployment{Name: "workers", Replicas: 2, Taints: "example.org/a=b:NoSchedule", Labels: "example.org/pool=workers"}))
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
