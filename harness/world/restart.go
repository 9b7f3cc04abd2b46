package world

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"time"

	"nodestorm/sim/history"
)

// termination is how long, in virtual time, a program has after SIGTERM until it is
// killed: the terminationGracePeriodSeconds that pods have by default.
const termination = 30 * time.Second

// End ends a program of the world as somebody does: by SIGKILL at once, or by SIGTERM as
// a kubelet does. The history says so, and it is no death. It returns when the program
// is gone.
func (w *World) End(ctx context.Context, name string, kill bool) error {
	verb := history.Stopped
	if kill {
		verb = history.Killed
	}
	tell := func() { w.tellOf(verb, name) } // before: what comes of it is after it
	if c := w.apiServerOf(name); c != nil {
		return c.endAPIServer(ctx, kill, tell)
	}
	p, ok := w.Component(name)
	if !ok {
		return w.unknown(name)
	}
	select {
	case <-p.Exited():
		return fmt.Errorf("%s does not run: it was ended before", name)
	default:
	}
	tell()
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
// it is ready. Virtual time passes as real time does meanwhile.
func (w *World) StartAgain(ctx context.Context, name string) error {
	tell := func() { w.tellOf(history.Started, name) } // before: what it does is after it
	if c := w.apiServerOf(name); c != nil {
		return c.startAPIServerAgain(ctx, tell)
	}
	p, ok := w.Component(name)
	if !ok {
		return w.unknown(name)
	}
	select {
	case <-p.Exited():
	default:
		return fmt.Errorf("%s runs already", name)
	}
	w.mu.Lock()
	spec := w.specs[name]
	w.mu.Unlock()
	tell()
	if _, err := w.StartComponent(ctx, spec); err != nil {
		return fmt.Errorf("starting %s again: %w", name, err)
	}
	return nil
}

func (w *World) tellOf(verb, program string) {
	w.history.Record(history.Event{Source: history.Harness, Verb: verb, Actor: program, Object: history.Object{Resource: history.Programs, Name: program}})
}

// apiServerOf is the control plane whose kube-apiserver has that name, nil if none has.
func (w *World) apiServerOf(name string) *local {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.locals, func(c *local) bool { return c.apiServer() == name })
	if i < 0 {
		return nil
	}
	return w.locals[i]
}

func (w *World) unknown(name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := slices.Collect(maps.Keys(w.components))
	for _, c := range w.locals {
		names = append(names, c.apiServer())
	}
	slices.Sort(names)
	return fmt.Errorf("no program %q runs in the world: there are %s", name, strings.Join(names, ", "))
}

func (c *local) endAPIServer(ctx context.Context, kill bool, tell func()) error {
	c.restart.Lock()
	defer c.restart.Unlock()
	w, name := c.World, c.apiServer()
	pid, ok := w.pid(name)
	if !ok || c.down || gone(pid) {
		return fmt.Errorf("%s does not run", name)
	}
	tell()
	c.down = true
	signal, within := syscall.SIGTERM, termination
	if kill {
		signal = syscall.SIGKILL
	}
	if err := syscall.Kill(pid, signal); err != nil {
		return fmt.Errorf("sending %s to %s: %w", signal, name, err)
	}
	over := w.Clock().NewTimer(within)
	defer over.Stop()
	look := time.NewTicker(10 * time.Millisecond) // real: envtest's process, not ours
	defer look.Stop()
	ctx, cancel := w.Alive(ctx)
	defer cancel(nil)
	for !gone(pid) {
		select {
		case <-look.C:
		case <-over.C():
			c.killAPIServer()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	w.guard.Forget(name)
	return nil
}

func (c *local) startAPIServerAgain(ctx context.Context, tell func()) error {
	c.restart.Lock()
	defer c.restart.Unlock()
	w, name := c.World, c.apiServer()
	if !c.down {
		return fmt.Errorf("%s runs already", name)
	}
	tell()
	w.driver.Hold()
	defer w.driver.Release()
	ctx, cancel := w.Alive(ctx)
	defer cancel(nil)
	if err := c.runAPIServer(ctx); err != nil {
		return fmt.Errorf("starting %s again: %w", name, err)
	}
	c.down = false
	return nil
}
