package cli

import (
	"fmt"
	"text/tabwriter"
	"time"

	"nodestorm/harness/tell"
	"nodestorm/reports/story"
	"nodestorm/sim/clock"
)

// modes are the two sides of a comparison, 1x first.
func (s *session) modes(fast clock.Mode) [2]clock.Mode { return [2]clock.Mode{clock.Real, fast} }

// decisionsOf are those of a stored run, of which all is there.
func decisionsOf(dir string) ([]story.Decision, error) {
	told, err := tell.Run(dir, nil, 0)
	if err != nil {
		return nil, err
	}
	if len(told.Run.Problems) > 0 {
		return nil, fmt.Errorf("reading %s: %s", dir, told.Run.Problems[0])
	}
	return told.Decisions, nil
}

// printComparison writes both lists side by side, each counted from its first
// decision, and names the first difference.
func (s *session) printComparison(c comparison) {
	fmt.Fprintf(s.stdout, "%s on %s\n", c.ID, c.Target)
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\t1x\t\t%s\n", c.Clock)
	for i := range max(len(c.Real), len(c.Fast)) {
		mark := ""
		if i == c.First {
			mark = "≠"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", mark, cell(c.Real, i), cell(c.Fast, i))
	}
	_ = w.Flush()
	if c.Same {
		fmt.Fprintf(s.stdout, "the same %d decisions\n\n", len(c.Real))
	} else {
		fmt.Fprintf(s.stdout, "they differ first at decision %d; the runs are %s and %s\n\n", c.First+1, c.Runs[0], c.Runs[1])
	}
}

func cell(list []story.Decision, i int) string {
	if i >= len(list) {
		return "\t—"
	}
	return fmt.Sprintf("%s\t%s", (list[i].At - list[0].At).Round(100*time.Millisecond), list[i].What)
}
