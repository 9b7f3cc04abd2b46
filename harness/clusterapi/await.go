package clusterapi

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// alive is a context that ends when a part of the world dies, with the world's error
// as its cause. The caller cancels it.
func (a *ClusterAPI) alive(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-a.cfg.World.Done():
			cancel(a.cfg.World.Err())
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// look is how often await looks, in virtual time.
const look = time.Second

// await waits until what holds, for at most d of virtual time. An error of what is
// the last word if time runs out.
func (a *ClusterAPI) await(ctx context.Context, d time.Duration, what func(context.Context) (bool, error)) error {
	timer := a.cfg.World.Clock().NewTimer(d)
	defer timer.Stop()
	for {
		ok, last := what(ctx)
		if ok && last == nil {
			return nil
		}
		select {
		case <-a.cfg.World.Clock().After(look):
		case <-timer.C():
			return errors.Join(fmt.Errorf("not within %s", d), last)
		case <-a.cfg.World.Done():
			return a.cfg.World.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
