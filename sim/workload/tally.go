package workload

import (
	"cmp"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// tally counts Running pods as they come and go, in constant time each, so that a wait for
// ten thousand costs no more than following them does.
type tally struct {
	want int

	mu      sync.Mutex
	listed  bool
	running int
	other   map[string]*corev1.Pod // those that are not Running, by name
	all     map[string]bool        // whether each is Running
	err     error                  // of the last list or watch
	reached chan struct{}          // closed once there are enough
	closed  bool
}

func newTally(want int) *tally {
	return &tally{want: want, other: map[string]*corev1.Pod{}, all: map[string]bool{}, reached: make(chan struct{})}
}

func (t *tally) put(p *corev1.Pod) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(p.Name)
	t.err = nil
	running := p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil
	t.all[p.Name] = running
	if running {
		t.running++
	} else {
		t.other[p.Name] = p
	}
	t.judge()
}

func (t *tally) drop(p *corev1.Pod) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(p.Name)
	t.err = nil
	t.judge()
}

func (t *tally) forget(name string) {
	if t.all[name] {
		t.running--
	}
	delete(t.all, name)
	delete(t.other, name)
}

func (t *tally) synced() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listed, t.err = true, nil
	t.judge()
}

func (t *tally) failed(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = err
}

func (t *tally) judge() {
	if t.running >= t.want && !t.closed {
		t.closed = true
		close(t.reached)
	}
}

// last says what was seen last: how many pods are how far, and what holds up one of
// the others.
func (t *tally) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.err != nil:
		return "the last look failed: " + t.err.Error()
	case !t.listed:
		return "the pods were never listed"
	}
	text := fmt.Sprintf("%d of %d Running", t.running, t.want)
	if missing := t.want - len(t.all); missing > 0 {
		text += fmt.Sprintf(", %d not there", missing)
	}
	var first *corev1.Pod
	for _, p := range t.other {
		if first == nil || p.Name < first.Name {
			first = p
		}
	}
	if first == nil {
		return text
	}
	return text + "; " + first.Name + " " + describe(first)
}

// describe says how far a pod is, and why no further if it says so itself.
func describe(p *corev1.Pod) string {
	text := string(cmp.Or(p.Status.Phase, corev1.PodPending))
	if p.DeletionTimestamp != nil {
		text = "being deleted, " + text
	}
	if p.Spec.NodeName != "" {
		text += " on " + p.Spec.NodeName
	}
	if p.Status.Message != "" {
		return text + ": " + p.Status.Message
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.ContainersReady} {
		for _, c := range p.Status.Conditions {
			if c.Type == kind && c.Status == corev1.ConditionFalse && c.Message != "" {
				return text + ": " + c.Message
			}
		}
	}
	return text
}
