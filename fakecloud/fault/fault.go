// Package fault holds what can go wrong in a cloud, as values: what a fault
// matches, and its effect; its life is sim/fault's. The cloud and its wire APIs ask
// it at seven points and carry the effects out.
//
//	before the call            Refuse, RateLimit, Hang, Delay
//	after it, before the reply LoseReply, AlterReply
//	in the listing             Stale, Partial, Missing
//	in an action's life        ActionHangs, ActionTakes, ActionFails
//	in an instance's life      TurnsOff, Vanishes, Interrupted
//	in the supply              Unavailable, Retired
//	in a group's growth        NotCreated
//
// Of wire APIs it knows the names of calls, which come from outside, and statuses of HTTP; it makes no reply
// and knows no Kubernetes.
package fault

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// Fault is one thing that goes wrong.
//
// Its life is that of any fault (sim/fault). It is effective once somebody could have seen
// a difference.
type Fault struct {
	// Name is what records and errors call it. Required, unique in a cloud.
	Name string
	// Match says which calls, actions or instances it acts on. Zero means all that
	// the Effect can act on.
	Match Match
	// Plan is when and how often. Its At counts from Inject, and its occasions are calls,
	// actions or instances that Match fits. When needs a cloud with a history.
	Plan
	// Effect is what goes wrong. Required.
	Effect Effect
}

// Match says what a fault acts on. Each field is a pattern as of path.Match; empty
// fits everything.
type Match struct {
	// Operation is the wire API's own name of a call, for Hetzner "POST /servers" or
	// "DELETE /servers/{id}", for externalgrpc "NodeGroupIncreaseSize"; for the effects on actions it is the action's command, for example
	// "start_server". It is of no use to faults in an instance's life and in the supply.
	Operation string `json:"operation"`
	// Group is the node group of the instance that the call is about.
	Group string `json:"group"`
	// Instance is the name of that instance.
	Instance string `json:"instance"`
}

// Call is what a fault is matched with.
type Call struct {
	Operation, Group, Instance string
}

func (m Match) fits(c Call) bool {
	return fits(m.Operation, c.Operation) && fits(m.Group, c.Group) && fits(m.Instance, c.Instance)
}

func fits(pattern, text string) bool {
	if pattern == "" || pattern == text {
		return true
	}
	ok, err := path.Match(pattern, text)
	return ok && err == nil
}

// Point is where an effect acts.
type Point int

// The points, in the order in which a call passes them.
const (
	Before    Point = iota // before the call is carried out
	After                  // after it, before the reply
	Listing                // in what a listing shows
	Action                 // in an action's life
	Instance               // in an instance's life
	Supply                 // in what the cloud offers
	Growth                 // in what the cloud does to bring a group to its target size
	Shrinkage              // in the deletion of a group's instances by their names
)

// Effect is one of the types of this package that Effects lists.
type Effect interface {
	// String is the short name that records carry as detail "effect".
	String() string
	// Point is where it acts.
	Point() Point
	// check says what is wrong with f, whose Effect this is.
	check(f Fault) error
}

// Check says what is wrong with the fault. Operations lists the names that
// Match.Operation may fit; nil means that they are not known here.
func (f Fault) Check(operations []string) error {
	if f.Name == "" {
		return errors.New("a fault has no name: want names unique in a cloud")
	}
	if err := f.check(operations); err != nil {
		return fmt.Errorf("fault %q: %w", f.Name, err)
	}
	return nil
}

func (f Fault) check(operations []string) error {
	if f.Effect == nil {
		return fmt.Errorf("it has no effect (allowed: %s)", effectNames())
	}
	if err := f.Plan.Check(); err != nil {
		return err
	}
	for field, pattern := range map[string]string{"operation": f.Match.Operation, "group": f.Match.Group, "instance": f.Match.Instance} {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("field match.%s %q is no pattern: brackets must be closed", field, pattern)
		}
	}
	if err := f.Effect.check(f); err != nil {
		return err
	}
	if f.Match.Operation == "" || operations == nil {
		return nil
	}
	if point := f.Effect.Point(); point == Instance || point == Supply || point == Growth || point == Shrinkage {
		return fmt.Errorf("field match.operation %q: %s does not act on calls; leave it empty", f.Match.Operation, f.Effect)
	}
	var possible []string
	for _, name := range operations {
		// Commands of actions are words with dashes, calls a method and a path, or one word.
		call, point := strings.Contains(name, " ") || !strings.Contains(name, "_"), f.Effect.Point()
		if call == (point == Action) || (point == Listing && !listed(f.Effect, name)) {
			continue
		}
		if fits(f.Match.Operation, name) {
			return nil
		}
		possible = append(possible, name)
	}
	return fmt.Errorf("field match.operation %q fits nothing that %s acts on (such as %s)", f.Match.Operation, f.Effect, someOf(possible))
}
