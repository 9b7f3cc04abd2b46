package run

import (
	"nodestorm/sim/history/invariants"
)

// Subject is what the invariants ask about the run's target.
func (r Run) Subject() invariants.Subject {
	return invariants.Subject{Target: r.Target.Name, Version: r.Target.Version, Provider: r.Target.Provider, Settings: r.Settings}
}
