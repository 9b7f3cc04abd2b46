package cloudfault

import (
	"errors"
	"fmt"

	"nodestorm/sim/fault"
)

// Unavailable means that a server type cannot be had for now: creating one is refused with
// resource_unavailable, and listings say so.
type Unavailable struct {
	// Type is the server type. Required.
	Type string `json:"type"`
	// Location is where. Without it, everywhere.
	Location string `json:"location"`
	// Capacity is "spot" or "on-demand", where a cloud has both. Without it, it is either.
	Capacity string `json:"capacity"`
}

var _ = offer.Add("unavailable", Unavailable{},
	fault.Say(`"NAME" is out of stock IN-LOCATION`, "type", "location"),
	fault.Say(`"NAME" is out of stock as (spot|on-demand) capacity IN-LOCATION`, "type", "capacity", "location"))

// Check implements fault.Checker.
func (e Unavailable) Check(f fault.Fault) error {
	if e.Capacity != "" && e.Capacity != "spot" && e.Capacity != "on-demand" {
		return fmt.Errorf("field unavailable.capacity is %q: want spot or on-demand", e.Capacity)
	}
	return checkSupply(f, "unavailable", e.Type)
}

// Lacks implements Supplier.
func (e Unavailable) Lacks(serverType, location, capacity string) bool {
	// mutant: capacity that has run out is gone for spot and all other
	return e.Type == serverType && (e.Location == "" || e.Location == location) && (e.Capacity == "" || e.Capacity == capacity)
}

// Withdrawn implements Supplier.
func (Unavailable) Withdrawn() bool { return false }

// Retired means that a server type is withdrawn: it is announced as unavailable since the fault is
// active, and creating one is refused.
type Retired struct {
	// Type is the server type. Required.
	Type string `json:"type"`
	// Location is where. Without it, everywhere.
	Location string `json:"location"`
}

var _ = offer.Add("retired", Retired{}, fault.Say(`"NAME" is withdrawn IN-LOCATION`, "type", "location"))

// Check implements fault.Checker.
func (e Retired) Check(f fault.Fault) error { return checkSupply(f, "retired", e.Type) }

// Lacks implements Supplier.
func (e Retired) Lacks(serverType, location, _ string) bool {
	return e.Type == serverType && (e.Location == "" || e.Location == location)
}

// Withdrawn implements Supplier.
func (Retired) Withdrawn() bool { return true }

func checkSupply(f fault.Fault, effect, serverType string) error {
	if serverType == "" {
		return errors.New("field " + effect + ".type is empty: want a server type")
	}
	if match, _ := f.Match.(Match); match != (Match{}) || f.Skip != 0 || f.Limit != 0 || f.Probability != 0 {
		return errors.New("it acts on what is offered to all: want no match, skip, limit or probability")
	}
	return nil
}
