package scene

import "nodestorm/sim/fault"

// Breakable is a part of a world that can be broken.
type Breakable struct {
	// List are its faults.
	List *fault.List
	// Need is what has to be there.
	Need Need
	Of   func(*Scene) fault.Injector
}
