package workload

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"nodestorm/sim/internal/feed"
)

// ErrNotInTime is what a wait returns, wrapped with what it saw last, when its time
// is over. Any other error means that ctx ended.
var ErrNotInTime = errors.New("not in time")

// Selection chooses pods: those of the named owner in a namespace, by the label that
// the builders give them. An empty Name chooses all pods of the namespace.
type Selection struct{ Namespace, Name string }

func (s Selection) String() string {
	if s.Name == "" {
		return "of namespace " + s.Namespace
	}
	return "of " + s.Namespace + "/" + s.Name
}

// WaitScheduled waits until at least want pods have a Node. The bound is virtual time.
func (d *Demand) WaitScheduled(ctx context.Context, pods Selection, want int, within time.Duration) error {
	return d.wait(ctx, pods, "scheduled", want, within, func(p *corev1.Pod) bool { return p.Spec.NodeName != "" })
}

// WaitRunning waits until at least want pods are Running and not being deleted.
func (d *Demand) WaitRunning(ctx context.Context, pods Selection, want int, within time.Duration) error {
	return d.wait(ctx, pods, "Running", want, within, func(p *corev1.Pod) bool {
		return p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil
	})
}

// WaitSucceeded waits until at least want pods have ended with success.
func (d *Demand) WaitSucceeded(ctx context.Context, pods Selection, want int, within time.Duration) error {
	return d.wait(ctx, pods, "Succeeded", want, within, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
}

// WaitGone waits until no pod is left.
func (d *Demand) WaitGone(ctx context.Context, pods Selection, within time.Duration) error {
	return d.wait(ctx, pods, "gone", 0, within, nil)
}

// wait follows the selected pods until want of them are good. With good nil it waits
// until there are none.
func (d *Demand) wait(ctx context.Context, pods Selection, state string, want int, within time.Duration, good func(*corev1.Pod) bool) error {
	bound := d.clock.NewTimer(within)
	defer bound.Stop()
	t := newTally(good, want)
	feeding, stop := context.WithCancel(ctx)
	var fed sync.WaitGroup
	fed.Go(func() { d.feed(feeding, pods, t) })
	defer fed.Wait()
	defer stop()
	select {
	case <-t.reached:
		return nil
	case <-bound.C():
		return fmt.Errorf("pods %v %w (%v): %s", pods, ErrNotInTime, within, t.last(state))
	case <-ctx.Done():
		return fmt.Errorf("waiting for pods %v: %w: %s", pods, context.Cause(ctx), t.last(state))
	}
}

func (d *Demand) feed(ctx context.Context, pods Selection, t *tally) {
	client := d.client.CoreV1().Pods(pods.Namespace)
	selected := func(o metav1.ListOptions) metav1.ListOptions {
		if pods.Name != "" {
			o.LabelSelector = labels.SelectorFromSet(selector(pods.Name)).String()
		}
		return o
	}
	feed.Feed[*corev1.Pod]{
		List: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, selected(o))
		},
		Watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return client.Watch(ctx, selected(o))
		},
		Put:    t.put,
		Drop:   t.drop,
		Synced: t.synced,
		Failed: t.failed,
	}.Run(ctx, d.clock)
}
