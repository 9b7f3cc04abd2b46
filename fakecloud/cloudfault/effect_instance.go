package cloudfault

import (
	"errors"
	"fmt"
	"time"

	"nodestorm/sim/fault"
	"nodestorm/sim/strict"
)

// TurnsOff means that a running instance goes off without anybody's call: its host crashed, or its
// system shut down.
type TurnsOff struct {
	// After counts from when the instance is running and the fault active, whichever is later.
	After strict.Duration `json:"after"`
}

var _ = lives.Add("turnsOff", TurnsOff{}, fault.Say("turns off DURATION after it is running", "after"))

// Strike implements Striker.
func (e TurnsOff) Strike(m Machine) { m.TurnOff(time.Duration(e.After)) }

// Vanishes means that an instance is gone without anybody's call, as when it is deleted out of
// band.
type Vanishes struct {
	// After counts from when the instance is running and the fault active, whichever is later.
	After strict.Duration `json:"after"`
}

var _ = lives.Add("vanishes", Vanishes{}, fault.Say("vanishes DURATION after it is running", "after"))

// Strike implements Striker.
func (e Vanishes) Strike(m Machine) { m.Vanish(time.Duration(e.After)) }

// Interrupted means that the cloud takes a running instance back, and says so before, as with spot
// capacity.
type Interrupted struct {
	// After counts from when the instance is running and the fault active, whichever is later, to
	// the notice.
	After strict.Duration `json:"after"`
	// Notice is from the notice to the end.
	Notice strict.Duration `json:"notice"`
}

var _ = lives.Add("interrupted", Interrupted{},
	fault.Say("is interrupted DURATION after it is running, with a notice of DURATION", "after", "notice"))

// Strike implements Striker.
func (e Interrupted) Strike(m Machine) { m.Interrupt(time.Duration(e.After), time.Duration(e.Notice)) }

// Impaired means that the cloud's own checks of a running instance fail, as those of its host or its network. It runs on, and what
// is wrong with it is for other faults.
type Impaired struct {
	// After counts from when the instance is running and the fault active, whichever is later.
	After strict.Duration `json:"after"`
}

var _ = lives.Add("impaired", Impaired{}, fault.Say("fails the cloud's checks DURATION after it is running", "after"))

// Strike implements Striker.
func (e Impaired) Strike(m Machine) { m.Impair(time.Duration(e.After)) }

// statusCall has what the checks of an instance say, and its maintenance.
const statusCall = "DescribeInstanceStatus"

// ShownBy implements Shown.
func (Impaired) ShownBy() string { return statusCall }

// ShownBy implements Shown.
func (Maintained) ShownBy() string { return statusCall }

// Maintained means that the cloud lists maintenance of a running instance. Nothing comes of it.
type Maintained struct {
	// Kind is what it means for the instance, in the words of the wire API: for AWS for example system-reboot. Required.
	Kind string `json:"kind"`
	// After counts from when the instance is running and the fault active, whichever is later.
	After strict.Duration `json:"after"`
	// Finished is that it is over. False means that it is still to come.
	Finished bool `json:"finished"`
}

var _ = lives.Add("maintained", Maintained{},
	fault.Say(`has the maintenance "NAME" announced DURATION after it is running`, "kind", "after"),
	fault.Words{Text: `has the finished maintenance "NAME" listed DURATION after it is running`, Fields: []string{"kind", "after"},
		Sets: "finished: true"})

// Check implements fault.Checker.
func (e Maintained) Check(fault.Fault) error {
	if e.Kind == "" {
		return errors.New("field maintained.kind is empty: want one of the cloud's API, for AWS for example system-reboot")
	}
	return nil
}

// Strike implements Striker.
func (e Maintained) Strike(m Machine) { m.Maintain(time.Duration(e.After), e.Kind, e.Finished) }

// NotCreated means that an instance which a group lacks is not even begun to be created, and nothing is
// said of why. Once the fault has ended, what is still lacking is created.
type NotCreated struct{}

var _ = lives.Add("notCreated", NotCreated{}, fault.Say("counts towards its group's target size, but is not created"))

// Withhold implements Withholder.
func (NotCreated) Withhold() {}

// HalfDeleted means that the deletion of an instance of a group, which also lowers the group's target, is half
// done.
type HalfDeleted struct {
	// Leaves is what is left. With "target" the target is not lowered, so that another instance is created. With "instance"
	// the instance is not deleted, and is one more than the target. With "rest" the call fails when it comes to this
	// instance: that and those that the call names after it are left. Required.
	Leaves string `json:"leaves"`
}

// What HalfDeleted leaves.
const (
	LeavesTarget   = "target"
	LeavesInstance = "instance"
	LeavesRest     = "rest"
)

var _ = lives.Add("halfDeleted", HalfDeleted{},
	fault.Words{Text: "is deleted without lowering its group's target size", Sets: "leaves: " + LeavesTarget},
	fault.Words{Text: "survives its deletion, which lowers its group's target size", Sets: "leaves: " + LeavesInstance},
	fault.Words{Text: "fails to be deleted, as does all that the same call names after it", Sets: "leaves: " + LeavesRest})

// Check implements fault.Checker.
func (e HalfDeleted) Check(fault.Fault) error {
	if e.Leaves != LeavesTarget && e.Leaves != LeavesInstance && e.Leaves != LeavesRest {
		return fmt.Errorf("field halfDeleted.leaves is %q: want %s, %s or %s", e.Leaves, LeavesTarget, LeavesInstance, LeavesRest)
	}
	return nil
}

// Remainder implements Leaver.
func (e HalfDeleted) Remainder() string { return e.Leaves }
