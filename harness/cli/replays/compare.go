package replays

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"nodestorm/harness/replay"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/story"
	"nodestorm/reports/table"
	"nodestorm/reports/wording"
	"nodestorm/sim/time/clock"
)

// sides are the ways to replay that the flags name: one, or two to be compared.
func (v *verification) sides(c *cobra.Command, clusters []replay.Cluster) (list []queue.Side, err error) {
	if v.clocks {
		return []queue.Side{
			{Name: "1x", Clock: clock.Real, Cluster: v.Cluster}, {Name: v.World.Clock.String(), Clock: v.World.Clock, Cluster: v.Cluster},
		}, nil
	}
	asked := v.World.Clock
	for _, of := range clusters {
		if v.World.Clock = asked; len(clusters) > 1 && of == replay.Kind {
			v.World.Clock = clock.Real // the other side's is what --clock is about
		}
		if err := v.ChooseCluster(c, of); err != nil {
			return nil, err
		}
		list = append(list, queue.Side{Name: of.String(), Clock: v.World.Clock, Cluster: of})
	}
	if len(list) > 1 {
		v.World.Clock = asked // what builds are looked at for
	}
	return list, nil
}

// compare replays the jobs in two ways; without are those that cannot be.
func (v *verification) compare(ctx context.Context, sides []queue.Side, jobs []queue.Job, without []table.Row) error {
	jobs, cannot := v.PlayableOn(ctx, sides, jobs)
	without = append(without, cannot...)
	comparisons, different, inconclusive := []queue.Comparison{}, false, len(jobs) == 0
	for _, r := range without {
		v.Say("skipped %s on %s: %s", r.ID, r.Target, r.Reason)
		names := [2]string{sides[0].Name, sides[1].Name}
		comparisons = append(comparisons, queue.Comparison{ID: r.ID, Target: r.Target, Sides: names, First: -1, Skipped: r.Reason})
	}
	err := v.Compare(ctx, sides, jobs, func(c queue.Comparison) {
		inconclusive = inconclusive || c.Inconclusive != ""
		different = different || c.Inconclusive == "" && !c.Same
		comparisons = append(comparisons, c)
		if !v.asJSON {
			v.printComparison(c)
		}
	})
	if err == nil && v.asJSON {
		err = v.JSON(comparisons)
	}
	switch {
	case err != nil:
		return err
	case different || v.strict && len(without) > 0:
		return &exit.Error{Code: exit.NotAsExpected}
	case inconclusive:
		return &exit.Error{Code: exit.Inconclusive}
	}
	return nil
}

// printComparison writes both lists side by side, each counted from its first
// decision, and names the first difference.
func (s *session) printComparison(c queue.Comparison) {
	fmt.Fprintf(s.Stdout, "%s on %s\n", c.ID, c.Target)
	if c.Inconclusive != "" {
		fmt.Fprintf(s.Stdout, "inconclusive on %s\n\n", c.Inconclusive)
		return
	}
	w := tabwriter.NewWriter(s.Stdout, 0, 0, 2, ' ', 0)
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
	decisions := wording.Counted(min(len(one), len(other)), "decision")
	if c.First < 0 && len(one) != len(other) {
		shorter := c.Sides[0]
		if len(other) < len(one) {
			shorter = c.Sides[1]
		}
		decisions += "; " + shorter + " ended before the next was due"
	}
	switch {
	case c.Same:
		fmt.Fprintf(s.Stdout, "the same verdict, and the same %s\n\n", decisions)
	case c.First < 0:
		fmt.Fprintf(s.Stdout, "the same %s, and another verdict; the runs are %s and %s\n\n", decisions, c.Runs[0], c.Runs[1])
	default:
		fmt.Fprintf(s.Stdout, "they differ first at decision %d; the runs are %s and %s\n\n", c.First+1, c.Runs[0], c.Runs[1])
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
