package clusterapi

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"nodestorm/sim/fault"
	"nodestorm/sim/history"
)

// faults are those of a provider.
type faults struct {
	mu  sync.Mutex
	all fault.Set[*armedFault]
}

type armedFault struct {
	fault.Life
	deployment string
	does       fault.Effect
	struck     map[string]bool // machines that came to that point of their lives, by name: whether it acts on them
}

// Inject implements fault.Injector. A fault's At counts from it.
func (p *Provider) Inject(f fault.Fault) error {
	if err := Faults.Check(f); err != nil {
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
	match, _ := f.Match.(Match)
	a := &armedFault{deployment: match.Deployment, does: f.Effect, struck: map[string]bool{}}
	a.Life = fault.Recorder{History: p.cfg.History, Seed: p.cfg.Seed}.Arm(f.Name, Faults.Called(f.Effect), f.Plan, now, a.eventDetails(""))
	p.faults.all.Add(a)
	if a.Active(now) {
		p.begin(a)
	}
	if f.When != nil || f.At > 0 || f.For > 0 {
		p.running.Go(func() { p.live(a, waiting) })
	}
	return nil
}

// Clear implements fault.Injector: what the fault holds back goes on.
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
		at, err := waiting.Event(p.ctx, a.Plan)
		if err != nil {
			return // the provider or the history has ended
		}
		p.faults.mu.Lock()
		a.Start(at)
		p.faults.mu.Unlock()
	}
	if (a.When != nil || a.At > 0) && !p.schedule(a.Begins(), func() { p.begin(a) }) {
		return
	}
	if a.For > 0 {
		p.schedule(a.Ends(), func() { p.clear(a) })
	}
}

// schedule does something at a time, and reports whether the provider has lived so long.
func (p *Provider) schedule(when time.Time, do func()) bool {
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
		if spares(a.does) {
			a.struck[m.GetName()] = false
		}
		p.enqueue(owners, m)
	}
}

func (p *Provider) clear(a *armedFault) {
	if !a.Clear(p.cfg.Clock.Now(), a.eventDetails("")) {
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

// strikingEffect reports whether a machine, which has come to the point of its life at which the effects strike that have
// the method of At, is struck by a fault, and by which effect. Asking again gives the same answer as long as the
// fault is active.
func strikingEffect[At any](p *Provider, m *unstructured.Unstructured) (by At, struck bool) {
	e := p.findEffect(m, func(e fault.Effect) bool { _, at := e.(At); return at })
	by, struck = e.(At)
	return by, struck
}

// findEffect is the effect that strikes a machine of those that can, nil for none.
func (p *Provider) findEffect(m *unstructured.Unstructured, can func(fault.Effect) bool) fault.Effect {
	if m == nil {
		return nil
	}
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	now, name := p.cfg.Clock.Now(), m.GetName()
	for _, a := range p.faults.all.All() {
		if !can(a.does) || a.deployment != m.GetLabels()[deploymentLabel] || !a.Active(now) {
			continue
		}
		struck, known := a.struck[name]
		if !known {
			if struck = a.Fire(); struck {
				a.Effective(now, a.eventDetails(name))
			}
			a.struck[name] = struck
		}
		if struck {
			return a.does
		}
	}
	return nil
}

// eventDetails is what records say of the fault, and of a machine that it strikes.
func (a *armedFault) eventDetails(machine string) fault.EventDetails {
	about := fault.EventDetails{Actor: agent, Detail: map[string]any{"deployment": a.deployment}}
	if machine != "" {
		about.Object = history.Object{Resource: owners.resource, Namespace: Namespace, Name: machine}
	}
	return about
}
