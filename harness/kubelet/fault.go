package kubelet

import (
	"nodestorm/harness/verdict"
	"nodestorm/sim/history"
)

// fault is one of those that are done to machines from outside. It is recorded as
// armed, effective and cleared, for the verdict to know whether it made a difference.
type fault struct {
	name, effect string
	about        history.Object
}

func runtimeDown(node string) fault {
	return fault{"runtime-down", "the container runtime does not answer", history.Object{Resource: "nodes", Name: node}}
}

func kubeletStopped(node string) fault {
	return fault{"kubelet-stopped", "no kubelet runs", history.Object{Resource: "nodes", Name: node}}
}

func (m *Machines) recordFault(verb string, f fault) {
	m.world.History().Record(history.Event{
		Source: history.Fault, Verb: verb, Actor: "kubelet", Object: f.about,
		Detail: map[string]any{"fault": f.name, "effect": f.effect},
	})
}

// awaitNotReady records the fault, armed just now, as effective if a kubelet says that
// its Node is not ready before the fault is cleared.
func (m *Machines) awaitNotReady(f fault) {
	since := uint64(len(m.world.History().Records())) // Seq counts from 1
	m.recordFault("armed", f)
	m.done.Go(func() {
		r, err := m.world.History().WaitAfter(m.ctx, since, func(r history.Record) bool {
			return r.Object == f.about &&
				(r.Source == history.Node && r.Verb == "notready" || r.Source == history.Fault && r.Verb == "cleared" && r.Detail["fault"] == f.name)
		})
		if err == nil && r.Source == history.Node { // else it is over, or the world ends
			m.recordFault("effective", f)
		}
	})
}

// broken records that the rig did not do what it has to: the run proves nothing then.
// What fails because the world ends is none.
func (m *Machines) broken(part string, err error) {
	select {
	case <-m.world.Done():
	default:
		m.world.History().Record(verdict.DiedEvent(part, err))
	}
}
