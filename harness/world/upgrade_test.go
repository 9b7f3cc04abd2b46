package world_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/world"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/node"
	"nodestorm/sim/time/clock"
)

// A release takes the place of another one in the order that Kubernetes asks for. Guests give way to programs with the clock, all
// that is stored stays, and kubelets are of the release from before.
func TestUpgrade(t *testing.T) {
	if err := clock.TryGuest(); err != nil {
		t.Skip(err)
	}
	cfg := config(t, clock.Auto)
	cfg.ControlPlane, cfg.Version = cfg.Kubernetes, "v1.35.4"
	left := newTraces(t)
	w := start(t, cfg)
	if err := w.Fleet().Boot(node.Spec{Name: "a", Profile: node.DefaultProfile()}); err != nil {
		t.Fatal(err)
	}
	ready := func(e history.Entry) bool { return e.Source == history.Node && e.Verb == "ready" }
	if _, err := w.History().WaitAfter(t.Context(), 0, ready); err != nil {
		t.Fatal(err)
	}
	before := map[string]int{}
	for _, name := range world.ControlPlanePrograms {
		before[name] = left.pid(t, name)
	}
	if err := w.Upgrade(t.Context(), world.Release{Version: "v1.36.3"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range world.ControlPlanePrograms {
		environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", left.pid(t, name)))
		if err != nil {
			t.Fatal(err)
		}
		etcd := name == "etcd"
		if is := left.pid(t, name) == before[name]; is != etcd {
			t.Errorf("%s is the same process: %v", name, is)
		}
		if has := strings.Contains(string(environment), clock.EnvPage); has == etcd {
			t.Errorf("the environment of %s names the clock's page: %v", name, has)
		}
	}
	n, err := w.Client().CoreV1().Nodes().Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil || n.Status.NodeInfo.KubeletVersion != "v1.35.4" {
		t.Errorf("the kubelet is of %q, %v", n.Status.NodeInfo.KubeletVersion, err)
	}
	if v, err := w.Client().Discovery().ServerVersion(); err != nil || v.GitVersion != "v1.36.3" {
		t.Errorf("the API server is of %v, %v", v, err)
	}
	var order []string
	for _, e := range w.History().Since(0) {
		if e.Source == history.Harness && (e.Verb == history.Stopped || e.Verb == history.Started) {
			order = append(order, e.Verb+" "+e.Actor)
		}
	}
	if want := []string{"stopped kube-apiserver", "started kube-apiserver", "stopped kube-controller-manager",
		"started kube-controller-manager", "stopped kube-scheduler", "started kube-scheduler"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
	select {
	case <-w.Clock().After(10 * time.Minute):
	case <-w.Done():
		t.Fatal(w.Err())
	}
}
