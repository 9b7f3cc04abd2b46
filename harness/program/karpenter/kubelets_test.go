package karpenter_test

import (
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/program/karpenter"
	"nodestorm/harness/world"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/time/clock"
)

// A machine is there until its Node is gone, however long a finalizer keeps that.
func TestKubeletsWaitForTheFinalizer(t *testing.T) {
	kubernetes := buildstest.Get(t, builds.Kubernetes)
	tmp, err := os.MkdirTemp("/tmp", "k") // a test's own folder may be too long for the kubelet's sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	t.Setenv("TMPDIR", tmp)
	w, err := world.Start(t.Context(), world.Config{Kubernetes: kubernetes.Bin(), Out: t.TempDir(), Clock: clock.Real, Seed: 1, ClusterOptions: world.ClusterOptions{Kubelets: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
	})
	machines, err := kubelet.New(t.Context(), w, kubelet.Config{Kubernetes: kubernetes.Bin()})
	if err != nil {
		t.Fatal(err)
	}
	karpenter.Kubelets(w, machines, func() kubelet.Machine { return kubelet.Machine{} })
	eventually := func(what string, is func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("not within 1m: %s", what)
			}
		}
	}
	nodes := w.Client().CoreV1().Nodes()
	create := func(name string) {
		t.Helper()
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{"karpenter.sh/termination"}}, Spec: corev1.NodeSpec{ProviderID: "kwok://" + name}}
		if _, err := nodes.Create(t.Context(), n, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually("machine "+name+" is on", func() bool { return machines.Dir(name) != "" })
	}
	patch := func(text string) {
		t.Helper()
		if _, err := nodes.Patch(t.Context(), "a", types.MergePatchType, []byte(text), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	create("a")
	first := machines.Dir("a")
	if err := nodes.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	patch(`{"metadata": {"labels": {"drains": "true"}}}`)
	create("b") // after which all that came before is known
	if got := machines.Dir("a"); got != first {
		t.Errorf("while its Node is drained, the machine's folder is %q, was %q", got, first)
	}
	patch(`{"metadata": {"finalizers": null}}`)
	eventually("machine a is off", func() bool { return machines.Dir("a") == "" })
	create("a")
}
