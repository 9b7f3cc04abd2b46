package world

import (
	"context"
	"fmt"
	"time"
)

// Alive is a context that ends when a part of the world dies, too, with the world's
// error as its cause. The caller cancels it.
func (w *World) Alive(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(w.ctx, func() { cancel(w.Err()) })
	return ctx, func(cause error) { stop(); cancel(cause) }
}

// lookout looks every 100 ms of real time until it has seen what ends the world, or that has
// ended otherwise. It is for what happens outside of virtual time, to a disk or to a
// process that is not ours: no timer of ours may hold the clock for it.
func (w *World) lookout(look func() (over bool)) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-tick.C:
		}
		if look() {
			return
		}
	}
}

// Await asks every second of virtual time until the answer is nil, for at most d. The
// last answer is in the error if time runs out. What is in the history is waited for
// there, see history.Log.
func (w *World) Await(ctx context.Context, d time.Duration, ask func(context.Context) error) error {
	return w.await(ctx, time.Second, d, ask)
}

// await asks at intervals of every.
func (w *World) await(ctx context.Context, every, d time.Duration, ask func(context.Context) error) error {
	ctx, cancel := w.Alive(ctx)
	defer cancel(nil)
	for end := w.Clock().Now().Add(d); ; {
		answer := ask(ctx)
		if answer == nil {
			return nil
		}
		if w.Clock().Now().After(end) {
			return fmt.Errorf("not within %s: %w", d, answer)
		}
		select {
		case <-w.Clock().After(every):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
