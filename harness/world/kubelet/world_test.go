package kubelet_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/world"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/history"
	"nodestorm/sim/time/clock"
)

// rig is a world with machines for a test.
type rig struct {
	*kubelet.Machines
	*world.World
	out, programs string
}

// newRig starts a world that kubelets can join. Its folder is not the test's: that
// name may be too long for the sockets in it.
func newRig(t testing.TB, mode clock.Mode) rig {
	t.Helper()
	return newRigWith(t, world.Config{Clock: mode})
}

func newRigWith(t testing.TB, cfg world.Config) rig {
	t.Helper()
	kubernetes := buildstest.Get(t, builds.Kubernetes)
	tmp, err := os.MkdirTemp("/tmp", "k")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	t.Setenv("TMPDIR", tmp)
	r := rig{out: filepath.Join(tmp, "out"), programs: kubernetes.Bin()}
	if err := os.Mkdir(r.out, 0o755); err != nil {
		t.Fatal(err)
	}
	cfg.Kubernetes, cfg.Out, cfg.Seed, cfg.Kubelets = kubernetes.Bin(), r.out, 1, true
	r.World, err = world.Start(t.Context(), cfg)
	if err != nil {
		r.logs(t)
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			r.logs(t)
		}
	})
	if r.Machines, err = kubelet.New(t.Context(), r.World, kubelet.Config{Kubernetes: kubernetes.Bin()}); err != nil {
		t.Fatal(err)
	}
	return r
}

// logs are the ends of what the kubelets and programs said: short, as a test's own
// complaint stands above them and CI systems cut what is long.
func (r rig) logs(t testing.TB) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(r.out, "logs", "*.log"))
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil {
			t.Logf("--- %s\n%s", filepath.Base(f), b[max(0, len(b)-1500):])
		}
	}
}

func (r rig) boot(t testing.TB, m kubelet.Machine) {
	t.Helper()
	if m.Addresses == nil {
		m.Addresses = []netip.Addr{netip.MustParseAddr("10.1.0.1")}
	}
	if err := r.Boot(m); err != nil {
		t.Fatal(err)
	}
}

// within waits, in virtual time, until done is nil, and fails with what it said last.
func (r rig) within(t testing.TB, d time.Duration, what string, done func(context.Context) error) {
	t.Helper()
	end := r.Clock().Now().Add(d)
	for {
		err := done(t.Context())
		if err == nil {
			return
		}
		if r.Clock().Now().After(end) {
			t.Fatalf("%s: not within %s: %v", what, d, err)
		}
		select {
		case <-r.Clock().After(500 * time.Millisecond):
		case <-r.Done():
			t.Fatal(r.Err())
		}
	}
}

func (r rig) node(ctx context.Context, name string) (*corev1.Node, error) {
	return r.Client().CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
}

func condition(n *corev1.Node) corev1.NodeCondition {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c
		}
	}
	return corev1.NodeCondition{}
}

// is waits for a Node whose Ready condition has that status.
func (r rig) is(t testing.TB, name string, ready corev1.ConditionStatus, d time.Duration) *corev1.Node {
	t.Helper()
	var n *corev1.Node
	r.within(t, d, fmt.Sprintf("node %s Ready=%s", name, ready), func(ctx context.Context) (err error) {
		if n, err = r.node(ctx, name); err != nil {
			return err
		}
		if c := condition(n); c.Status != ready {
			return fmt.Errorf("Ready=%s: %s", c.Status, c.Message)
		}
		return nil
	})
	return n
}

// pod creates one that tolerates everything and is bound to a node.
func (r rig) pod(t testing.TB, name, node string, change func(*corev1.Pod)) {
	t.Helper()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PodSpec{
			NodeName: node, Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers: []corev1.Container{{Name: "c", Image: "registry.example/" + name + ":v1"}},
		},
	}
	if change != nil {
		change(p)
	}
	r.within(t, time.Minute, "creating pod "+name, func(ctx context.Context) error { // its service account may be on its way
		_, err := r.Client().CoreV1().Pods(p.Namespace).Create(ctx, p, metav1.CreateOptions{})
		return err
	})
}

func (r rig) getPod(ctx context.Context, name string) (*corev1.Pod, error) {
	return r.Client().CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
}

// podIs waits for a pod about which check has no complaint.
func (r rig) podIs(t testing.TB, name, what string, d time.Duration, check func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	var p *corev1.Pod
	r.within(t, d, "pod "+name+" "+what, func(ctx context.Context) (err error) {
		if p, err = r.getPod(ctx, name); err != nil {
			return err
		}
		if !check(p) {
			return fmt.Errorf("%s, containers %+v, conditions %+v", p.Status.Phase, p.Status.ContainerStatuses, p.Status.Conditions)
		}
		return nil
	})
	return p
}

func running(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning && podReady(p) }

func podReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// waiting is the reason that a pod's container gives for not running.
func waiting(p *corev1.Pod) string {
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Waiting != nil {
			return c.State.Waiting.Reason
		}
	}
	return ""
}

// nodeEvents are those of the kubelets' machines with that verb.
func (r rig) nodeEvents(verb string) (found []history.Entry) {
	for _, event := range r.History().Events() {
		if event.Source == history.Node && event.Verb == verb && strings.Contains("kubelet cri", event.Actor) {
			found = append(found, event)
		}
	}
	return found
}
