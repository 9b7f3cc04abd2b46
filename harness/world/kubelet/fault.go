package kubelet

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"nodestorm/sim/fault"
	"nodestorm/sim/history"
)

// faults are those of a world's machines.
type faults struct {
	mu  sync.Mutex
	all []*armed
}

type armed struct {
	fault.Life
	object history.Object
	does   effect // nil: of all machines
}

// Inject implements fault.Injector. A fault's At counts from it, and one that is active at once has been done when
// it returns.
func (m *Machines) Inject(f fault.Fault) error {
	if err := Faults.Check(f); err != nil {
		return err
	}
	match, _ := f.Match.(Match)
	if _, err := m.lookup(match.Machine); err != nil {
		return fmt.Errorf("fault %q: %w", f.Name, err)
	}
	object := history.Object{Resource: "nodes", Name: match.Machine}
	waiting := fault.AwaitIn(m.world.History())
	a, err := m.arm(f, Faults.Called(f.Effect), object)
	if err != nil {
		return err
	}
	if f.When == nil && f.At == 0 {
		if err := m.begin(a); err != nil {
			return err
		}
	}
	if f.When != nil || f.At > 0 || f.For > 0 {
		m.done.Go(func() { m.live(a, waiting) })
	}
	return nil
}

// Clear implements fault.Injector: what the fault has broken works again, on all machines that have it.
func (m *Machines) Clear(name string) error {
	m.faults.mu.Lock()
	var found []*armed
	for _, a := range m.faults.all {
		if a.Name() == name && a.does != nil && a.Cleared().IsZero() {
			found = append(found, a)
		}
	}
	m.faults.mu.Unlock()
	if len(found) == 0 {
		return fmt.Errorf("there is no fault %q of a machine", name)
	}
	var errs []error
	for _, a := range found {
		errs = append(errs, m.endFault(a))
	}
	return errors.Join(errs...)
}

// arm records a fault, of a machine or of all.
func (m *Machines) arm(f fault.Fault, called string, object history.Object) (*armed, error) {
	m.faults.mu.Lock()
	defer m.faults.mu.Unlock()
	if m.activeFault(f.Name, object) != nil {
		return nil, fmt.Errorf("fault %q of %s is there already", f.Name, object)
	}
	a := &armed{object: object}
	a.does, _ = f.Effect.(effect)
	a.Life = fault.Recorder{History: m.world.History()}.Arm(f.Name, called, f.Plan, m.world.Clock().Now(), a.eventDetails())
	m.faults.all = append(m.faults.all, a)
	return a, nil
}

// activeFault is the fault that is not cleared yet, nil for none. The caller holds the lock.
func (m *Machines) activeFault(name string, object history.Object) *armed {
	for _, a := range m.faults.all {
		if a.Name() == name && a.object == object && a.Cleared().IsZero() {
			return a
		}
	}
	return nil
}

// live begins and ends a fault that has a time.
func (m *Machines) live(a *armed, waiting fault.Awaiting) {
	begins := a.Begins()
	if a.When != nil {
		at, err := waiting.Event(m.ctx, a.Plan)
		if err != nil {
			return // the world or its history has ended
		}
		begins = at.Add(time.Duration(a.At))
	}
	err := error(nil)
	if a.When != nil || a.At > 0 {
		if !m.sleep(begins.Sub(m.world.Clock().Now())) {
			return
		}
		err = m.begin(a)
	}
	if err == nil && a.For > 0 && m.sleep(time.Duration(a.For)) {
		err = m.endFault(a)
	}
	if err != nil && m.machine(a.object.Name) != nil { // else it is off, which is worse
		m.broken("fault "+a.Name(), err)
	}
}

// sleep lets virtual time pass, and reports whether the world has lived so long.
func (m *Machines) sleep(d time.Duration) bool {
	t := m.world.Clock().NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C():
		return true
	case <-m.ctx.Done():
		return false
	}
}

// begin breaks what the fault is about, unless it is over.
func (m *Machines) begin(a *armed) error {
	m.faults.mu.Lock()
	over := !a.Cleared().IsZero()
	m.faults.mu.Unlock()
	if over {
		return nil
	}
	b, err := m.lookup(a.object.Name)
	if err != nil {
		return err
	}
	return a.does.begin(m, b, a)
}

// endFault ends a fault, once.
func (m *Machines) endFault(a *armed) error {
	if !m.cleared(a) {
		return nil
	}
	b, err := m.lookup(a.object.Name)
	if err != nil {
		return err
	}
	return a.does.repair(m, b)
}

// cleared notes that a fault is over, and reports whether it was not already.
func (m *Machines) cleared(a *armed) bool {
	m.faults.mu.Lock()
	defer m.faults.mu.Unlock()
	return a.Clear(m.world.Clock().Now(), a.eventDetails())
}

// effective notes that a fault has made a difference, once.
func (m *Machines) effective(a *armed) {
	m.faults.mu.Lock()
	defer m.faults.mu.Unlock()
	if a.EffectiveSince().IsZero() {
		a.Effective(m.world.Clock().Now(), a.eventDetails())
	}
}

// stopped notes that a machine's kubelet does not run because of a fault.
func (m *Machines) stopped(machine string) {
	m.faults.mu.Lock()
	var why []*armed
	for _, a := range m.faults.all {
		if a.does == (Stopped{}) && a.object.Name == machine && a.Cleared().IsZero() {
			why = append(why, a)
		}
	}
	m.faults.mu.Unlock()
	for _, a := range why {
		m.effective(a)
	}
}

func (a *armed) eventDetails() fault.EventDetails {
	return fault.EventDetails{Actor: "kubelet", Object: a.object}
}

// awaitNotReady notes that a fault is effective if a kubelet says that its Node is not
// ready before the fault is cleared.
func (m *Machines) awaitNotReady(a *armed) {
	since := uint64(len(m.world.History().Since(0))) // Seq counts from 1
	m.done.Go(func() {
		r, err := m.world.History().WaitAfter(m.ctx, since, func(r history.Entry) bool {
			over := r.Source == history.Fault && r.Verb == history.Cleared && r.Detail["fault"] == a.Name()
			return r.Object == a.object && (over || r.Source == history.Node && r.Verb == "notready")
		})
		if err == nil && r.Source == history.Node { // else it is over, or the world ends
			m.effective(a)
		}
	})
}

// broken records that the rig did not do what it has to: the run proves nothing then.
// What fails because the world ends is none.
func (m *Machines) broken(part string, err error) {
	select {
	case <-m.world.Done():
	default:
		m.world.History().Record(history.Death(part, err))
	}
}
