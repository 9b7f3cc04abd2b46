package node

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	"nodestorm/sim/history"
)

// world is a running fleet on a fake API server, in a bubble of testing/synctest: time
// stands still while anything works and jumps to the next timer when nothing does, so
// that every wait below is exact and costs nothing.
type world struct {
	t      *testing.T
	client *fake.Clientset
	server *server
	fleet  *Fleet
	start  time.Time

	mu     sync.Mutex
	events []history.Event
	writes []write
}

// write is a call that changed something, at an offset from the start.
type write struct {
	at                                  time.Duration
	verb, resource, subresource, object string
	patch                               string
}

func (w *world) Record(e history.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

// inWorld runs test in a bubble with a fleet that is up. A nil adopt adopts none.
func inWorld(t *testing.T, seed uint64, adopt func(*corev1.Node) (Profile, bool), test func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, start: time.Now()}
		w.client, w.server = newServer()
		w.client.PrependReactor("*", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
			w.note(a)
			return false, nil, nil
		})
		fleet, err := New(Config{
			Client: w.client, Clock: clock.RealClock{}, History: w, Seed: seed, Adopt: adopt,
			AgentClient: func(string) kubernetes.Interface { return w.client },
		})
		if err != nil {
			t.Fatal(err)
		}
		w.fleet = fleet
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- fleet.Run(ctx) }()
		defer func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("Run: %v", err)
			}
		}()
		<-fleet.Ready()
		synctest.Wait()
		test(w)
	})
}

func (w *world) note(a clienttesting.Action) {
	n := write{at: time.Since(w.start), verb: a.GetVerb(), resource: a.GetResource().Resource, subresource: a.GetSubresource()}
	switch a := a.(type) {
	case clienttesting.CreateAction: // and updates, which have the same methods
		n.object = a.GetObject().(metav1.Object).GetName()
	case clienttesting.PatchAction:
		n.object, n.patch = a.GetName(), string(a.GetPatch())
	case clienttesting.DeleteAction:
		n.object = a.GetName()
	default:
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes = append(w.writes, n)
}

// at lets the world run until offset after its start and come to rest there.
func (w *world) at(offset time.Duration) {
	w.t.Helper()
	if d := offset - time.Since(w.start); d > 0 {
		time.Sleep(d)
	} else if d < 0 {
		w.t.Fatalf("it is %v after the start: too late for %v", time.Since(w.start), offset)
	}
	synctest.Wait()
}

func (w *world) boot(spec Spec) {
	w.t.Helper()
	if err := w.fleet.Boot(spec); err != nil {
		w.t.Fatal(err)
	}
}

// node returns Node "a", the only one of most tests.
func (w *world) node() *corev1.Node {
	w.t.Helper()
	node, err := w.client.CoreV1().Nodes().Get(context.Background(), "a", metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return node
}

func (w *world) pod(name string) *corev1.Pod {
	w.t.Helper()
	pod, err := w.client.CoreV1().Pods("default").Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return pod
}

// bind creates a pod that is bound to node, changed by the given functions.
func (w *world) bind(name, node string, change ...func(*corev1.Pod)) {
	w.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-of-" + name), Annotations: map[string]string{}},
		Spec:       corev1.PodSpec{NodeName: node, RestartPolicy: corev1.RestartPolicyAlways, Containers: []corev1.Container{{Name: "app", Image: "app:1"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	}
	for _, f := range change {
		f(pod)
	}
	if _, err := w.client.CoreV1().Pods("default").Create(context.Background(), pod, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

// markDeleted does what the API server does on a graceful deletion, which the fake
// does not: the object stays, with a deletion timestamp.
func (w *world) markDeleted(name string, grace time.Duration) {
	w.t.Helper()
	pod := w.pod(name)
	at, seconds := metav1.NewTime(time.Now().Add(grace)), int64(grace/time.Second)
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &at, &seconds
	if _, err := w.client.CoreV1().Pods("default").Update(context.Background(), pod, metav1.UpdateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

// when returns the offsets of the node's own events with this verb about object.
func (w *world) when(verb, object string) []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var times []time.Duration
	for _, e := range w.events {
		if e.Source == history.Node && e.Verb == verb && e.Object.Name == object {
			times = append(times, e.At.Sub(w.start))
		}
	}
	return times
}

// faultTimes returns when the named fault was armed, effective and cleared.
func (w *world) faultTimes(name string) map[string]time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	times := map[string]time.Duration{}
	for _, e := range w.events {
		if e.Source == history.Fault && e.Detail["fault"] == name {
			if _, twice := times[e.Verb]; twice {
				w.t.Errorf("fault %q is %s twice", name, e.Verb)
			}
			times[e.Verb] = e.At.Sub(w.start)
		}
	}
	return times
}

// written returns the offsets of the writes of this kind about object.
func (w *world) written(verb, resource, subresource, object string) []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var times []time.Duration
	for _, n := range w.writes {
		if n.verb == verb && n.resource == resource && n.subresource == subresource && n.object == object {
			times = append(times, n.at)
		}
	}
	return times
}

// same reports whether two values are equal, and complains if not.
func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// sameTimes is same for offsets.
func sameTimes(t *testing.T, what string, got []time.Duration, want ...time.Duration) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// between complains unless low <= got <= high.
func between(t *testing.T, what string, got, low, high time.Duration) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("%s: got %v, want %v to %v", what, got, low, high)
	}
}
