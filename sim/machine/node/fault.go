package node

import (
	"fmt"
	"time"

	"nodestorm/sim/history"
)

// Fault is one thing that goes wrong on one node.
//
// Its life is that of any fault (sim/fault), with one occasion. It is effective once the
// API server's view differs from what it would have been, and cleared once the node is
// as before. A fault that is over before it made a difference never becomes effective.
type Fault struct {
	// Name is what records, reports and errors call it. Required, unique on a node.
	Name string
	// Effect is what goes wrong. Required.
	Effect Effect
	// At counts from the Node's registration, or for Fleet.Inject from the call; with
	// When, from the event. Zero means at once. Effects on the registration itself act
	// before there is a Node: At and When must be zero.
	At time.Duration
	// When starts the fault on an event in place of the registration. Nil means none.
	When When
	// For is how long it lasts. Zero means for ever. Effects with a length of their
	// own (those on the registration, KubeletRestart) or none (NodeObjectDeleted) want zero.
	For time.Duration
}

// When says whether an event starts a fault. It is asked about the events that
// this package records on the same node (see Fleet), in their order, until it says
// yes once. It must be quick and must not call the Fleet.
type When func(history.Event) bool

// Effect is one of the types below.
type Effect interface {
	// String is the short name that records carry as detail "effect".
	String() string
	// check says what is wrong with f, whose Effect this is.
	check(f Fault, agents map[string]Agent) error
}

// NeverRegisters means that the machine boots and its kubelet is never heard of. An adopted
// Node stays without conditions. For must be zero.
type NeverRegisters struct{}

// RegistersLate means that the kubelet is first heard of By later than BootDelay says.
type RegistersLate struct{ By time.Duration }

// RegistersUntainted means that the Node comes without the taints that its kubelet was told to
// register with. An adopted Node, which somebody else has made, has what it has.
type RegistersUntainted struct{}

// RegistersAs means that the Node comes with this provider ID in place of its machine's. An
// adopted Node has what it has.
type RegistersAs struct{ ProviderID string }

// NotReady means that the kubelet lives and reports Ready=False with reason KubeletNotReady.
type NotReady struct{ Cause Cause }

// Flapping means Ready=False for the first half of every Period, True for the second.
type Flapping struct {
	Period time.Duration
	Cause  Cause
}

// HeartbeatsStop means that nothing passes between the kubelet and the API server, neither
// Lease nor status nor pods. Containers go on. kube-controller-manager then sets
// Ready=Unknown after its node-monitor-grace-period (50 s in 1.34).
type HeartbeatsStop struct{}

// KubeletRestart means that the kubelet is down for Down, containers go on. It comes back,
// registers again, and first reports Ready=False (its runtime checks have not
// succeeded yet), Settle later Ready=True. Settle zero means that Ready=True
// follows in the next write. A real 1.34 kubelet is often fast enough to skip the
// NotReady report; one with a slow runtime, and older ones, are not.
type KubeletRestart struct{ Down, Settle time.Duration }

// TaintNeverLifted means that the agent leaves its startup taint on the Node.
type TaintNeverLifted struct{ Agent string }

// NodeObjectDeleted means that someone deletes the Node object. The kubelet lives on and
// does not create it again, unless it is restarted.
type NodeObjectDeleted struct{}

func (NeverRegisters) String() string     { return "never registers" }
func (RegistersLate) String() string      { return "registers late" }
func (RegistersUntainted) String() string { return "registers untainted" }
func (RegistersAs) String() string        { return "registers as another" }
func (NotReady) String() string           { return "not ready" }
func (Flapping) String() string           { return "flapping" }
func (HeartbeatsStop) String() string     { return "heartbeats stop" }
func (KubeletRestart) String() string     { return "kubelet restart" }
func (TaintNeverLifted) String() string   { return "taint never lifted" }
func (NodeObjectDeleted) String() string  { return "node object deleted" }

// Effects returns one zero value of each effect.
func Effects() []Effect {
	return []Effect{
		NeverRegisters{}, RegistersLate{}, RegistersUntainted{}, RegistersAs{}, NotReady{}, Flapping{}, HeartbeatsStop{}, KubeletRestart{}, TaintNeverLifted{}, NodeObjectDeleted{},
	}
}

// Cause is why a living kubelet reports Ready=False. It decides what pods feel.
type Cause int

const (
	// RuntimeDown: the container runtime does not answer. No pod is started or
	// stopped meanwhile ("Skipping pod synchronization", kubelet.go:2451).
	RuntimeDown Cause = iota
	// NetworkDown: no network plugin. Only hostNetwork pods are started
	// (kubelet.go:1979); stopping goes on.
	NetworkDown
)

func beforeRegistration(f Fault) error {
	if f.At != 0 || f.When != nil || f.For != 0 {
		return fmt.Errorf("it acts before there is a Node: want At, When and For zero")
	}
	return nil
}

func lengthOfItsOwn(f Fault) error {
	if f.For != 0 {
		return fmt.Errorf("field For is %v: want zero", f.For)
	}
	return nil
}

func positive(field string, d time.Duration) error {
	if d <= 0 {
		return fmt.Errorf("field %s is %v: want more than zero", field, d)
	}
	return nil
}

func (NeverRegisters) check(f Fault, _ map[string]Agent) error { return beforeRegistration(f) }

func (e RegistersLate) check(f Fault, _ map[string]Agent) error {
	if err := positive("By", e.By); err != nil {
		return err
	}
	return beforeRegistration(f)
}

func (RegistersUntainted) check(f Fault, _ map[string]Agent) error { return beforeRegistration(f) }

func (e RegistersAs) check(f Fault, _ map[string]Agent) error {
	if e.ProviderID == "" {
		return fmt.Errorf("field ProviderID is empty: want the one that the Node is to have")
	}
	return beforeRegistration(f)
}

func (NotReady) check(Fault, map[string]Agent) error { return nil }

func (e Flapping) check(Fault, map[string]Agent) error { return positive("Period", e.Period) }

func (HeartbeatsStop) check(Fault, map[string]Agent) error { return nil }

func (e KubeletRestart) check(f Fault, _ map[string]Agent) error {
	if err := positive("Down", e.Down); err != nil {
		return err
	}
	if e.Settle < 0 {
		return fmt.Errorf("field Settle is %v: want zero or more", e.Settle)
	}
	return lengthOfItsOwn(f)
}

func (e TaintNeverLifted) check(_ Fault, agents map[string]Agent) error {
	if agents[e.Agent].LiftAfter == 0 {
		return fmt.Errorf("agent %q is not on the node or lifts no taint", e.Agent)
	}
	return nil
}

func (NodeObjectDeleted) check(f Fault, _ map[string]Agent) error { return lengthOfItsOwn(f) }

// CheckFault says what is wrong with a fault of a machine without agents.
func CheckFault(f Fault) error { return checkFaults([]Fault{f}, nil, false) }

// checkFaults says what is wrong with faults that are to be armed together.
// Once a Node is registered, those that act before it are refused.
func checkFaults(faults []Fault, agents map[string]Agent, registered bool) error {
	names := map[string]bool{}
	for _, f := range faults {
		if f.Name == "" || f.Effect == nil || f.At < 0 || f.For < 0 {
			return fmt.Errorf("fault %q: want a name, an effect, and At and For of zero or more", f.Name)
		}
		if names[f.Name] {
			return fmt.Errorf("fault %q is there twice: want names unique on a node", f.Name)
		}
		names[f.Name] = true
		if err := f.Effect.check(f, agents); err != nil {
			return fmt.Errorf("fault %q (%v): %w", f.Name, f.Effect, err)
		}
		switch f.Effect.(type) {
		case NeverRegisters, RegistersLate, RegistersUntainted, RegistersAs:
			if registered {
				return fmt.Errorf("fault %q (%v): the node is registered already", f.Name, f.Effect)
			}
		}
	}
	return nil
}
