// Package scene has what sentences are made of and work on: a row of their table, and the state of one run of one
// scenario. Programs and clouds bring their own rows; what all of them need is here, and what only some of them keep
// is theirs, see [State].
package scene

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/world"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/node"
)

// Scene is one run of one scenario.
type Scene struct {
	Rig   Rig
	World *world.World // nil before the first step
	// Cloud is the scenario's, nil where there is none.
	Cloud Cloud
	// Target is the autoscaler under test, nil before it runs; Programs are all that run, by name.
	Target   Program
	Programs map[string]Program
	// Kubelets are machines that real kubelets run on, nil where none can join.
	Kubelets *kubelet.Machines
	// Containers are what instances are, nil where they are simulated.
	Containers machines.Containers
	Boots      Boots
	Settings   Settings
	// Awaited is the event that a step waited for last.
	Awaited *history.Entry
	// Drawn scenarios are not known to have anything for what they do.
	Drawn bool
	// Breaks are the programs whose way to the API server can be broken once they run, and Rules those that the target's
	// has from the start.
	Breaks map[string]bool
	Rules  []fault.Fault

	states map[any]any
}

// State is what sentences of one subject keep in a scenario: zero when it is first asked for.
func State[T any](s *Scene) *T {
	key := any((*T)(nil))
	if s.states == nil {
		s.states = map[any]any{}
	}
	state, kept := s.states[key].(*T)
	if !kept {
		state = new(T)
		s.states[key] = state
	}
	return state
}

// TheTarget is what Breaks has for the autoscaler under test.
const TheTarget = "the target"

// Broken reports whether the target's way to the API server has to be one that can be broken.
func (s *Scene) Broken() bool { return s.Breaks[TheTarget] || len(s.Rules) > 0 }

// Run notes that a program runs.
func (s *Scene) Run(name string, p Program) {
	if s.Programs == nil {
		s.Programs = map[string]Program{}
	}
	s.Programs[name] = p
}

// Seq is the sequence number of the newest event.
func (s *Scene) Seq() uint64 {
	events := s.World.History().Since(0)
	if len(events) == 0 {
		return 0
	}
	return events[len(events)-1].Seq
}

// ErrOver is that an event did not come in time.
var ErrOver = errors.New("the time is over")

// Within waits for an event that arrives after the one numbered seq, for at most d of virtual time. It returns ErrOver
// when the time is over, and the world's error when a part of it dies.
func (s *Scene) Within(ctx context.Context, d time.Duration, seq uint64, match func(history.Entry) bool) (history.Entry, error) {
	ctx, cancel := s.World.Alive(ctx)
	defer cancel(nil)
	timer := s.World.Clock().NewTimer(d)
	defer timer.Stop()
	go func() {
		select {
		case <-timer.C():
			cancel(ErrOver)
		case <-ctx.Done():
		}
	}()
	return s.World.History().WaitAfter(ctx, seq, match)
}

// Sleep lets so much virtual time pass.
func (s *Scene) Sleep(ctx context.Context, d time.Duration) error {
	ctx, cancel := s.World.Alive(ctx)
	defer cancel(nil)
	select {
	case <-s.World.Clock().After(max(d, 0)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// NodeReady waits for the event of it, after the one numbered seq.
func (s *Scene) NodeReady(ctx context.Context, name string, d time.Duration, seq uint64) error {
	_, err := s.Within(ctx, d, seq, func(r history.Entry) bool {
		return r.Source == history.Node && r.Verb == "ready" && r.Object.Name == name
	})
	if err != nil {
		return fmt.Errorf("waiting for node %q to be Ready: %w", name, err)
	}
	return nil
}

// Nodes are the machines of Nodes, which need not be those of the fleet, and those that boot from now on.
func (s *Scene) Nodes() fault.Injector { return nodes{s} }

type nodes struct{ s *Scene }

// Inject implements fault.Injector.
func (n nodes) Inject(f fault.Fault) error {
	match, _ := f.Match.(node.Match)
	if match.Node == "" {
		return n.coming().Inject(f)
	}
	if m, are := n.s.Containers.(Machines); are && m.Has(match.Node) {
		return m.Inject(f)
	}
	return n.s.World.Fleet().Inject(f)
}

// Clear implements fault.Injector. It spares machines that are still to come.
func (n nodes) Clear(name string) error {
	spared, err := n.coming().Clear(name), n.s.World.Fleet().Clear(name)
	if m, are := n.s.Containers.(Machines); are && m.Clear(name) == nil || spared == nil {
		return nil
	}
	return err
}

// coming are the faults of machines that boot from now on.
func (n nodes) coming() *node.Coming {
	b := &n.s.Boots
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.coming == nil {
		world := n.s.World
		b.coming = node.NewComing(fault.Recorder{History: world.History(), Seed: n.s.Rig.World.Seed}, world.Clock())
	}
	return b.coming
}
