package run

import (
	"nodestorm/scenarios"
	"nodestorm/sim/history/invariants"
)

// Subject is what the invariants ask about the run's target.
func (r Run) Subject() invariants.Subject {
	facts := r.Facts
	if len(facts) == 0 { // a run of before they were kept
		facts = scenarios.FactsOf(r.Target.Name, r.Target.Provider, r.Target.Version)
	}
	return invariants.Subject{Actor: r.Target.Program(), Facts: facts, Settings: r.Settings}
}
