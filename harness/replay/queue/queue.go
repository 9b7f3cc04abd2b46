// Package queue plays jobs, each a scenario on a target: one by one in this process, or several
// at a time, each in a process of its own, so that what comes of them is what comes of the
// sequence. Jobs can be played while builds that others need are still to come.
package queue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run"
	"nodestorm/harness/run/kept"
	"nodestorm/harness/run/summary"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/world"
	"nodestorm/harness/world/memory"
	"nodestorm/reports/table"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
	"nodestorm/sim/time/lag"
)

// Most bounds the worlds of one command: each has an equal part of the ports.
const Most = 64

// Queue says how jobs are played, and plays them. Supply and Output are required.
type Queue struct {
	replay.Settings
	Supply *supply.Supplier
	Output supply.Output
	// Release is the release of Kubernetes whose control plane is taken; its zero value is
	// nodestorm's own.
	Release builds.Ref
	// Catalogue has the records that are played, and Features their features' root.
	Catalogue *scenarios.Catalogue
	Features  fs.FS
	// AtOnce is how many jobs play at a time; zero is to be measured with the first.
	AtOnce int
	// NoRetry keeps a run that was late, in place of playing it again.
	NoRetry bool
	// Args are those with which another process of this program comes to the same jobs.
	Args []string
	// Worker marks a queue that plays for another process, which says what there is to say.
	Worker bool
	// Serve, if given, serves a page of each replay: it returns what is called with its world,
	// and what is called with its folder in the end.
	Serve func(context.Context, replay.Request) (ready func(*world.World), ended func(dir string), err error)

	lineOnce sync.Once
	line     supply.Line
	beside   func() string                // what goes on beside the replays; nil: nothing
	found    map[builds.Ref]builds.Target // see find
	skipped  map[int]bool                 // jobs that have a row that says so
	plane    string                       // the one that was said to be played on

	counting   sync.Mutex
	ended, all int // how many replays have ended, and of how many
}

// printRow prints a line for a replay that has ended, where lines follow each other.
func (q *Queue) printRow(row table.Row) {
	q.counting.Lock()
	defer q.counting.Unlock()
	q.ended++
	if q.Worker || q.all < 2 || q.Line().Changes() {
		return
	}
	number := fmt.Sprintf("[%d/%d] ", q.ended, max(q.all, q.ended))
	q.Line().Show(number, wording.Clean(number+row.Line()), "")
	q.Line().Clear()
}

// Line is where the progress of replays is shown.
func (q *Queue) Line() supply.Line {
	q.lineOnce.Do(func() { q.line = q.Output.NewLine() })
	return q.line
}

// newBoard shows the worlds of so many jobs; zero: their number is not known.
func (q *Queue) newBoard(jobs int) *board {
	return &board{line: q.Line(), output: q.Output, beside: q.beside, worlds: map[int]*worldLine{}, all: jobs, alone: !q.Worker && q.all == 1}
}

// Replay plays a job in this process, again while it is late, and returns the row of it. Its
// progress begins with the label.
func (q *Queue) Replay(ctx context.Context, j Job, label string) (replay.Result, table.Row, error) {
	b := q.newBoard(1)
	defer b.line.Clear()
	watch, stop := watching(func(step string, f lag.Figures) {
		b.step(0, fmt.Sprintf("%s%s %s", label, j.Record.ID, j.Target.Ref), step, f)
	})
	defer stop()
	return q.replay(ctx, q.request(j), watch, q.undistorted(func(text string) { b.message("%s", text) }))
}

// play plays a request, see replay.Run.
type play func(context.Context, replay.Request) (replay.Result, error)

// undistorted plays a run again while it is late, and says so, unless that is not wanted.
func (q *Queue) undistorted(say func(string)) play {
	if q.NoRetry {
		return replay.Run
	}
	return func(ctx context.Context, r replay.Request) (replay.Result, error) {
		return replay.Undistorted(ctx, r, func(discarded replay.Result) {
			say(fmt.Sprintf("%s on %s does not count, and runs again: %s; this one is kept in %s",
				r.Record.ID, r.Target.Ref, discarded.Clock.Distorted(), filepath.Base(discarded.Dir)))
		})
	}
}

// request is what a job is to a replay.
func (q *Queue) request(j Job) replay.Request {
	r := replay.Request{Settings: q.ForCluster(q.Cluster), Record: j.Record, Target: j.Target, Features: j.Features, Own: j.Own}
	if j.Out != "" {
		r.Out = j.Out
	}
	// mutant: all jobs of a queue have the same seed
	if j.Adjust != nil {
		j.Adjust(&r)
	}
	return r
}

// replay gets what a replay needs beside its target, has it played, and returns the row of it.
func (q *Queue) replay(
	ctx context.Context, request replay.Request, watch watcher, play play,
) (result replay.Result, row table.Row, err error) {
	if err := q.ensureParts(ctx, request); err != nil {
		return result, row, err
	}
	request.Watch = watch
	ended := func(string) {}
	if q.Serve != nil {
		if request.Ready, ended, err = q.Serve(ctx, request); err != nil {
			return result, row, err
		}
	}
	result, err = play(ctx, request)
	ended(result.Dir)
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("%w; make room, or put the runs on another disk with --out", err)
	}
	if err != nil {
		return result, row, err
	}
	q.Line().Clear()
	q.Output.Detail("%s on %s is kept in %s", request.Record.ID, request.Target.Ref, result.Dir)
	row = rowOf(request, result)
	if like := q.likeness(ctx, result); like != "" {
		row.Reason += "; " + like
	}
	return result, row, nil
}

// likeness says which other records' failures a failed run shows, see run.Rechecked.
func (q *Queue) likeness(ctx context.Context, result replay.Result) string {
	if result.Verdict != verdict.Failed || q.Catalogue == nil {
		return ""
	}
	again, err := run.Recheck(ctx, result.Dir, kept.Records(q.Catalogue))
	if err != nil { // recheck of it says so
		return ""
	}
	return again.Likeness(ctx, q.Catalogue)
}

// rowOf returns the row of a run.
func rowOf(request replay.Request, result replay.Result) table.Row {
	return table.Row{
		ID:             request.Record.ID,
		Target:         request.Target.Ref.String(),
		Own:            summary.NamedSo(request.Target.Manifest),
		Kubernetes:     request.ControlPlane.String(),
		Expected:       string(result.Expected),
		Verdict:        string(result.Verdict),
		Outcome:        string(verdict.Compare(result.Expected, result.Verdict)),
		Reason:         result.Reason,
		WallSeconds:    result.Wall.Seconds(),
		VirtualSeconds: result.Clock.Virtual.Seconds(),
		Factor:         result.Clock.Mean,
		LagP99Ms:       float64(result.Clock.Lag.P99) / float64(time.Millisecond),
		Programs:       table.Lateness(result.Clock),
		Run:            result.Dir,
	}
}

// Play plays the tasks, several at a time if that is asked for or the machine bears it, and
// returns their rows in order. keep, which may be nil, is called with those there are so far.
// With an error, the rows are those of before it.
func (q *Queue) Play(ctx context.Context, tasks []Task, keep SaveRows) (rows []table.Row, err error) {
	if keep == nil {
		keep = func([]table.Row) error { return nil }
	}
	q.all = max(q.all, len(tasks))
	for i, t := range tasks {
		if q.AtOnce > 1 && len(tasks)-i > 1 {
			others, err := q.PlayParallel(ctx, tasks[i:], func(more []table.Row) error { return keep(append(rows[:i:i], more...)) })
			return append(rows, others...), err
		}
		row, err := q.replayAndMeasure(ctx, t.Job, t.Label)
		if err == nil {
			q.printRow(row)
			rows = append(rows, row)
			err = keep(rows)
		}
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// replayAndMeasure plays a job in this process. If it is not known how many can play at a time it
// is from then on.
func (q *Queue) replayAndMeasure(ctx context.Context, j Job, label string) (table.Row, error) {
	meter, _ := NewMeter() // of one that cannot measure, one at a time comes
	_, row, err := q.Replay(ctx, j, label)
	if err == nil && q.AtOnce == 0 {
		q.measured(meter)
	}
	return row, err
}

// measured has as many worlds play at a time from now on as the machine bears, by what the
// first has asked of it.
func (q *Queue) measured(meter Meter) {
	q.AtOnce = 1
	load, err := meter.Load()
	if err != nil {
		return // not here
	}
	n := min(load.AtOnce(), Most)
	if free, err := memory.Free(); err == nil {
		n = min(n, int(free/memory.World))
	}
	if n > 1 {
		q.AtOnce = n
		q.Output.Remark("the first world kept %s: from now on %d play at a time; --parallel 1 has them play one by one", load, n)
	}
}

// PlayParallel plays the tasks at a time, each in a process of its own.
func (q *Queue) PlayParallel(ctx context.Context, tasks []Task, keep SaveRows) ([]table.Row, error) {
	for _, t := range tasks { // what several would build at once, is built before
		if err := q.ensureParts(ctx, q.request(t.Job)); err != nil {
			return nil, err
		}
	}
	w := &workers{queue: q, board: q.newBoard(len(tasks)), of: min(q.AtOnce, len(tasks))}
	w.board.parallel = true
	defer w.board.line.Clear()
	left := make([]string, len(tasks)) // the folders of the runs that do not count
	rows, err := Sequence(ctx, len(tasks), w.of, Steps[table.Row]{
		Parallel: func(ctx context.Context, worker, i int) (table.Row, bool, error) {
			row, err := w.play(ctx, worker, tasks[i], tasks[i].request())
			// mutant: at a time, what neighbours made late counts
			again := err == nil && row.Verdict == string(verdict.Inconclusive) && !q.NoRetry
			if err == nil && !again {
				q.printRow(row)
			}
			if again {
				left[i] = w.folder(worker)
				w.board.message("%s on %s does not count beside others, and is played again alone: %s", row.ID, row.Target, row.Reason)
			}
			return row, again, err
		},
		Alone: func(ctx context.Context, i int) (row table.Row, err error) {
			r := tasks[i].request()
			r.Alone = true
			// mutant: at a time, the run that does not count keeps the folder's name
			if left[i] != "" {
				if r.InPlaceOf, err = run.Discard(left[i]); err != nil {
					return row, err
				}
			}
			row, err = w.play(ctx, 0, tasks[i], r)
			if err == nil {
				q.printRow(row)
			}
			return row, err
		},
		Done: keep,
		Fewer: func(n int) {
			q.AtOnce = n
			w.board.message("from now on %s", atATime(n))
		},
	})
	return rows, errors.Join(err, w.close())
}

func atATime(n int) string {
	if n == 1 {
		return "one plays at a time"
	}
	return fmt.Sprintf("%d play at a time", n)
}
