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

// errNotInTime is what a wait returns, wrapped with what it saw last, when its time
// is over. Any other error means that ctx ended.
var errNotInTime = errors.New("not in time")

// Selection chooses the pods of the named owner in a namespace, by the label that the
// builders give them.
type Selection struct{ Namespace, Name string }

func (s Selection) String() string { return s.Namespace + "/" + s.Name }

// WaitRunning waits until at least want pods are Running and not being deleted, for at
// most so long in virtual time.
func (d *Demand) WaitRunning(ctx context.Context, pods Selection, want int, within time.Duration) error {
	bound := d.clock.NewTimer(within)
	defer bound.Stop()
	t := newTally(want)
	feeding, stop := context.WithCancel(ctx)
	var fed sync.WaitGroup
	fed.Go(func() { d.feed(feeding, pods, t) })
	defer fed.Wait()
	defer stop()
	select {
	case <-t.reached:
		return nil
	case <-bound.C():
		return fmt.Errorf("pods of %v %w (%v): %s", pods, errNotInTime, within, t.last())
	case <-ctx.Done():
		return fmt.Errorf("waiting for pods of %v: %w: %s", pods, context.Cause(ctx), t.last())
	}
}

func (d *Demand) feed(ctx context.Context, pods Selection, t *tally) {
	client := d.client.CoreV1().Pods(pods.Namespace)
	selected := func(o metav1.ListOptions) metav1.ListOptions {
		o.LabelSelector = labels.SelectorFromSet(selector(pods.Name)).String()
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
