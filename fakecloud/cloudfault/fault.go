// Package cloudfault holds what can go wrong in a cloud, as effects of faults (sim/fault). The cloud and its wire APIs
// ask it at nine points, and have the effects carried out there.
//
//	before the call            Refuse, RateLimit, Hang, Delay
//	after it, before the reply RefuseReply, LoseReply, AlterReply
//	in the listing             Stale, Partial, Missing
//	in an action's life        ActionHangs, ActionTakes, ActionFails
//	in an instance's life      TurnsOff, Vanishes, Interrupted, Impaired, Maintained
//	in the supply              Unavailable, Retired
//	in a launch                NotLaunched
//	in a group's growth        NotCreated
//	in its shrinkage           HalfDeleted
//
// Of wire APIs it knows the names of calls, which come from outside, and statuses of HTTP; it makes no reply
// and knows no Kubernetes.
package cloudfault

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"nodestorm/sim/fault"
)

// Faults are what can go wrong in a cloud. A fault's At counts from when it is armed, and its occasions are calls,
// actions or instances that its Match fits. When needs a cloud with a history.
var Faults = &fault.List{
	Name: "faults", About: "the cloud", Match: Match{}, Within: "match",
	Order: "refuse rateLimit hang delay refuseReply alterReply loseReply stale partial missing actionHangs actionTakes actionFails " +
		"turnsOff vanishes interrupted impaired maintained notLaunched notCreated halfDeleted unavailable retired",
}

// What sentences are about.
var (
	calls    = Faults.Subject(`EVERY-CALL "CLOUD-CALL" to the cloud FOR-GROUP`, "", "match.operation", "match.group")
	lists    = Faults.Subject(`EVERY-CALL "CLOUD-LIST" to the cloud FOR-GROUP`, "", "match.operation", "match.group")
	work     = Faults.Subject(`EVERY-ACTION "ACTION" in the cloud FOR-GROUP`, "", "match.operation", "match.group")
	lives    = Faults.Subject(`EVERY-INSTANCE OF-GROUP`, "", "match.group")
	launches = Faults.Subject(`EVERY-INSTANCE OF-TYPE IN-LOCATION`, "", "match.type", "match.location")
	offer    = Faults.Subject(`the [server|instance] type`)
)

// Match says what a fault acts on. Each field is a pattern as of path.Match; empty
// fits everything that the effect can act on.
type Match struct {
	// Operation is the wire API's own name of a call, for Hetzner "POST /servers" or
	// "DELETE /servers/{id}", for externalgrpc "NodeGroupIncreaseSize"; for the effects on actions it is the
	// action's command, for example "start_server". It is of no use to faults that do not act on calls or actions.
	Operation string `json:"operation"`
	// Group is the node group of the instance that the call is about.
	Group string `json:"group"`
	// Instance is the name of that instance.
	Instance string `json:"instance"`
	// Type is the instance type that a call asks for which launches instances. One that is content with several of what follows is
	// meant if one of them fits all.
	Type string `json:"type"`
	// Location is where it wants them, in AWS's words the zone.
	Location string `json:"location"`
	// Subnet is the ID of the subnet that it wants them in.
	Subnet string `json:"subnet"`
	// Capacity is "spot" or "on-demand".
	Capacity string `json:"capacity"`
	// Name is that of what else the call is about: a launch template, a profile, a parameter.
	Name string `json:"name"`
	// DryRun is "true" for calls that only ask whether they would succeed, and "false" for others.
	DryRun string `json:"dryRun"`
}

// Check implements fault.Match.
func (m Match) Check() error {
	for field, pattern := range m.patterns() {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("field match.%s %q is no pattern: brackets must be closed", field, pattern)
		}
	}
	if m.DryRun != "" && m.DryRun != "true" && m.DryRun != "false" {
		return fmt.Errorf("field match.dryRun is %q: want true or false", m.DryRun)
	}
	return nil
}

// patterns are the fields by their keys.
func (m Match) patterns() map[string]string {
	return map[string]string{
		"operation": m.Operation, "group": m.Group, "instance": m.Instance, "type": m.Type, "location": m.Location, "subnet": m.Subnet,
		"capacity": m.Capacity, "name": m.Name,
	}
}

// One implements fault.Match.
func (Match) One() string { return "" }

// Call is what a fault is matched with.
type Call struct {
	Operation, Group, Instance             string
	Type, Location, Subnet, Capacity, Name string
	DryRun                                 bool
}

func (m Match) fits(c Call) bool {
	return fits(m.Operation, c.Operation) && fits(m.Group, c.Group) && fits(m.Instance, c.Instance) && fits(m.Type, c.Type) &&
		fits(m.Location, c.Location) && fits(m.Subnet, c.Subnet) && fits(m.Capacity, c.Capacity) && fits(m.Name, c.Name) &&
		(m.DryRun == "" || (m.DryRun == "true") == c.DryRun)
}

func fits(pattern, text string) bool {
	if pattern == "" || pattern == text {
		return true
	}
	ok, err := path.Match(pattern, text)
	return ok && err == nil
}

// Load reads a file of faults, and checks them against the operations of a cloud as Check does.
func Load(file string, operations []string) ([]fault.Fault, error) {
	faults, err := fault.Load(file, Faults)
	if err != nil {
		return nil, err
	}
	for _, f := range faults {
		if err := Check(f, operations); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return faults, nil
}

// Check says what is wrong with a fault of a cloud. Operations lists the names of calls, and of commands of actions,
// that its Match may fit.
func Check(f fault.Fault, operations []string) error {
	if err := Faults.Check(f); err != nil {
		return err
	}
	if e, is := f.Effect.(Shown); is && !slices.Contains(operations, e.ShownBy()) {
		return fmt.Errorf("fault %q: %s shows in %s only, which this cloud does not have", f.Name, Faults.Called(f.Effect), e.ShownBy())
	}
	match, _ := f.Match.(Match)
	if match.Operation == "" {
		return nil
	}
	point, called := pointOf(f.Effect), Faults.Called(f.Effect)
	if !slices.Contains([]Point{Before, After, Listing, Action, Launch}, point) {
		return fmt.Errorf("fault %q: field match.operation %q: %s does not act on calls; leave it empty", f.Name, match.Operation, called)
	}
	var possible []string
	for _, name := range operations {
		// Commands of actions are words with dashes, calls a method and a path, or one word.
		call := strings.Contains(name, " ") || !strings.Contains(name, "_")
		if of, listing := f.Effect.(Lister); call == (point == Action) || listing && !of.Lists(name) {
			continue
		}
		if fits(match.Operation, name) {
			return nil
		}
		possible = append(possible, name)
	}
	return fmt.Errorf("fault %q: field match.operation %q fits nothing that %s acts on (such as %s)", f.Name, match.Operation, called,
		strings.Join(possible[:min(6, len(possible))], ", "))
}
