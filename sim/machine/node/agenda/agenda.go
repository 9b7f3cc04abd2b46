// Package agenda has lists of what to look at next, ordered by time. It does not know what is looked at.
package agenda

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// Never is the answer of a handler that does not want to be called again.
const Never = time.Duration(-1)

// Agenda is a time-ordered list of what to look at next. One key is in work only
// once at a time; a key that is added during that time is looked at again afterwards, so
// handlers need no order between themselves and what triggers them.
type Agenda[K comparable] struct {
	queue workqueue.TypedDelayingInterface[K]
}

// New is an empty one.
func New[K comparable](c clock.WithTicker) *Agenda[K] {
	// Without a name the queue keeps no metrics, and so no ticker of its own for them.
	return &Agenda[K]{queue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[K]{Clock: c})}
}

// Add asks for key to be looked at now. On a nil agenda it does nothing.
func (a *Agenda[K]) Add(key K) {
	if a != nil {
		a.queue.Add(key)
	}
}

// Work runs a number of workers until ctx ends. handle returns when it wants to see
// the key again, or Never. Between two times named for one key the earlier counts,
// so a handler may be called too early and has to compare with the clock.
func (a *Agenda[K]) Work(ctx context.Context, workers int, handle func(context.Context, K) time.Duration) {
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for {
				key, closed := a.queue.Get()
				if closed {
					return
				}
				again := handle(ctx, key)
				a.queue.Done(key)
				if again >= 0 {
					a.queue.AddAfter(key, again)
				}
			}
		})
	}
	<-ctx.Done()
	a.queue.ShutDown()
	running.Wait()
}
