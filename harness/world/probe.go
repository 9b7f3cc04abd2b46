package world

import (
	"context"
	"errors"
	"time"

	"nodestorm/sim/history"
)

// Probe restarts the processes of a program as a kubelet does with a liveness probe, until the world ends: each
// is asked at such intervals what it was asked when it started, and once it has failed so
// often in a row it is ended by SIGTERM and started again. While it does not run, because
// another call has ended it, it is not asked.
func (w *World) Probe(program string, every time.Duration, failures int) {
	w.background.Go(func() {
		ctx, cancel := w.Alive(context.Background())
		defer cancel(nil)
		for failed := map[string]int{}; ; {
			select {
			case <-w.Clock().After(every):
			case <-ctx.Done():
				return
			}
			for _, name := range w.Replicas(program) {
				unhealthy := w.probe(ctx, name)
				if ctx.Err() != nil {
					return
				}
				if unhealthy == nil {
					failed[name] = 0
					continue
				}
				if failed[name]++; failed[name] < failures {
					continue
				}
				failed[name] = 0
				if w.StopProgram(ctx, name, false) != nil {
					continue // another call was faster
				}
				if err := w.StartAgain(ctx, name); err != nil {
					w.Died(program, err)
					return
				}
			}
		}
	})
}

// probe asks once, and records what is wrong.
func (w *World) probe(ctx context.Context, name string) error {
	c, ok := w.component(name)
	if !ok {
		return nil
	}
	select {
	case <-c.process.Exited():
		return nil
	default:
	}
	err := c.Ready(ctx)
	if err == nil || errors.Is(err, context.Canceled) {
		return nil
	}
	w.history.Record(history.Event{
		Source: history.Harness, Verb: history.Unhealthy, Actor: c.program(),
		Object: history.Object{Resource: history.Programs, Name: name},
		Detail: map[string]any{"error": err.Error()},
	})
	return err
}
