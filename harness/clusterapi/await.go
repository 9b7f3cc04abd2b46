package clusterapi

import (
	"context"
	"errors"
	"fmt"
	"time"
)

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
