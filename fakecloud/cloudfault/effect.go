package cloudfault

import (
	"time"

	"nodestorm/sim/fault"
)

// Point is where an effect acts.
type Point int

// The points, in the order in which a call passes them, with what effects say by which methods there.
const (
	Before    Point = iota // before the call is carried out: BeforeCall
	After                  // after it, before the reply: AfterCall
	Listing                // in what a listing shows: Lister, and one of Stales, Hider and Shortener
	Action                 // in an action's life: Worker
	Instance               // in an instance's life: Striker
	Supply                 // in what the cloud offers: Supplier
	Launch                 // in the launch of one of the instances that a call asks for: Launcher
	Growth                 // in what the cloud does to bring a group to its target size: Withholder
	Shrinkage              // in the deletion of a group's instances by their names: Leaver
)

// pointOf is where an effect acts.
func pointOf(e fault.Effect) Point {
	switch e.(type) {
	case BeforeCall:
		return Before
	case AfterCall:
		return After
	case Lister:
		return Listing
	case Worker:
		return Action
	case Striker:
		return Instance
	case Supplier:
		return Supply
	case Launcher:
		return Launch
	case Withholder:
		return Growth
	}
	return Shrinkage
}

// BeforeCall does something to a call, and reports whether it goes on then.
type BeforeCall interface {
	BeforeCall(Caller) (goesOn bool)
}

// Caller is a call to a wire API that is not carried out yet. Each method notes that the fault is effective.
type Caller interface {
	// Refuse answers with an error.
	Refuse(Refuse)
	// RateLimit answers that no calls are left until so much later.
	RateLimit(reset time.Duration)
	// Hang gives no answer until the client gives up.
	Hang()
	// Delay waits.
	Delay(by time.Duration)
}

// AfterCall does something to the reply to a call.
type AfterCall interface{ AfterCall(Reply) }

// Reply is one of a wire API. Each method notes that the fault is effective, if it is.
type Reply interface {
	// Refuse has it be an error.
	Refuse(Refuse)
	// Lose has it not arrive: the connection is closed, when the client has given up or at once.
	Lose(hang bool)
	// Alter changes what it says, as JSON has it, with a function that reports whether it made a difference.
	Alter(change func(reply map[string]any) bool)
}

// Lister is an effect in listings, and says in which.
type Lister interface{ Lists(operation string) bool }

// Ways in which a listing is wrong.
type (
	// Stales shows what was there at a time. From is since when the fault is active.
	Stales interface {
		ListingTime(now, from time.Time) time.Time
		// Lag is how far back it looks; zero means to when the fault became active.
		Lag() time.Duration
	}
	// Hider leaves out what was created at a time.
	Hider interface {
		Hides(created, now time.Time) bool
	}
	// Shortener ends a listing of so many entries after fewer.
	Shortener interface{ Shorten(entries int) int }
)

// Worker changes the course of an action.
type Worker interface{ Work(*Work) }

// Work is an action's course.
type Work struct {
	// Takes is how long it takes, negative for ever.
	Takes time.Duration
	// Felt is when the difference shows.
	Felt time.Duration
	// Fails is the error that it ends in.
	Fails *struct{ Code, Message string }
}

// Striker breaks an instance that runs.
type Striker interface{ Strike(Machine) }

// Shown is an effect that nothing but the answer to one call shows, which not every cloud has.
type Shown interface{ ShownBy() string }

// Machine is an instance that runs. Spans count from when it runs and the fault is active, whichever is later.
type Machine interface {
	TurnOff(after time.Duration)
	Vanish(after time.Duration)
	Interrupt(after, notice time.Duration)
	Impair(after time.Duration)
	Maintain(after time.Duration, kind string, finished bool)
}

// Supplier takes a type of instances in a location, of a capacity, off the offer.
type Supplier interface {
	Lacks(serverType, location, capacity string) bool
	// Withdrawn reports whether that is announced, and for good.
	Withdrawn() bool
}

// Launcher has an instance not launched, and says why; without a code, nothing is said of why.
type Launcher interface {
	Unlaunched() (code, message string)
}

// Withholder has an instance not created that a group lacks.
type Withholder interface{ Withhold() }

// Leaver says what a deletion leaves: one of LeavesTarget, LeavesInstance and LeavesRest.
type Leaver interface{ Remainder() string }
