package clusterapi

import (
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"nodestorm/sim/history"
)

// Fault is one thing that goes wrong with machines of a MachineDeployment: with all
// of those that are made after it, or, of effects that strike later in a machine's
// life, with those that are there too.
//
//	armed ──(a machine comes to that point of its life)──▶ effective
//
// Both are recorded. A fault lasts as long as the world.
type Fault struct {
	// Name is what records and errors call it. Required, unique in a world.
	Name string
	// Deployment is the MachineDeployment whose machines it strikes. Required.
	Deployment string
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

var effects = []Effect{StuckInProvisioning, FailsToProvision, NeverJoins, LostBeforeJoining, ReportedFailed, DeletionHeld}

// spares reports whether the effect leaves machines alone that are there before it:
// they are past that point of their life.
func (e Effect) spares() bool { return e != ReportedFailed && e != DeletionHeld }

func (f Fault) check() error {
	switch {
	case f.Name == "" || f.Deployment == "":
		return fmt.Errorf("fault %q of machines of %q: want a name and a MachineDeployment", f.Name, f.Deployment)
	case !slices.Contains(effects, f.Effect):
		return fmt.Errorf("fault %q: unknown effect %q (allowed: %q)", f.Name, f.Effect, effects)
	}
	return nil
}

// faults are those of a provider.
type faults struct {
	mu    sync.Mutex
	armed []*armedFault
}

type armedFault struct {
	Fault
	spared map[string]bool // machines that were there before, by name
	struck map[string]bool
}

// Inject arms a fault.
func (p *Provider) Inject(f Fault) error {
	if err := f.check(); err != nil {
		return err
	}
	a := &armedFault{Fault: f, spared: map[string]bool{}, struck: map[string]bool{}}
	var there []*unstructured.Unstructured
	for _, o := range p.informer[owners].GetStore().List() {
		if m, ok := o.(*unstructured.Unstructured); ok && m.GetLabels()[deploymentLabel] == f.Deployment {
			there = append(there, m)
		}
	}
	if f.Effect.spares() {
		for _, m := range there {
			a.spared[m.GetName()] = true
		}
	}
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	for _, other := range p.faults.armed {
		if other.Name == f.Name {
			return fmt.Errorf("fault %q is there already", f.Name)
		}
	}
	p.faults.armed = append(p.faults.armed, a)
	p.record(a, "armed", "")
	for _, m := range there {
		p.enqueue(owners, m)
	}
	return nil
}

// strikes reports whether a machine, which has come to the point of its life at which
// the effect strikes, is struck by a fault. Asking again gives the same answer.
func (p *Provider) strikes(effect Effect, m *unstructured.Unstructured) bool {
	if m == nil {
		return false
	}
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	for _, a := range p.faults.armed {
		name := m.GetName()
		switch {
		case a.Effect != effect || a.Deployment != m.GetLabels()[deploymentLabel] || a.spared[name]:
		case a.struck[name]:
			return true
		default:
			a.struck[name] = true
			p.record(a, "effective", name)
			return true
		}
	}
	return false
}

func (p *Provider) record(a *armedFault, verb, machine string) {
	e := history.Event{
		Source: history.Fault, Verb: verb, Actor: agent,
		Detail: map[string]any{"fault": a.Name, "effect": string(a.Effect), "deployment": a.Deployment},
	}
	if machine != "" {
		e.Object = history.Object{Resource: owners.resource, Namespace: Namespace, Name: machine}
	}
	p.cfg.History.Record(e)
}
