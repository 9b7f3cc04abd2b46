package replays

import (
	"context"
	"sync/atomic"
	"time"

	"nodestorm/harness/replay"
	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/summary"
	"nodestorm/harness/world"
	"nodestorm/reports/page"
	"nodestorm/reports/story"
	"nodestorm/reports/table"
	"nodestorm/sim/history"
)

// follow serves the page of a run that is going on, whose history from returns
// once there is one.
func follow(about story.Run, from func() *history.Log) (*page.Live, error) {
	about.Live = true
	seen := -1
	return page.Serve(about, func() *story.Story {
		log := from()
		if log == nil {
			return nil
		}
		events := log.Since(0)
		if len(events) == seen {
			return nil
		}
		seen = len(events)
		about.Epoch = log.Start()
		return story.From(about, scanned(events))
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
		return ready, ended, exit.UsageError(err)
	}
	about := summary.Describe(run.Run{
		ID: request.Record.ID, Seed: s.World.Seed, Commit: provenance.Nodestorm.Commit, Started: time.Now(),
		Target: request.Target.Manifest, Kubernetes: s.Kubernetes.Manifest, Provenance: &provenance,
	}, s.Catalogue)
	var log atomic.Pointer[history.Log]
	live, err := follow(about, log.Load)
	if err != nil {
		return ready, ended, err
	}
	s.Remark("the run can be watched at %s", live.URL())
	return func(w *world.World) { log.Store(w.History()) }, func(dir string) {
		played, err := summary.Run(ctx, dir, s.Catalogue, 0)
		if err != nil {
			played = nil // what there was stays
		}
		live.Close(played)
	}, nil
}

// scanned gives away events that are there already.
func scanned(events []history.Entry) func(func(history.Entry)) []string {
	return func(each func(history.Entry)) []string {
		for _, r := range events {
			each(r)
		}
		return nil
	}
}

// finish prints the rows, and writes their reports, see console.Finish.
func (s *session) finish(ctx context.Context, rows []table.Row, asJSON bool) error {
	return s.Finish(ctx, s.Catalogue, rows, s.Out, asJSON, s.strict)
}
