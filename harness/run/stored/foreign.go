package stored

import (
	"context"
	"fmt"
	"iter"

	"nodestorm/harness/run"
	"nodestorm/harness/run/kept"
	"nodestorm/reports/timeline"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
)

// Foreign is a symptom in the run of another scenario, for machines.
type Foreign struct {
	ID        string   `json:"id"` // of the symptom
	Statement string   `json:"statement"`
	Scenario  string   `json:"scenario"` // of the run
	Target    string   `json:"target"`
	Verdict   string   `json:"verdict"`
	Evidence  []uint64 `json:"evidence"`
	Run       string   `json:"run"`
}

// Crossed is what came of looking for symptoms in the runs of other scenarios.
type Crossed struct {
	Foreign        []Foreign
	Judged, Unsure int // runs; of Unsure a symptom or the whole run could not be judged
}

// Cross judges every symptom on the runs of all other scenarios, one run in memory
// at a time, as long as ctx lasts. seen gets each that is there, in words.
func Cross(
	ctx context.Context, found []Run, catalogue *scenarios.Catalogue, say func(format string, args ...any), seen func(text string),
) (Crossed, error) {
	c := Crossed{Foreign: []Foreign{}}
	for _, f := range found {
		again, err := run.Recheck(ctx, f.Dir, kept.Records(catalogue))
		if ctx.Err() != nil {
			return c, context.Cause(ctx)
		}
		if err != nil {
			say("%s", f.ErrorText(err))
			c.Unsure++
			continue
		}
		if doubt := doubtOf(again); doubt != "" {
			say("%s: not judged: %s", f.Name, doubt)
			c.Unsure++
			continue
		}
		c.Judged++
		for _, of := range again.Cross(ctx, catalogue) {
			if of.Finding.GaveUp {
				say("%s: the symptom of %s: %s", f.Name, of.ID, of.Finding.Reason)
				c.Unsure++
				continue
			}
			foreign := Foreign{
				ID: of.ID, Statement: of.Finding.Statement, Scenario: again.Run.ID, Target: again.Run.Target.Ref.String(),
				Verdict: string(again.Now.Verdict), Evidence: of.Finding.Evidence, Run: f.Name,
			}
			c.Foreign = append(c.Foreign, foreign)
			seen(foreign.text(again.Events.Timed()))
		}
	}
	return c, context.Cause(ctx)
}

// doubtOf is why nothing may be concluded from a history; empty if something may.
func doubtOf(again run.Rechecked) string {
	if len(again.Doubts) > 0 {
		return again.Doubts[0]
	}
	all := checker.NewCompleteness()
	for r := range again.Events.Arrived() {
		all.Add(r)
	}
	return all.Incomplete()
}

// text names both records, the place, and the way out.
func (f Foreign) text(events iter.Seq[history.Entry]) string {
	place := ""
	for r := range events {
		if len(f.Evidence) > 0 && r.Seq == f.Evidence[0] {
			place = " from " + timeline.Offset(r.Virtual) + " on"
		}
	}
	out := fmt.Sprintf("name %s in its kin if they are the same failure, else tighten it", f.Scenario)
	if f.Verdict == "healthy" {
		out = "the run is healthy: tighten it"
	}
	return fmt.Sprintf("the symptom of %s is in a run of %s on %s (%s)%s, events %v: %s; %s: %s",
		f.ID, f.Scenario, f.Target, f.Verdict, place, f.Evidence, f.Statement, out, f.Run)
}
