package world

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nodestorm/harness/world/process"
	"nodestorm/sim/history"
)

// termination is how long, in virtual time, a program has after SIGTERM until it is
// killed: the terminationGracePeriodSeconds that pods have by default.
const termination = 30 * time.Second

// StopProgram ends a program of the world as a user does: by SIGKILL at once, or by SIGTERM as
// a kubelet does. The history says so, and it is no death. It returns when the program
// is gone.
func (w *World) StopProgram(ctx context.Context, name string, kill bool) error {
	verb := history.Stopped
	if kill {
		verb = history.Killed
	}
	c, ok := w.component(name)
	if !ok {
		return w.unknown(name)
	}
	p := c.process
	select {
	case <-p.Exited():
		return fmt.Errorf("%s does not run: it was ended before", name)
	default:
	}
	w.recordEvent(verb, c.program(), name) // before: what comes of it is after it
	if kill {
		return p.Kill()
	}
	if err := p.Terminate(); err != nil {
		return err
	}
	timer := w.Clock().NewTimer(termination)
	defer timer.Stop()
	ctx, cancel := w.Alive(ctx)
	defer cancel(nil)
	select {
	case <-p.Exited():
		return nil
	case <-timer.C():
		return p.Kill()
	case <-ctx.Done():
		return errors.Join(context.Cause(ctx), p.Kill())
	}
}

// StartAgain starts a program that was ended as it was started before, and waits until
// it is ready, see StartComponent for how time passes.
func (w *World) StartAgain(ctx context.Context, name string) error {
	c, ok := w.component(name)
	if !ok {
		return w.unknown(name)
	}
	select {
	case <-c.process.Exited():
	default:
		return fmt.Errorf("%s runs already", name)
	}
	w.recordEvent(history.Started, c.program(), name) // before: what it does is after it
	if _, err := w.startComponent(ctx, c); err != nil {
		return fmt.Errorf("starting %s again: %w", name, err)
	}
	return nil
}

// End ends a program as a kubelet does, unless that was done before.
func (w *World) End(ctx context.Context, name string) error {
	p, ok := w.Component(name)
	if !ok {
		return w.unknown(name)
	}
	select {
	case <-p.Exited():
		return nil
	default:
		return w.StopProgram(ctx, name, false)
	}
}

// Replace ends a program as End does, and starts another release of it in its place as StartComponent does.
func (w *World) Replace(ctx context.Context, spec process.Spec) error {
	if err := w.End(ctx, spec.Name); err != nil {
		return err
	}
	w.recordEvent(history.Started, spec.Name, spec.Name) // before: what it does is after it
	if _, err := w.StartComponent(ctx, spec); err != nil {
		return fmt.Errorf("starting another release of %s: %w", spec.Name, err)
	}
	return nil
}

// recordEvent is about a process that a program consists of.
func (w *World) recordEvent(verb, program, replica string) {
	w.history.Record(history.Event{Source: history.Harness, Verb: verb, Actor: program, Object: history.Object{Resource: history.Programs,
		Name: replica}})
}

func (w *World) unknown(name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := slices.Collect(maps.Keys(w.components))
	slices.Sort(names)
	return fmt.Errorf("no program %q runs in the world: there are %s", name, strings.Join(names, ", "))
}
