package node

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// never is the answer of a handler that does not want to be called again.
const never = time.Duration(-1)

// agenda is a time-ordered list of what to look at next. One key is in work only
// once at a time; a key that is added during that time is looked at again afterwards, so
// handlers need no order between themselves and what triggers them.
type agenda[K comparable] struct {
	queue workqueue.TypedDelayingInterface[K]
}

func newAgenda[K comparable](c clock.WithTicker) *agenda[K] {
	// Without a name the queue keeps no metrics, and so no ticker of its own for them.
	return &agenda[K]{queue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[K]{Clock: c})}
}

// add asks for key to be looked at now. On a nil agenda it does nothing.
func (a *agenda[K]) add(key K) {
	if a != nil {
		a.queue.Add(key)
	}
}

// work runs a number of workers until ctx ends. handle returns when it wants to see
// the key again, or never. Between two times named for one key the earlier counts,
// so a handler may be called too early and has to compare with the clock.
func (a *agenda[K]) work(ctx context.Context, workers int, handle func(context.Context, K) time.Duration) {
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
