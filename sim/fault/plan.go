package fault

import (
	"fmt"

	"nodestorm/sim/history/checker"
	"nodestorm/sim/strict"
)

// Plan is from when to when and how often a fault acts, whatever it breaks. Zero means
// at once, always and for ever.
type Plan struct {
	// When is the event that the fault waits for; it must come after the fault is armed. Without it, the fault waits for none.
	When *checker.Pattern `json:"when,omitempty"`
	// At is when the fault begins, counted from that event, or from when the fault is armed.
	At strict.Duration `json:"at,omitzero"`
	// For is how long the fault lasts, counted from At. Without it, it lasts for ever.
	For strict.Duration `json:"for,omitzero"`
	// Skip lets that many occasions pass first.
	Skip int `json:"skip,omitempty"`
	// Limit is on how many occasions it acts. Without it, there is no limit.
	Limit int `json:"limit,omitempty"`
	// Probability is the chance from 0 to 1 that it acts on an occasion, drawn from the
	// run's seed. Without it, the fault always acts.
	Probability float64 `json:"probability,omitempty"`
}

// Check says what is wrong with the plan.
func (p Plan) Check() error {
	switch {
	case p.At < 0:
		return fmt.Errorf("field at is %v: want zero or more", p.At)
	case p.For < 0:
		return fmt.Errorf("field for is %v: want zero or more", p.For)
	case p.Skip < 0:
		return fmt.Errorf("field skip is %d: want zero or more", p.Skip)
	case p.Limit < 0:
		return fmt.Errorf("field limit is %d: want zero or more", p.Limit)
	case !(p.Probability >= 0 && p.Probability <= 1):
		return fmt.Errorf("field probability is %v: want 0 to 1", p.Probability)
	case p.When == nil:
		return nil
	}
	if err := p.When.Check(); err != nil {
		return fmt.Errorf("field when: %w", err)
	}
	return nil
}

// Always reports whether the fault acts on every occasion, from when it is armed on.
func (p Plan) Always() bool { return p == Plan{} || p == Plan{Probability: 1} }
