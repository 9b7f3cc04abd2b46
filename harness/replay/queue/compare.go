package queue

import (
	"context"
	"fmt"
	"time"

	"nodestorm/harness/replay"
	"nodestorm/harness/run/summary"
	"nodestorm/reports/story"
	"nodestorm/reports/table"
	"nodestorm/sim/time/clock"
)

// Side is one way to replay.
type Side struct {
	Name    string
	Clock   clock.Mode
	Cluster replay.Cluster
}

// Comparison is one replay in two ways, beside each other.
type Comparison struct {
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

// FirstDifference returns the index of the first decision that differs; -1: none.
func (c Comparison) FirstDifference() int {
	return story.FirstDifference(
		story.Course{Decisions: c.Decisions[0], End: c.Ends[0]}, story.Course{Decisions: c.Decisions[1], End: c.Ends[1]},
	)
}

// PlayableOn is Playable for all of several ways to replay.
func (q *Queue) PlayableOn(ctx context.Context, sides []Side, jobs []Job) (play []Job, without []table.Row) {
	for _, of := range sides {
		q.World.Clock, q.Cluster = of.Clock, of.Cluster
		var cannot []table.Row
		jobs, cannot = q.Playable(ctx, jobs)
		without = append(without, cannot...)
	}
	return jobs, without
}

// Compare plays the jobs in two ways. each is called with each comparison.
func (q *Queue) Compare(ctx context.Context, sides []Side, jobs []Job, each func(Comparison)) error {
	for i, j := range jobs {
		c := Comparison{ID: j.Record.ID, Target: j.Target.Ref.String(), Sides: [2]string{sides[0].Name, sides[1].Name}, First: -1}
		for n, of := range sides {
			if c.Inconclusive != "" {
				break
			}
			q.World.Clock, q.Cluster = of.Clock, of.Cluster
			if err := q.playSide(ctx, j, fmt.Sprintf("[%d/%d %s] ", i+1, len(jobs), of.Name), &c, n); err != nil {
				return err
			}
		}
		if c.Inconclusive == "" {
			c.First = c.FirstDifference()
			c.Same = c.First < 0 && c.Verdicts[0] == c.Verdicts[1]
		}
		each(c)
	}
	return nil
}

// playSide plays one side of a comparison.
func (q *Queue) playSide(ctx context.Context, j Job, label string, c *Comparison, n int) error {
	played, row, err := q.Replay(ctx, j, label)
	if err != nil {
		return err
	}
	c.Runs[n], c.Verdicts[n], c.WallSeconds[n] = played.Dir, row.Verdict, row.WallSeconds
	if row.Outcome == "inconclusive" {
		c.Inconclusive = fmt.Sprintf("%s: %s", c.Sides[n], row.Reason)
		return nil
	}
	seen, err := summary.Run(ctx, played.Dir, nil, 0)
	if err != nil {
		return err
	}
	if len(seen.Run.Problems) > 0 {
		return fmt.Errorf("reading %s: %s", played.Dir, seen.Run.Problems[0])
	}
	c.Decisions[n], c.Ends[n] = seen.Decisions, seen.End
	return nil
}
