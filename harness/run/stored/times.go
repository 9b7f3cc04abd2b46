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
	"nodestorm/reports/redact"
	"nodestorm/reports/timeline"
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
	events := &history.Stored{Path: filepath.Join(f.Dir, run.HistoryFile), Context: ctx, Late: late.Most}
	return writeTimes(w, r.Catalogue, f, of, events)
}

// writeTimes writes the events of a run, without what must not be shown.
func writeTimes(w io.Writer, catalogue *scenarios.Catalogue, f Run, of run.Run, events history.Entries) error {
	fmt.Fprintf(w, "%s on %s\n", of.ID, of.Target.Ref)
	redactor := redact.ForHere(kept.HasWord(catalogue, f.Dir))
	err := redactor.CopyFrom(w, func(w io.Writer) error {
		all := slices.Collect(events.Timed())
		return cmp.Or(timeline.Write(w, all), timeline.Measures(w, measure.OfRun(slices.Values(all))))
	})
	return cmp.Or(err, events.Err())
}
