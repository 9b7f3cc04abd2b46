package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"nodestorm/harness/replay"
	"nodestorm/harness/run"
	"nodestorm/harness/run/summary"
	"nodestorm/harness/world"
	"nodestorm/reports"
	"nodestorm/reports/matrix"
	"nodestorm/reports/page"
	"nodestorm/reports/redact"
	"nodestorm/reports/story"
	"nodestorm/sim/history"
)

// follow serves the page of a run that is going on, whose history from returns
// once there is one.
func (e *env) follow(about story.Run, from func() *history.Log) (*page.Live, error) {
	about.Live = true
	seen := -1
	return page.Serve(about, func() *story.Story {
		log := from()
		if log == nil {
			return nil
		}
		records := log.Since(0)
		if len(records) == seen {
			return nil
		}
		seen = len(records)
		about.Epoch = log.Start()
		return story.From(about, scanned(records))
	})
}

// serve serves the page of a replay, if the command is to. ready wants its world
// and ended its folder; both are never nil.
func (s *session) serve(ctx context.Context, request replay.Request) (ready func(*world.World), ended func(dir string), err error) {
	ready, ended = func(*world.World) {}, func(string) {}
	if !s.live {
		return ready, ended, nil
	}
	provenance, err := request.Provenance(ctx)
	if err != nil {
		return ready, ended, usage(err)
	}
	about := summary.Describe(run.Run{
		ID: request.Record.ID, Seed: s.World.Seed, Commit: provenance.Nodestorm.Commit, Started: time.Now(),
		Target: request.Target.Manifest, Kubernetes: s.Kubernetes.Manifest, Provenance: &provenance,
	}, s.catalogue)
	var log atomic.Pointer[history.Log]
	live, err := s.follow(about, log.Load)
	if err != nil {
		return ready, ended, err
	}
	s.remark("the run can be watched at %s", live.URL())
	return func(w *world.World) { log.Store(w.History()) }, func(dir string) {
		told, err := summary.Run(dir, s.catalogue, 0)
		if err != nil {
			told = nil // what there was stays
		}
		live.Close(told)
	}, nil
}

// scanned gives away records that are there already.
func scanned(records []history.Record) func(func(history.Record)) []string {
	return func(each func(history.Record)) []string {
		for _, r := range records {
			each(r)
		}
		return nil
	}
}

// finish prints the rows, writes their reports, and turns the rows into the exit
// status. A report that cannot be written takes nothing from what was seen.
func (s *session) finish(rows []reports.Row, asJSON bool) error {
	concluded := s.conclude(rows, asJSON, s.strict)
	index, err := s.publish(rows)
	switch {
	case err != nil:
		s.say("no report: %v", err)
	case index != "" && asJSON:
		s.remark("report: %s", index)
	case index != "":
		fmt.Fprintf(s.stdout, "\nWhat happened, for a browser: %s\n", index)
	}
	return concluded
}

// publish writes a page for each run, one for the two sides of a failure where
// both were replayed, and an index of them all, whose path it returns, with what
// has changed since the last; empty if nothing was run.
func (s *session) publish(rows []reports.Row) (string, error) {
	r := &reporter{env: s.env, catalogue: s.catalogue}
	var found []stored
	var without []matrix.Skip
	redactor := redact.ForHere()
	for _, row := range rows {
		if row.Run == "" {
			without = append(without, matrix.Skip{Scenario: row.ID, Target: row.Target, Reason: redactor.Text(row.Reason)})
			continue
		}
		f := stored{row.Run, row.Run, filepath.Join(row.Run, run.ReportFile)}
		if err := r.page(f.page, f.dir); err != nil { // in the place of one that a shard has left
			return "", err
		}
		found = append(found, f)
	}
	if len(rows) == 0 {
		return "", nil
	}
	known := documented(s.catalogue)
	for i := range known {
		beside, err := r.sides(rows, known[i].ID, s.Out)
		if err != nil {
			return "", err
		}
		if beside != "" {
			known[i].Beside = relative(s.Out, beside)
		}
	}
	cells, _ := s.cells(found, s.catalogue, s.Out) // what it could not read it has said
	m := matrix.New(time.Now(), known, cells)
	m.Skipped = without
	m.Filter(matrix.Filter{}) // leaves failures out that were not replayed
	index, last := filepath.Join(s.Out, "index.html"), filepath.Join(s.Out, "matrix.json")
	if old, err := readMatrix(last); err == nil { // the one of before is no reason to have no new one
		m.Since(old.Of(m))
	}
	for path, format := range map[string]string{index: "html", last: "json"} {
		if err := r.file(path, func(w io.Writer) error { return m.Write(w, format) }); err != nil {
			return "", err
		}
	}
	return index, nil
}

// sides writes the page of the last run that showed a failure beside the last
// that did not below out, and returns where it is, or "" if there are not both.
func (r *reporter) sides(rows []reports.Row, id, out string) (string, error) {
	last := func(verdict string) string {
		for _, row := range slices.Backward(rows) {
			if row.ID == id && row.Verdict == verdict && row.Run != "" {
				return row.Run
			}
		}
		return ""
	}
	affected, fixed := last("reproduced"), last("healthy")
	if affected == "" || fixed == "" {
		return "", nil
	}
	path := filepath.Join(out, id, "side-by-side.html")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return path, r.page(path, affected, fixed)
}
