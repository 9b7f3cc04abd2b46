package clusterapi

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"nodestorm/sim/fault"
	"nodestorm/sim/history"
)

// Fault is one thing that goes wrong with machines of a MachineDeployment: with those
// that are made while it is active, or, of effects that strike later in a machine's
// life, with those that are there too.
//
// Its life is that of any fault (sim/fault), and its occasions are machines that come to
// that point of their lives. What it holds back goes on when it is cleared; what has been
// done to a machine or said of it stays.
type Fault struct {
	// Name is what records and errors call it. Required, unique in a world.
	Name string
	// Deployment is the MachineDeployment whose machines it strikes. Required.
	Deployment string
	// Plan is when and how often. Its At counts from Inject.
	fault.Plan
	// Effect is what goes wrong. Required.
	Effect Effect
}

// Effect is what the infrastructure provider, or the bootstrap provider, does wrong.
type Effect string

// The effects, in the order of a machine's life.
const (
	// StuckInProvisioning: no instance is made, and nobody is told why.
	StuckInProvisioning Effect = "stuck in Provisioning"
	// FailsToProvision: no instance is made, and the provider reports a failure.
	FailsToProvision Effect = "fails to provision"
	// NeverJoins: the instance runs, and its user data breaks off before the join.
	NeverJoins Effect = "never joins"
	// LostBeforeJoining: the instance goes as soon as the machine has its provider
	// ID, as one does that the cloud takes back; the provider reports a failure.
	LostBeforeJoining Effect = "lost before it joins"
	// ReportedFailed: the provider reports a failure of a machine that has a node.
	// Instance and node are as well as before.
	ReportedFailed Effect = "reported failed while it runs"
	// DeletionHeld: the provider's finalizer stays, and so does the instance.
	DeletionHeld Effect = "deletion held"
)

// Effects lists them.
func Effects() []Effect { return slices.Clone(effects) }

var effects = []Effect{StuckInProvisioning, FailsToProvision, NeverJoins, LostBeforeJoining, ReportedFailed, DeletionHeld}

// spares reports whether the effect leaves machines alone that are there before it:
// they are past that point of their life.
func (e Effect) spares() bool { return e != ReportedFailed && e != DeletionHeld }

// Check says what is wrong with the fault.
func (f Fault) Check() error {
	switch {
	case f.Name == "" || f.Deployment == "":
		return fmt.Errorf("fault %q of machines of %q: want a name and a MachineDeployment", f.Name, f.Deployment)
	case !slices.Contains(effects, f.Effect):
		return fmt.Errorf("fault %q: unknown effect %q (allowed: %q)", f.Name, f.Effect, effects)
	}
	if err := f.Plan.Check(); err != nil {
		return fmt.Errorf("fault %q: %w", f.Name, err)
	}
	return nil
}

// faults are those of a provider.
type faults struct {
	mu  sync.Mutex
	all fault.Set[*armedFault]
}

type armedFault struct {
	fault.Life
	deployment string
	does       Effect
	struck     map[string]bool // machines that came to that point of their lives, by name: whether it acts on them
}

// Inject arms a fault.
func (p *Provider) Inject(f Fault) error {
	if err := f.Check(); err != nil {
		return err
	}
	log, ok := p.cfg.History.(*history.Log)
	if f.When != nil && !ok {
		return fmt.Errorf("fault %q: field when: the provider has no history to wait on", f.Name)
	}
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	if err := p.faults.all.Free(f.Name); err != nil {
		return err
	}
	var waiting fault.Awaiting
	if ok {
		waiting = fault.AwaitIn(log)
	}
	now := p.cfg.Clock.Now()
	a := &armedFault{deployment: f.Deployment, does: f.Effect, struck: map[string]bool{}}
	a.Life = fault.Recorder{History: p.cfg.History, Seed: p.cfg.Seed}.Arm(f.Name, string(f.Effect), f.Plan, now, a.about(""))
	p.faults.all.Add(a)
	if a.Active(now) {
		p.begin(a)
	}
	if f.When != nil || f.At > 0 || f.For > 0 {
		p.running.Go(func() { p.live(a, waiting) })
	}
	return nil
}

// Clear ends a fault: what it holds back goes on.
func (p *Provider) Clear(name string) error {
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	a, err := p.faults.all.Named(name)
	if err == nil {
		p.clear(a)
	}
	return err
}

// live begins and ends a fault that has a time.
func (p *Provider) live(a *armedFault, waiting fault.Awaiting) {
	if a.When != nil {
		at, err := waiting.Record(p.ctx, a.Plan)
		if err != nil {
			return // the provider or the history has ended
		}
		p.faults.mu.Lock()
		a.Start(at)
		p.faults.mu.Unlock()
	}
	if (a.When != nil || a.At > 0) && !p.at(a.Begins(), func() { p.begin(a) }) {
		return
	}
	if a.For > 0 {
		p.at(a.Ends(), func() { p.clear(a) })
	}
}

// at does something at a time, and reports whether the provider has lived so long.
func (p *Provider) at(when time.Time, do func()) bool {
	timer := p.cfg.Clock.NewTimer(when.Sub(p.cfg.Clock.Now()))
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-p.ctx.Done():
		return false
	}
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	do()
	return true
}

// begin spares the machines that are there, or has them looked at.
func (p *Provider) begin(a *armedFault) {
	for _, m := range p.machinesOf(a.deployment) {
		if a.does.spares() {
			a.struck[m.GetName()] = false
		}
		p.enqueue(owners, m)
	}
}

func (p *Provider) clear(a *armedFault) {
	if !a.Clear(p.cfg.Clock.Now(), a.about("")) {
		return
	}
	for _, m := range p.machinesOf(a.deployment) {
		p.enqueue(owners, m)
	}
}

func (p *Provider) machinesOf(deployment string) (there []*unstructured.Unstructured) {
	for _, o := range p.informer[owners].GetStore().List() {
		if m, ok := o.(*unstructured.Unstructured); ok && m.GetLabels()[deploymentLabel] == deployment {
			there = append(there, m)
		}
	}
	return there
}

// strikes reports whether a machine, which has come to the point of its life at which
// the effect strikes, is struck by a fault. Asking again gives the same answer as long as
// the fault is active.
func (p *Provider) strikes(effect Effect, m *unstructured.Unstructured) bool {
	if m == nil {
		return false
	}
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	now, name := p.cfg.Clock.Now(), m.GetName()
	for _, a := range p.faults.all.All() {
		if a.does != effect || a.deployment != m.GetLabels()[deploymentLabel] || !a.Active(now) {
			continue
		}
		struck, known := a.struck[name]
		if !known {
			if struck = a.Take(); struck {
				a.Effective(now, a.about(name))
			}
			a.struck[name] = struck
		}
		if struck {
			return true
		}
	}
	return false
}

// about is what records say of the fault, and of a machine that it strikes.
func (a *armedFault) about(machine string) fault.About {
	about := fault.About{Actor: agent, Detail: map[string]any{"deployment": a.deployment}}
	if machine != "" {
		about.Object = history.Object{Resource: owners.resource, Namespace: Namespace, Name: machine}
	}
	return about
}
