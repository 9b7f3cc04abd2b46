package qualification

import (
	"fmt"

	"nodestorm/reports/interval"
	"nodestorm/reports/wording"
)

// Search is what schedules that were drawn have shown on a release.
type Search struct {
	Profile      string  `json:"profile"`
	Seed         uint64  `json:"seed"`
	Plays        int     `json:"plays"`
	Inconclusive int     `json:"inconclusive"`
	VirtualHours float64 `json:"virtualHours"`
	Covered      int     `json:"covered"` // calls, log lines and faults that were met
	// Found is what broke an invariant, or kept pods from running, and no record explains. It is among the findings.
	Found []Drawn `json:"-"`
}

// Drawn is what the schedule that showed it first shows of it on both releases.
type Drawn struct {
	Name, Title, Reason string
	On, Before          Tally
}

// Tally is how many runs that could decide showed something.
type Tally struct{ Shown, Runs int }

func (t Tally) count() (n Count) {
	n.Shown, n.Otherwise, n.Runs = t.Shown, t.Shown, t.Runs
	n.Low, n.High = interval.Wilson(n.Shown, n.Runs)
	return n
}

// findings are those that were drawn. No record says anything of them, so that they are new unless the release before shows them.
func (s Search) findings() (all []Finding) {
	for _, d := range s.Found {
		f := Finding{Scenario: d.Name, Title: d.Title, Reason: d.Reason, On: d.On.count(), Before: d.Before.count()}
		f.Kind = kindOf(f.On, f.Before, "", Said{})
		all = append(all, f)
	}
	return all
}

// Sum says how much was drawn.
func (s Search) Sum() string {
	return fmt.Sprintf("%s of the profile %s (seed %d), %.1f virtual hours, %d inconclusive, %d things covered: %s that no record explains",
		wording.Counted(s.Plays, "drawn schedule"), s.Profile, s.Seed, s.VirtualHours, s.Inconclusive, s.Covered,
		wording.Counted(len(s.Found), "finding"))
}
