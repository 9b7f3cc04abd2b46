package stored

import (
	"context"
	"io"

	"nodestorm/harness/run"
	"nodestorm/harness/run/crosscheck"
	"nodestorm/harness/run/kept"
	"nodestorm/harness/run/summary"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports/table"
	"nodestorm/scenarios"
)

// Rejudgement is what came of judging stored runs again.
type Rejudgement struct {
	Rows     []table.Row
	Unjudged []string // names of runs that could not be
	// Judged of the Thens were judged by the histories, AsRecorded were not.
	Judged, AsRecorded int
	// Logs are how many of the targets' own logs were held against the histories, and OwnLogs
	// what they have.
	Logs    int
	OwnLogs crosscheck.Counts
}

// Recheck judges runs again with a catalogue. What differs from the judgement of then is said.
// times, which may be nil, gets the histories.
func Recheck(
	ctx context.Context, found []Run, catalogue *scenarios.Catalogue, say func(format string, args ...any), times io.Writer,
) (*Rejudgement, error) {
	all := &Rejudgement{Rows: []table.Row{}}
	for _, f := range found {
		again, err := run.Recheck(ctx, f.Dir, kept.Records(catalogue))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			say("%s", f.ErrorText(err))
			all.Unjudged = append(all.Unjudged, f.Name)
			continue
		}
		all.add(f, &again, say)
		if like := again.Likeness(ctx, catalogue); like != "" {
			all.Rows[len(all.Rows)-1].Reason += "; " + like
		}
		if times == nil {
			continue
		}
		of := again.Run
		of.Judgement, of.Expected = again.Now, again.Expected
		if err := writeTimes(times, catalogue, f, of, again.Events, true); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (all *Rejudgement) add(f Run, again *run.Rechecked, say func(format string, args ...any)) {
	for _, doubt := range again.Doubts {
		say("%s: %s", f.Name, doubt)
	}
	if log := again.OwnLog; log != nil {
		all.OwnLogs.Add(log.Counts)
		all.Logs++
		again.Run.OwnLog, again.Run.Judgement = log, again.Now
		for _, said := range again.Run.Unexplained() {
			say("%s: %s", f.Name, said)
		}
	}
	all.Judged, all.AsRecorded = all.Judged+again.Thens.Again, all.AsRecorded+again.Thens.AsRecorded
	for _, difference := range again.Differences() {
		say("%s: %s", f.Name, difference)
	}
	other := ""
	if p := again.Run.Provenance; p != nil && p.ControlPlane != nil {
		other = summary.KubernetesVersion(again.Run)
	}
	all.Rows = append(all.Rows, table.Row{
		ID: again.Run.ID, Target: again.Run.Target.Ref.String(), Own: summary.NamedSo(again.Run.Target), Kubernetes: other,
		Expected: string(again.Expected), Verdict: string(again.Now.Verdict),
		Outcome: string(verdict.Compare(again.Expected, again.Now.Verdict)), Reason: again.Now.Reason,
		VirtualSeconds: again.Run.Clock.Virtual.Seconds(), Factor: again.Run.Clock.Mean,
		WallSeconds: again.Run.Took().Seconds(),
		LagP99Ms:    float64(again.Run.Clock.Lag.P99) / 1e6, Run: f.Name,
		Programs: table.Lateness(again.Run.Clock),
	})
}
