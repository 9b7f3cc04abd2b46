package cli

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"nodestorm/harness/replay"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/summary"
	"nodestorm/reports"
	"nodestorm/reports/story"
	"nodestorm/sim/time/clock"
)

// side is one way to replay.
type side struct {
	name    string
	clock   clock.Mode
	cluster replay.Cluster
}

// sides are the ways to replay that the flags name: one, or two to be compared.
func (s *session) sides(c *cobra.Command, clusters []replay.Cluster, clocks bool) (list []side, err error) {
	if clocks {
		return []side{{"1x", clock.Real, s.Cluster}, {s.World.Clock.String(), s.World.Clock, s.Cluster}}, nil
	}
	asked := s.World.Clock
	for _, of := range clusters {
		if s.World.Clock = asked; len(clusters) > 1 && of == replay.Kind {
			s.World.Clock = clock.Real // the other side's is what --clock is about
		}
		if err := s.chooseCluster(c, of); err != nil {
			return nil, err
		}
		list = append(list, side{of.String(), s.World.Clock, of})
	}
	if len(list) > 1 {
		s.World.Clock = asked // what builds are looked at for
	}
	return list, nil
}

// comparison is one replay in two ways, beside each other.
type comparison struct {
	ID        string              `json:"id"`
	Target    string              `json:"target"`
	Sides     [2]string           `json:"sides"` // clocks, or kinds of clusters
	Verdicts  [2]string           `json:"verdicts"`
	Same      bool                `json:"same"`            // verdicts and decisions
	First     int                 `json:"firstDifference"` // index into both lists of decisions; -1: none
	Decisions [2][]story.Decision `json:"decisions"`
	Ends      [2]time.Duration    `json:"ends"` // of the runs, virtual, since their starts
	Runs      [2]string           `json:"runs"`
	// WallSeconds are how long each took, its world included.
	WallSeconds [2]float64 `json:"wallSeconds"`
	// Skipped is why there was no replay, Inconclusive why it says nothing.
	Skipped      string `json:"skipped,omitempty"`
	Inconclusive string `json:"inconclusive,omitempty"`
}

func (c comparison) firstDifference() int {
	return story.FirstDifference(story.Course{Decisions: c.Decisions[0], End: c.Ends[0]}, story.Course{Decisions: c.Decisions[1], End: c.Ends[1]})
}

// compare replays the jobs in two ways; without are those that cannot be.
func (s *session) compare(c *cobra.Command, sides []side, jobs []job, without []reports.Row, asJSON bool) error {
	for _, of := range sides {
		s.World.Clock, s.Cluster = of.clock, of.cluster
		var cannot []reports.Row
		jobs, cannot = s.parting(c.Context(), jobs)
		without = append(without, cannot...)
	}
	names := [2]string{sides[0].name, sides[1].name}
	comparisons, different, inconclusive := []comparison{}, false, len(jobs) == 0
	for _, r := range without {
		s.say("skipped %s on %s: %s", r.ID, r.Target, r.Reason)
		comparisons = append(comparisons, comparison{ID: r.ID, Target: r.Target, Sides: names, First: -1, Skipped: r.Reason})
	}
	for i, j := range jobs {
		result := comparison{ID: j.record.ID, Target: j.target.Ref.String(), Sides: names, First: -1}
		for n, of := range sides {
			s.World.Clock, s.Cluster = of.clock, of.cluster
			played, row, err := s.replay(c.Context(), j.record, j.target, fmt.Sprintf("[%d/%d %s] ", i+1, len(jobs), of.name))
			if err != nil {
				return err
			}
			result.Runs[n], result.Verdicts[n], result.WallSeconds[n] = played.Dir, row.Verdict, row.WallSeconds
			if row.Outcome == "inconclusive" {
				result.Inconclusive = fmt.Sprintf("%s: %s", of.name, row.Reason)
				break
			}
			told, err := summary.Run(played.Dir, nil, 0)
			if err != nil {
				return err
			}
			if len(told.Run.Problems) > 0 {
				return fmt.Errorf("reading %s: %s", played.Dir, told.Run.Problems[0])
			}
			result.Decisions[n], result.Ends[n] = told.Decisions, told.End
		}
		if result.Inconclusive == "" {
			result.First = result.firstDifference()
			result.Same = result.First < 0 && result.Verdicts[0] == result.Verdicts[1]
			different = different || !result.Same
		}
		inconclusive = inconclusive || result.Inconclusive != ""
		comparisons = append(comparisons, result)
		if !asJSON {
			s.printComparison(result)
		}
	}
	if asJSON {
		if err := s.json(comparisons); err != nil {
			return err
		}
	}
	switch {
	case different || s.strict && len(without) > 0:
		return &exit.Error{Code: NotAsExpected}
	case inconclusive:
		return &exit.Error{Code: Inconclusive}
	}
	return nil
}

// printComparison writes both lists side by side, each counted from its first
// decision, and names the first difference.
func (s *session) printComparison(c comparison) {
	fmt.Fprintf(s.stdout, "%s on %s\n", c.ID, c.Target)
	if c.Inconclusive != "" {
		fmt.Fprintf(s.stdout, "inconclusive on %s\n\n", c.Inconclusive)
		return
	}
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\t%s\t%s\t%s\t%s\n", c.Sides[0], c.Verdicts[0], c.Sides[1], c.Verdicts[1])
	one, other := c.Decisions[0], c.Decisions[1]
	for i := range max(len(one), len(other)) {
		mark := ""
		if i == c.First {
			mark = "≠"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", mark, cell(one, i), cell(other, i))
	}
	fmt.Fprintf(w, "\t%s\tin all\t%s\tin all\n", seconds(c.WallSeconds[0]), seconds(c.WallSeconds[1]))
	_ = w.Flush()
	decisions := counted(min(len(one), len(other)), "decision")
	if c.First < 0 && len(one) != len(other) {
		shorter := c.Sides[0]
		if len(other) < len(one) {
			shorter = c.Sides[1]
		}
		decisions += "; " + shorter + " ended before the next was due"
	}
	switch {
	case c.Same:
		fmt.Fprintf(s.stdout, "the same verdict, and the same %s\n\n", decisions)
	case c.First < 0:
		fmt.Fprintf(s.stdout, "the same %s, and another verdict; the runs are %s and %s\n\n", decisions, c.Runs[0], c.Runs[1])
	default:
		fmt.Fprintf(s.stdout, "they differ first at decision %d; the runs are %s and %s\n\n", c.First+1, c.Runs[0], c.Runs[1])
	}
}

func seconds(n float64) time.Duration {
	return time.Duration(n * float64(time.Second)).Round(100 * time.Millisecond)
}

func cell(list []story.Decision, i int) string {
	if i >= len(list) {
		return "\t—"
	}
	return fmt.Sprintf("%s\t%s", (list[i].At - list[0].At).Round(100*time.Millisecond), list[i].What)
}
