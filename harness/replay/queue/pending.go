package queue

import (
	"context"
	"slices"

	"nodestorm/harness/builds"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/table"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
)

// PlaysPending reports whether replays can begin before all targets are there: not where what one
// is decides whether anything is played at all.
func (q *Queue) PlaysPending() bool {
	return q.Cluster != replay.Kind && q.Manifest == ""
}

// Pending returns the jobs of the records, whether what they need is there or not, and what gets
// the rest: nil if all is there, or if this queue plays for another process, which asks for what
// is there. The caller ends it.
func (q *Queue) Pending(ctx context.Context, records []scenarios.Record) (jobs []Job, pending *supply.Pending, err error) {
	refs, err := q.targetsOf(records)
	if err != nil {
		return nil, nil, err
	}
	var needs []builds.Ref
	for _, r := range records {
		for range r.Targets {
			j := q.Job(r, builds.Target{Manifest: builds.Manifest{Ref: refs[0]}})
			refs = refs[1:]
			parts, err := q.partsOf(q.request(j))
			if err != nil {
				return nil, nil, exit.UsageError(err)
			}
			j.pending, j.needs = true, append([]builds.Ref{builds.Kubernetes, j.Target.Ref}, parts...)
			jobs, needs = append(jobs, j), append(needs, j.needs...)
		}
	}
	if q.Worker {
		return jobs, nil, nil
	}
	have, missing, err := q.Supply.Look(func(t builds.Target) error {
		q.CheckSource(ctx, t)
		q.detailOf(t)
		return q.checkClock(t)
	}, needs...)
	q.found = have
	// mutant: replays that begin with another Kubernetes have it built
	missing = slices.DeleteFunc(missing, builds.Ref.OtherKubernetes) // what needs it is skipped, see Playable
	if err != nil || len(missing) == 0 {
		return jobs, nil, err
	}
	if slices.Contains(missing, builds.Kubernetes) && q.Supply.Registries.From == "" {
		if err := q.Supply.CheckKnown(builds.Kubernetes); err != nil { // nothing could be played
			return nil, nil, exit.UsageError(err)
		}
	}
	q.Output.Remark("getting %s; replays that need none of them start now: %s",
		wording.Counted(len(missing), "target"), supply.Names(missing))
	pending = q.Supply.Begin(ctx, q.Line(), missing)
	q.beside = pending.Text
	return jobs, pending, nil
}

// resolve completes a job whose target has come.
func (q *Queue) resolve(ctx context.Context, j Job) (Job, error) {
	if !j.pending {
		return j, nil
	}
	target, err := q.find(ctx, j.Target.Ref)
	if err != nil {
		return j, err
	}
	if q.Kubernetes, err = q.find(ctx, builds.Kubernetes); err != nil {
		return j, err
	}
	err = checkTarget(j.Record.ID, j.Target.Ref.String(), target)
	j.Target, j.pending = target, false
	return j, err
}

// find returns what the store has of ref: a program and a source folder take a second to look at.
func (q *Queue) find(ctx context.Context, ref builds.Ref) (builds.Target, error) {
	if t, is := q.found[ref]; is {
		return t, nil
	}
	t, err := q.Supply.Find(ref)
	if err == nil {
		q.CheckSource(ctx, t)
		err = replay.CheckClock(q.World.Clock, t)
	}
	if err != nil {
		return t, exit.UsageError(err)
	}
	if q.found == nil {
		q.found = map[builds.Ref]builds.Target{}
	}
	q.found[ref] = t
	return t, nil
}

// SaveRows is called with the rows so far. An error of it ends all.
type SaveRows func([]table.Row) error

// Rounds are how often jobs are played.
type Rounds struct {
	Repeat int
	// Certain stops repeating a job of whose usual outcome this probability is reached; zero never
	// does.
	Certain float64
}

// PlayRounds plays the jobs as often as asked for, those first that do not wait for what is
// pending, which may be nil. keep is called with the rows so far, which begin with before.
func (q *Queue) PlayRounds(
	ctx context.Context, pending *supply.Pending, jobs []Job, r Rounds, before []table.Row, keep SaveRows,
) ([]table.Row, error) {
	rows := before
	q.all = q.ended + len(jobs)*r.Repeat // an earlier call has played some
	for _, round := range rounds(jobs, r.Repeat, r.Certain > 0) {
		planned := len(round)
		round = slices.DeleteFunc(round, func(t Task) bool {
			return r.Certain > 0 && table.RateOf(rows, t.Record.ID, t.Target.Ref.String()).Certainty >= r.Certain
		})
		q.all -= planned - len(round)
		earlier := rows
		played, err := q.playPending(ctx, pending, round, func(soFar []table.Row) error {
			return keep(append(earlier[:len(earlier):len(earlier)], soFar...))
		})
		rows = append(rows, played...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// playPending plays the tasks: one by one those whose needs are there while others are still
// got, and the rest as Play does. Rows of what is not to be had come first. Builds take
// processors, so how many worlds the machine bears is measured when there are none any more.
func (q *Queue) playPending(ctx context.Context, pending *supply.Pending, tasks []Task, keep SaveRows) (rows []table.Row, err error) {
	if pending != nil {
		if q.skipped == nil {
			q.skipped = map[int]bool{}
		}
		w := waiting{pending: pending, play: q.playNow, keep: keep, skipped: q.skipped}
		tasks, rows, err = w.run(ctx, tasks)
		if err != nil {
			return rows, err
		}
		q.beside = nil
	}
	for i := range tasks {
		if tasks[i].Job, err = q.resolve(ctx, tasks[i].Job); err != nil {
			return rows, err
		}
	}
	more, err := q.Play(ctx, tasks, func(more []table.Row) error { return keep(slices.Concat(rows, more)) })
	return slices.Concat(rows, more), err
}

// playNow plays a task while others wait for what they need, and says its verdict at once.
func (q *Queue) playNow(ctx context.Context, pending *supply.Pending, t Task) (row table.Row, err error) {
	pending.Resting(false)
	defer pending.Resting(true)
	if t.Job, err = q.resolve(ctx, t.Job); err != nil {
		return row, err
	}
	_, row, err = q.Replay(ctx, t.Job, t.Label)
	if err == nil {
		q.printRow(row)
	}
	if err == nil && q.Line().Changes() {
		now, _ := pending.State()
		q.Output.Remark("%s on %s: %s, %s; %s left to get",
			row.ID, row.Target, row.Verdict, row.Outcome, wording.Counted(len(now.Left), "target"))
	}
	return row, err
}

// waiting are tasks whose needs are still got.
type waiting struct {
	pending *supply.Pending
	play    func(context.Context, *supply.Pending, Task) (table.Row, error)
	keep    SaveRows
	skipped map[int]bool // jobs that have a row
	skips   []table.Row
	rows    []table.Row
}

// run has the tasks played, one by one, whose needs are there while others are still got, in
// their order, and returns those that are left when all has come. Rows of what is not to be had
// come first.
func (w *waiting) run(ctx context.Context, tasks []Task) (rest []Task, rows []table.Row, err error) {
	for {
		now, failed := w.pending.State()
		if failed != nil {
			return nil, w.all(), exit.UsageError(failed)
		}
		tasks = w.withoutSkipped(tasks, now.Cannot)
		if len(now.Left) == 0 || len(tasks) == 0 {
			return tasks, w.all(), nil
		}
		next := slices.IndexFunc(tasks, func(t Task) bool {
			return !slices.ContainsFunc(t.needs, func(ref builds.Ref) bool { return slices.Contains(now.Left, ref) })
		})
		if next < 0 {
			select {
			case <-now.Changed:
			case <-ctx.Done():
				return nil, w.all(), context.Cause(ctx)
			}
			continue
		}
		row, err := w.play(ctx, w.pending, tasks[next])
		if err != nil {
			return nil, w.all(), err
		}
		w.rows, tasks = append(w.rows, row), slices.Delete(tasks, next, next+1)
		if err := w.keep(w.all()); err != nil {
			return nil, w.all(), err
		}
	}
}

func (w *waiting) all() []table.Row { return slices.Concat(w.skips, w.rows) }

// withoutSkipped leaves out the tasks that lack something, and notes each job of theirs once.
func (w *waiting) withoutSkipped(tasks []Task, cannot map[builds.Ref]error) []Task {
	return slices.DeleteFunc(slices.Clone(tasks), func(t Task) bool {
		lacks := slices.IndexFunc(t.needs, func(ref builds.Ref) bool { return cannot[ref] != nil })
		if lacks >= 0 && !w.skipped[t.Index] {
			w.skipped[t.Index] = true
			w.skips = append(w.skips, Skip(t.Record, t.Target.Ref.String(), cannot[t.needs[lacks]]))
		}
		return lacks >= 0
	})
}
