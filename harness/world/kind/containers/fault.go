package containers

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/cloud/machines"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/node"
)

// armed is a fault of a machine: the same that simulated ones have, really done.
type armed struct {
	fault.Life // under Machines.mu
	does       fault.Effect
	end        context.CancelFunc
}

// CanBreak says whether an effect can be had of a container.
func CanBreak(e fault.Effect) error {
	if _, can := e.(node.Real); can {
		return nil
	}
	return fmt.Errorf("%q is nothing that can be done to a container: it needs simulated machines", node.Faults.Called(e))
}

// check says what a container cannot be.
func check(of machines.Container) error {
	if of.Name == "" {
		return errors.New("want a name")
	}
	if len(of.Profile.Agents) > 0 {
		return errors.New("node agents are simulated machines': a container has the pods of DaemonSets only")
	}
	for _, f := range of.Profile.Faults {
		if err := CanBreak(f.Effect); err != nil {
			return fmt.Errorf("fault %q: %w", f.Name, err)
		}
	}
	return nil
}

// atBoot arms what has to be there before a machine has power.
func (m *Machines) atBoot(b *machine) (cutOff bool, late time.Duration) {
	boot := node.Boot{}
	for _, f := range b.of.Profile.Faults {
		if e, early := f.Effect.(node.AtBoot); early {
			e.Boot(&boot)
			m.arm(b, f)
		}
	}
	return boot.Never, boot.Late
}

// booted notes that they have made a difference, and arms the others, whose time counts from
// the registration.
func (m *Machines) booted(b *machine) {
	m.mu.Lock()
	early := b.faults
	m.mu.Unlock()
	for _, a := range early {
		m.effective(b, a)
	}
	after := m.seq()
	for _, f := range b.of.Profile.Faults {
		if !node.IsEarly(f.Effect) {
			a, ctx := m.arm(b, f)
			m.done.Go(func() { m.live(ctx, b, a, after, true) })
		}
	}
}

// Has reports whether a Node is that of a machine that has power.
func (m *Machines) Has(name string) bool { return m.ofNode(name) != nil }

func (m *Machines) ofNode(name string) *machine {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.machines {
		if b.of.Node == name && b.on {
			return b
		}
	}
	return nil
}

// Inject implements fault.Injector. It does a fault of simulated machines to the one that a Node is of: it is cut off,
// its container runtime is stopped, its network plugin's configuration taken away, its kubelet
// ended and started again, its Node deleted.
func (m *Machines) Inject(f fault.Fault) error {
	match, _ := f.Match.(node.Match)
	b := m.ofNode(match.Node)
	if b == nil {
		return fmt.Errorf("there is no machine of a Node %q", match.Node)
	}
	if err := node.Faults.Check(f); err != nil {
		return err
	}
	if err := CanBreak(f.Effect); err != nil {
		return fmt.Errorf("fault %q: %w", f.Name, err)
	}
	if node.IsEarly(f.Effect) {
		return fmt.Errorf("fault %q (%s): the machine has booted already", f.Name, node.Faults.Called(f.Effect))
	}
	after := m.seq()
	a, ctx := m.arm(b, f)
	if f.At > 0 || f.When != nil {
		m.done.Go(func() { m.live(ctx, b, a, after, false) })
		return nil
	}
	if err := m.begin(ctx, b, a); err != nil {
		return fmt.Errorf("fault %q: %w", f.Name, err)
	}
	if a.For > 0 {
		m.done.Go(func() { m.last(ctx, b, a) })
	}
	return nil
}

// Clear implements fault.Injector: on all machines that have the fault.
func (m *Machines) Clear(name string) error {
	type found struct {
		b *machine
		a *armed
	}
	var all []found
	m.mu.Lock()
	for _, b := range m.machines {
		for _, a := range b.faults {
			if a.Name() == name && a.Cleared().IsZero() {
				all = append(all, found{b, a})
			}
		}
	}
	m.mu.Unlock()
	if len(all) == 0 {
		return fmt.Errorf("there is no fault %q of a machine", name)
	}
	var errs []error
	for _, f := range all {
		f.a.end()
		errs = append(errs, m.endFault(f.b, f.a))
	}
	return errors.Join(errs...)
}

func (m *Machines) seq() uint64 { return uint64(len(m.world.History().Since(0))) } // Seq counts from 1

func (b *machine) eventDetails() fault.EventDetails {
	return fault.EventDetails{Actor: "container", Object: history.Object{Resource: "nodes", Name: b.of.Node}}
}

func (m *Machines) arm(b *machine, f fault.Fault) (*armed, context.Context) {
	a := &armed{does: f.Effect}
	ctx, end := context.WithCancel(b.ctx)
	a.end = end
	m.mu.Lock()
	defer m.mu.Unlock()
	a.Life = fault.Recorder{History: m.world.History()}.Arm(f.Name, node.Faults.Called(f.Effect), node.PlanOf(f), m.world.Clock().Now(),
		b.eventDetails())
	b.faults = append(b.faults, a)
	return a, ctx
}

// live begins a fault at its time, which counts from the registration of the Node or from
// the event that it waits for, and ends it.
func (m *Machines) live(ctx context.Context, b *machine, a *armed, after uint64, registration bool) {
	if a.When != nil || registration {
		_, err := m.world.History().WaitAfter(ctx, after, func(r history.Entry) bool {
			if r.Source != history.Node || r.Object.Name != b.of.Node {
				return false
			}
			if a.When != nil {
				return a.When.Matches(r)
			}
			return r.Verb == "register"
		})
		if err != nil {
			return // the machine or the world has ended
		}
	}
	if !wait(ctx, time.Duration(a.At)) {
		return
	}
	if err := m.begin(ctx, b, a); err != nil {
		m.broken(b, fmt.Errorf("fault %q: %w", a.Name(), err))
		return
	}
	if a.For > 0 {
		m.last(ctx, b, a)
	}
}

// last ends a fault when its time is over.
func (m *Machines) last(ctx context.Context, b *machine, a *armed) {
	if !wait(ctx, time.Duration(a.For)) {
		return
	}
	if err := m.endFault(b, a); err != nil {
		m.broken(b, fmt.Errorf("fault %q: %w", a.Name(), err))
	}
}

// hand does effects to a machine.
type hand struct {
	*Machines
	ctx    context.Context
	b      *machine
	a      *armed
	awaits bool // its being effective
}

// Run implements node.Container.
func (h *hand) Run(command ...string) error { return h.runOn(h.b, command...) }

// DeleteNode implements node.Container.
func (h *hand) DeleteNode() error {
	return h.world.Client().CoreV1().Nodes().Delete(h.ctx, h.b.of.Node, metav1.DeleteOptions{})
}

// AwaitNotReady implements node.Container.
func (h *hand) AwaitNotReady() {
	h.awaits = true
	h.awaitNotReady(h.ctx, h.b, h.a)
}

// begin breaks what the fault is about.
func (m *Machines) begin(ctx context.Context, b *machine, a *armed) error {
	h := &hand{Machines: m, ctx: ctx, b: b, a: a}
	if err := a.does.(node.Real).Break(h); err != nil {
		return err
	}
	if !h.awaits {
		m.effective(b, a)
	}
	return nil
}

// endFault ends a fault, once.
func (m *Machines) endFault(b *machine, a *armed) error {
	m.mu.Lock()
	first := a.Clear(m.world.Clock().Now(), b.eventDetails())
	on := b.on
	m.mu.Unlock()
	if !first || !on {
		return nil
	}
	return a.does.(node.Real).Undo(&hand{Machines: m, ctx: b.ctx, b: b, a: a})
}

// effective notes that a fault has made a difference, once.
func (m *Machines) effective(b *machine, a *armed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a.EffectiveSince().IsZero() && a.Cleared().IsZero() {
		a.Effective(m.world.Clock().Now(), b.eventDetails())
	}
}

// awaitNotReady notes that a fault is effective if the kubelet says that its Node is not
// ready before the fault is cleared.
func (m *Machines) awaitNotReady(ctx context.Context, b *machine, a *armed) {
	after := m.seq()
	m.done.Go(func() {
		_, err := m.world.History().WaitAfter(ctx, after, func(r history.Entry) bool {
			return r.Source == history.Node && r.Verb == "notready" && r.Object.Name == b.of.Node
		})
		if err == nil {
			m.effective(b, a)
		}
	})
}
