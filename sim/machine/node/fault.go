package node

import (
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"nodestorm/sim/fault"
	"nodestorm/sim/strict"
)

// Faults are what can go wrong on a node. Their one occasion is the node. A fault is effective once the API server's
// view differs from what it would have been, and cleared once the node is as before. One that is over before it made a
// difference never becomes effective.
//
// At counts from the Node's registration, or for Fleet.Inject from the call; with When, from the event, which is one
// of those that this package makes on the same node (see Fleet). Effects on the registration itself act before there is
// a Node: At, When and For are zero.
var Faults = &fault.List{
	Name: "nodes", About: "simulated nodes", Match: Match{}, Note: ": one that is there; without, machines that boot from now on",
	Order: "neverRegisters registersLate registersUntainted registersAs notReady networkDown flaps heartbeatsStop " +
		"kubeletRestarts deviceMissing taintStays nodeDeleted",
}

// What sentences are about: machines that boot from now on, and one that is there.
var (
	coming  = Faults.Subject("EVERY-NODE", "")
	present = Faults.Subject(`the simulated node "NAME"`, "node")
	anyNode = slices.Concat(coming, present)
)

// Match is which node a fault strikes.
type Match struct {
	// Node is the name of one that is there. Empty means machines that boot from now on, among which Skip,
	// Limit and Probability choose.
	Node string `json:"node"`
}

// Check implements fault.Match.
func (Match) Check() error { return nil }

// One implements fault.Match.
func (m Match) One() string {
	if m.Node == "" {
		return ""
	}
	return "one node"
}

// effect is one of a kind of Faults. What else it does, it says by having one of the methods below.
type effect interface {
	// visible reports whether the API server has by now something else, or lacks something, because of the fault.
	visible(k *kubelet, a *armed, now time.Time) bool
	// recovered reports whether the node is as it would be without the fault.
	recovered(k *kubelet, a *armed, now time.Time) bool
}

type (
	// AtBoot is an effect on how the kubelet comes up.
	AtBoot interface{ Boot(*Boot) }
	// asNode is one on the Node that the kubelet makes.
	asNode interface{ object(*corev1.Node) }
	// cuts is one that has nothing pass between the machine and the API server.
	cuts interface{ cut() }
	// downs is one that ends the kubelet's process. It lasts as long as it says, and cannot be cleared.
	downs interface {
		down() time.Duration
		// returned notes the kubelet's first report after it.
		returned(a *armed, now time.Time)
	}
	// unready is one that has the kubelet say that its network is not ready, if the error is errNetworkDown, or else its runtime.
	unready interface {
		broken(a *armed, now time.Time) error
	}
	// paced is one that changes by itself: next remembers when, and notes that it has begun.
	paced interface {
		next(k *kubelet, a *armed, due *earliest, started bool)
	}
	// ofAgents is one on an agent's taint.
	ofAgents interface {
		keeps(agent string) bool
		checkAgents(agents map[string]Agent) error
	}
	// calling is one that makes calls.
	calling interface {
		call(k *kubelet, a *armed, now time.Time) call
	}
	// remembering is one that has a state, a pointer.
	remembering interface{ state() any }
	// Real is an effect that a machine can have which is a container.
	Real interface {
		Break(Container) error
		Undo(Container) error
	}
)

// Boot is how a kubelet comes up: never, or so much later.
type Boot struct {
	Never bool
	Late  time.Duration
}

// Container is a machine that is a container.
type Container interface {
	// Run runs a command on it.
	Run(command ...string) error
	// DeleteNode deletes its Node.
	DeleteNode() error
	// AwaitNotReady has the fault be effective when the kubelet says that its Node is not ready, and not at once.
	AwaitNotReady()
}

// endless says what is wrong with a fault whose effect has a length of its own, or none.
func endless(f fault.Fault) error {
	if f.For != 0 {
		return fmt.Errorf("field for is %v: want zero", f.For)
	}
	return nil
}

// onRegistration is an effect on the registration, with what most of them have.
type onRegistration struct{}

// Check implements fault.Checker.
func (onRegistration) Check(f fault.Fault) error {
	if f.At != 0 || f.When != nil || f.For != 0 {
		return errors.New("it acts before there is a Node: want at, when and for zero")
	}
	return nil
}

func (onRegistration) recovered(*kubelet, *armed, time.Time) bool { return false }

// IsEarly reports whether an effect is one on the registration, which has no place on a Node that is there.
func IsEarly(e fault.Effect) bool {
	_, is := e.(interface{ isEarly() })
	return is
}

func (onRegistration) isEarly() {}

// PlanOf is a fault's on one machine.
func PlanOf(f fault.Fault) fault.Plan {
	plan := fault.Plan{When: f.When, At: f.At, For: f.For}
	if e, ok := f.Effect.(downs); ok {
		plan.For = strict.Duration(e.down())
	}
	return plan
}

// checkFaults says what is wrong with faults that are to be armed together.
// Once a Node is registered, those that act before it are refused.
func checkFaults(faults []fault.Fault, agents map[string]Agent, registered bool) error {
	names := map[string]bool{}
	for _, f := range faults {
		if err := Faults.Check(f); err != nil {
			return err
		}
		if names[f.Name] {
			return fmt.Errorf("fault %q is there twice: want names unique on a node", f.Name)
		}
		names[f.Name] = true
		if e, ok := f.Effect.(ofAgents); ok {
			if err := e.checkAgents(agents); err != nil {
				return fmt.Errorf("fault %q (%s): %w", f.Name, Faults.Called(f.Effect), err)
			}
		}
		if registered && IsEarly(f.Effect) {
			return fmt.Errorf("fault %q (%s): the node is registered already", f.Name, Faults.Called(f.Effect))
		}
	}
	return nil
}
