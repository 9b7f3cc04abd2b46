package stored

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"nodestorm/harness/run"
	"nodestorm/harness/run/kept"
	"nodestorm/harness/run/summary"
	"nodestorm/reports/redact"
	"nodestorm/reports/timeline"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/history/measure"
)

// Timeline writes the history of a run as text, a line for each event in virtual time. What puts the
// run in doubt is said.
func (r *Reporter) Timeline(ctx context.Context, w io.Writer, f Run) error {
	of, err := run.Load(f.Dir)
	if err != nil {
		return err
	}
	var late history.Lateness
	doubts, err := of.Read(ctx, f.Dir, nil, late.Add)
	if err != nil {
		return fmt.Errorf("reading a run: %w", err)
	}
	for _, doubt := range doubts {
		r.Say("%s: %s", f.Name, doubt)
	}
	if len(doubts) > 0 && of.Verdict != "" {
		of.Judgement = run.Doubtful(doubts)
	}
	events := &history.Stored{Path: filepath.Join(f.Dir, run.HistoryFile), Context: ctx, Late: late.Most}
	return writeTimes(w, r.Catalogue, f, of, events, r.Pace)
}

// writeTimes writes what a run was, what came of it and its events, without what must not be shown. How
// virtual time passed is there if pace is asked for.
func writeTimes(w io.Writer, catalogue *scenarios.Catalogue, f Run, of run.Run, events history.Entries, pace bool) error {
	redactor := redact.ForHere(kept.HasWord(catalogue, f.Dir))
	err := redactor.CopyFrom(w, func(w io.Writer) error {
		all := slices.Collect(events.Timed())
		shown, left := all, 0
		if !pace {
			shown, left = timeline.WithoutPace(all)
		}
		err := cmp.Or(timeline.Head(w, summary.Describe(of, nil)), timeline.Write(w, shown))
		if err == nil && left > 0 {
			_, err = fmt.Fprintf(w, "(without %s of the clock, which -v shows)\n", wording.Counted(left, "line"))
		}
		return cmp.Or(err, timeline.Measures(w, measure.OfRun(slices.Values(all))))
	})
	return cmp.Or(err, events.Err())
}
