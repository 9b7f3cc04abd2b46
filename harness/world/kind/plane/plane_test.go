package plane_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"nodestorm/harness/builds"
	"nodestorm/harness/world"
	"nodestorm/harness/world/kind"
	"nodestorm/harness/world/kind/plane"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/node"
	"nodestorm/sim/time/clock"
)

// A world on a real control plane: a pod goes to a simulated node, and the history has
// kube-apiserver's calls.
func TestWorldOnKind(t *testing.T) {
	if testing.Short() {
		t.Skip("a real cluster takes half a minute; make test-kind runs it")
	}
	for _, err := range []error{kind.CheckDocker(t.Context()), kind.CheckImage(t.Context(), builds.Kubernetes.Version)} {
		if err != nil {
			t.Skipf("no cluster can be made: %v; make test-kind makes the image first", err)
		}
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	w, err := world.Start(t.Context(), world.Config{Out: t.TempDir(), Clock: clock.Real, Start: plane.Start(builds.Kubernetes.Version)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
		names, err := kind.List()
		for _, name := range names {
			if strings.HasPrefix(name, "world-") {
				t.Errorf("cluster %s was left behind", name)
			}
		}
		if err != nil {
			t.Error(err)
		}
	}()
	if swept, err := kind.Sweep(t.Context()); err != nil || len(swept) > 0 {
		t.Errorf("Sweep took the cluster of a world that is there: %v, %v", swept, err)
	}
	if err := w.Fleet().Boot(node.Spec{Name: "simulated", Profile: node.DefaultProfile()}); err != nil {
		t.Fatal(err)
	}
	rc, err := w.User("tester", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(rc)
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
	}
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for what, found := range map[string]func(history.Entry) bool{
		"that a user made the pod": func(r history.Entry) bool {
			return r.Source == history.API && r.Verb == "create" && r.Object.Name == "web"
		},
		"that the pod runs on the simulated node": func(r history.Entry) bool {
			return r.Source == history.Node && r.Object.Name == "web"
		},
	} {
		if _, err := w.History().WaitAfter(t.Context(), 0, found); err != nil {
			t.Fatalf("waiting for an event %s: %v", what, err)
		}
	}
}
