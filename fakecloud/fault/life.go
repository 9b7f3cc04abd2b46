package fault

import (
	"errors"
	"fmt"

	"nodestorm/sim/time/lapse"
)

// ActionHangs means that the action never ends. It stays running, with some progress.
type ActionHangs struct{}

// ActionTakes sets how long the action takes.
type ActionTakes struct {
	// Time counts from the action's begin. Required.
	Time lapse.Duration `json:"time"`
}

// ActionFails means that the action ends in an error, and what it should have done is not done: a
// failed create_server leaves no instance, a failed start_server one that is off, a failed
// delete_server one that runs on.
type ActionFails struct {
	// After is when, from the action's begin. Zero means when it would have succeeded.
	After lapse.Duration `json:"after"`
	// Code and Message are the action's error. Empty means action_failed and its usual text.
	Code    string `json:"code"`
	Message string `json:"message"`
}

// TurnsOff means that a running instance goes off without anybody's call: its host crashed, or its
// system shut down.
type TurnsOff struct {
	// After counts from when the instance is running and the fault active, whichever is later.
	After lapse.Duration `json:"after"`
}

// Vanishes means that an instance is gone without anybody's call, as when somebody deletes it out
// of band.
type Vanishes struct {
	// After counts from when the instance is running and the fault active, whichever is later.
	After lapse.Duration `json:"after"`
}

// Interrupted means that the cloud takes a running instance back, and says so before, as with spot
// capacity.
type Interrupted struct {
	// After counts from when the instance is running and the fault active, whichever is later, to
	// the notice.
	After lapse.Duration `json:"after"`
	// Notice is from the notice to the end.
	Notice lapse.Duration `json:"notice"`
}

// Unavailable means that a server type cannot be had for now: creating one is refused with
// resource_unavailable, and listings say so.
type Unavailable struct {
	Type string `json:"type"`
	// Location empty means all.
	Location string `json:"location"`
	// Capacity is "spot" or "on-demand", where a cloud has both. Empty means either.
	Capacity string `json:"capacity"`
}

// Retired means that a server type is withdrawn: it is announced as unavailable since the fault is
// active, and creating one is refused.
type Retired struct {
	Type string `json:"type"`
	// Location empty means all.
	Location string `json:"location"`
}

// NotCreated means that an instance which a group lacks is not even begun to be created, and nothing is
// said of why. Once the fault has ended, what is still lacking is created.
type NotCreated struct{}

// HalfDeleted means that the deletion of an instance of a group, which also lowers the group's target, is half
// done.
type HalfDeleted struct {
	// Leaves is what is left: "target" is not lowered, so that another instance is created; the "instance" is not
	// deleted, and is one more than the target; "rest" are this instance and those that the call names
	// after it, when those before it are gone and the call fails.
	Leaves string `json:"leaves"`
}

// What HalfDeleted leaves.
const (
	LeavesTarget   = "target"
	LeavesInstance = "instance"
	LeavesRest     = "rest"
)

func (ActionHangs) String() string { return "actionHangs" }
func (ActionTakes) String() string { return "actionTakes" }
func (ActionFails) String() string { return "actionFails" }
func (TurnsOff) String() string    { return "turnsOff" }
func (Vanishes) String() string    { return "vanishes" }
func (Interrupted) String() string { return "interrupted" }
func (Unavailable) String() string { return "unavailable" }
func (Retired) String() string     { return "retired" }
func (NotCreated) String() string  { return "notCreated" }
func (HalfDeleted) String() string { return "halfDeleted" }

// Point implements Effect.
func (ActionHangs) Point() Point { return Action }

// Point implements Effect.
func (ActionTakes) Point() Point { return Action }

// Point implements Effect.
func (ActionFails) Point() Point { return Action }

// Point implements Effect.
func (TurnsOff) Point() Point { return Instance }

// Point implements Effect.
func (Vanishes) Point() Point { return Instance }

// Point implements Effect.
func (Interrupted) Point() Point { return Instance }

// Point implements Effect.
func (Unavailable) Point() Point { return Supply }

// Point implements Effect.
func (Retired) Point() Point { return Supply }

// Point implements Effect.
func (NotCreated) Point() Point { return Growth }

// Point implements Effect.
func (HalfDeleted) Point() Point { return Shrinkage }

func (ActionHangs) check(Fault) error   { return nil }
func (e ActionTakes) check(Fault) error { return lapse.Positive("actionTakes.time", e.Time) }
func (e ActionFails) check(Fault) error { return lapse.NotNegative("actionFails.after", e.After) }
func (e TurnsOff) check(Fault) error    { return lapse.NotNegative("turnsOff.after", e.After) }
func (e Vanishes) check(Fault) error    { return lapse.NotNegative("vanishes.after", e.After) }
func (e Interrupted) check(Fault) error {
	return errors.Join(lapse.NotNegative("interrupted.after", e.After), lapse.NotNegative("interrupted.notice", e.Notice))
}

func (e Unavailable) check(f Fault) error {
	if e.Capacity != "" && e.Capacity != "spot" && e.Capacity != "on-demand" {
		return fmt.Errorf("field unavailable.capacity is %q: want spot or on-demand", e.Capacity)
	}
	return supplyCheck(f, "unavailable", e.Type)
}
func (NotCreated) check(Fault) error { return nil }

func (e HalfDeleted) check(Fault) error {
	if e.Leaves != LeavesTarget && e.Leaves != LeavesInstance && e.Leaves != LeavesRest {
		return fmt.Errorf("field halfDeleted.leaves is %q: want %s, %s or %s", e.Leaves, LeavesTarget, LeavesInstance, LeavesRest)
	}
	return nil
}

func (e Retired) check(f Fault) error { return supplyCheck(f, "retired", e.Type) }

func supplyCheck(f Fault, effect, serverType string) error {
	if serverType == "" {
		return errors.New("field " + effect + ".type is empty: want a server type")
	}
	if f.Match != (Match{}) || f.Skip != 0 || f.Limit != 0 || f.Probability != 0 {
		return errors.New("it acts on what is offered to all: want no match, skip, limit or probability")
	}
	return nil
}
