package cli

import (
	"context"
	"fmt"
	"slices"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay"
	"nodestorm/reports"
	"nodestorm/scenarios"
)

// playsAsTheyCome tells whether replays begin before all targets are there: not where what one
// is decides whether anything is played at all.
func (s *session) playsAsTheyCome(sides int) bool {
	return sides == 1 && s.Cluster != replay.Kind && s.Manifest == "" && s.kubernetesName == ""
}

// coming are the jobs of the records, whether what they need is there or not, and the supply
// of what is not: none if all is there, or if we play for another process, which asks for what
// is there.
func (s *session) coming(ctx context.Context, records []scenarios.Record) (jobs []job, coming *supply, err error) {
	if s.With, err = s.chosenParts(ctx); err != nil { // before anything is got
		return nil, nil, err
	}
	var needs []builds.Ref
	for _, r := range records {
		for _, of := range r.Targets {
			ref, err := builds.ParseRef(of.Name)
			if err != nil {
				return nil, nil, usage(err)
			}
			j := job{record: r, target: builds.Target{Manifest: builds.Manifest{Ref: s.buildFor(ref, r)}}, coming: true}
			all, err := s.needs(j)
			if err != nil {
				return nil, nil, usage(err)
			}
			j.needs = all
			jobs, needs = append(jobs, j), append(needs, all...)
		}
	}
	if s.player != nil {
		return jobs, nil, nil
	}
	have, missing, err := s.look(func(t builds.Target) error {
		s.checkSource(ctx, t)
		s.detail("%s is the build of %s in %s", t.Ref, t.BuiltAt.Format("2006-01-02 15:04"), t.Dir)
		return usage(replay.CheckClock(s.World.Clock, t))
	}, needs...)
	s.have = have
	if err != nil || len(missing) == 0 {
		return jobs, nil, err
	}
	if slices.Contains(missing, builds.Kubernetes) && registriesOfEnvironment().From == "" {
		if _, unknown := buildstore.Known(builds.Kubernetes); unknown != nil { // nothing could be played
			return nil, nil, usage(s.unobtainable(builds.Kubernetes, unknown))
		}
	}
	s.remark("%s to get, which replays do not wait for that need others: %s", counted(len(missing), "target"), targetNames(missing))
	coming = s.newSupply(ctx, s.status, missing)
	s.status.beside = coming.beside
	return jobs, coming, nil
}

// needs are the builds that a replay takes out of the store.
func (s *session) needs(j job) ([]builds.Ref, error) {
	parts, err := s.partsFor(j.record)
	return append([]builds.Ref{builds.Kubernetes, j.target.Ref}, parts...), err
}

// there completes a job whose target has come.
func (s *session) there(ctx context.Context, j *job) (err error) {
	named := j.target.Ref
	if j.target, err = s.foundOnce(ctx, named); err != nil {
		return err
	}
	j.coming = false
	if s.Kubernetes, err = s.foundOnce(ctx, builds.Kubernetes); err != nil {
		return err
	}
	if got := j.target.Ref; got.String() != named.String() { // nothing that follows could be believed
		return fmt.Errorf("%s is to be played on %s, and the build at hand is %s: this is a fault of nodestorm's", j.record.ID, named, got)
	}
	return nil
}

// foundOnce is what the store has of ref: a program and a source folder take a second to look at.
func (s *session) foundOnce(ctx context.Context, ref builds.Ref) (builds.Target, error) {
	if t, is := s.have[ref]; is {
		return t, nil
	}
	t, err := s.found(ref)
	if err == nil {
		s.checkSource(ctx, t)
		err = replay.CheckClock(s.World.Clock, t)
	}
	if err != nil {
		return t, usage(err)
	}
	if s.have == nil {
		s.have = map[builds.Ref]builds.Target{}
	}
	s.have[ref] = t
	return t, nil
}

// playComing plays the tasks: one by one those whose needs are there while others are still
// got, and the rest as play does. Rows of what is not to be had come first. Builds take
// processors, so how many worlds the machine bears is measured when there are none any more.
func (s *session) playComing(ctx context.Context, coming *supply, tasks []task, keep func([]reports.Row) error) (rows []reports.Row, err error) {
	if coming != nil {
		tasks, rows, err = coming.play(ctx, tasks, func(t task) (reports.Row, error) { return s.playNow(ctx, coming, t) }, keep)
		if err != nil {
			return rows, err
		}
		s.status.beside = nil
	}
	for i := range tasks {
		if tasks[i].coming {
			if err := s.there(ctx, &tasks[i].job); err != nil {
				return rows, err
			}
		}
	}
	more, err := s.play(ctx, tasks, func(more []reports.Row) error { return keep(slices.Concat(rows, more)) })
	return slices.Concat(rows, more), err
}

// play has the tasks played, one by one, whose needs are there while others are still got, in
// their order, and returns those that are left when all has come. Rows of what is not to be had
// come first.
func (s *supply) play(ctx context.Context, tasks []task, play func(task) (reports.Row, error), keep func([]reports.Row) error) (rest []task, rows []reports.Row, err error) {
	var skips []reports.Row
	for {
		left, cannot, changed, failed := s.now()
		if failed != nil {
			return nil, slices.Concat(skips, rows), usage(failed)
		}
		tasks = slices.DeleteFunc(slices.Clone(tasks), func(t task) bool {
			lacks := slices.IndexFunc(t.needs, func(ref builds.Ref) bool { return cannot[ref] != nil })
			if lacks >= 0 && !s.skipped[t.index] {
				s.skipped[t.index] = true
				skips = append(skips, skip(t.job, cannot[t.needs[lacks]]))
			}
			return lacks >= 0
		})
		if len(left) == 0 || len(tasks) == 0 {
			return tasks, slices.Concat(skips, rows), nil
		}
		next := slices.IndexFunc(tasks, func(t task) bool {
			return !slices.ContainsFunc(t.needs, func(ref builds.Ref) bool { return slices.Contains(left, ref) })
		})
		if next < 0 {
			select {
			case <-changed:
			case <-ctx.Done():
				return nil, slices.Concat(skips, rows), context.Cause(ctx)
			}
			continue
		}
		row, err := play(tasks[next])
		if err != nil {
			return nil, slices.Concat(skips, rows), err
		}
		rows, tasks = append(rows, row), slices.Delete(tasks, next, next+1)
		if err := keep(slices.Concat(skips, rows)); err != nil {
			return nil, slices.Concat(skips, rows), err
		}
	}
}

// playNow plays a task while others wait for what they need, and tells its verdict at once.
func (s *session) playNow(ctx context.Context, coming *supply, t task) (reports.Row, error) {
	coming.rest(false)
	defer coming.rest(true)
	if t.coming {
		if err := s.there(ctx, &t.job); err != nil {
			return reports.Row{}, err
		}
	}
	_, row, err := s.replay(ctx, t.record, t.target, t.label)
	if err == nil {
		left, _, _, _ := coming.now()
		s.remark("%s on %s: %s, %s; %s left to get", row.ID, row.Target, row.Verdict, row.Outcome, counted(len(left), "target"))
	}
	return row, err
}

// skip is the row of a job that cannot be played.
func skip(j job, why error) reports.Row {
	expected := string(j.record.Expected(j.target.Ref.String()))
	return reports.Row{ID: j.record.ID, Target: j.target.Ref.String(), Expected: expected, Verdict: skipped, Outcome: skipped, Reason: why.Error()}
}
