package queue

import (
	"context"
	"fmt"
	"io/fs"

	"nodestorm/harness/builds"
	"nodestorm/harness/replay"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports/table"
	"nodestorm/scenarios"
)

// Job is a scenario that is played on a target.
type Job struct {
	Record   scenarios.Record
	Features fs.FS // the features' root
	Own      fs.FS // the files of a scenario that is the user's own
	Target   builds.Target
	// Out is the folder of its run; empty means that of the settings.
	Out string
	// Adjust, if given, makes the replay another than the queue's others, such as one with another seed.
	Adjust func(*replay.Request)

	feature string       // a file that another process reads, which knows no such job
	pending bool         // the target is only a name yet, see Queue.Pending
	needs   []builds.Ref // of one that is pending: all that its replay takes out of the store
}

// Task is a job in the order of the sequence.
type Task struct {
	Job
	Index int    // of the job
	Label string // with which its progress begins
}

// request asks a worker for the job.
func (t Task) request() workRequest {
	return workRequest{Job: t.Index, Feature: t.feature, ID: t.Record.ID, Target: t.Target.Ref.String(), Out: t.Out}
}

// Tasks are the jobs, each once.
func Tasks(jobs []Job) []Task {
	tasks := make([]Task, len(jobs))
	for i, j := range jobs {
		tasks[i] = Task{Job: j, Index: i}
	}
	return tasks
}

// rounds are the jobs as often as asked for: all in one round, or each round's for itself,
// where the results of one decide which jobs play in the next.
func rounds(jobs []Job, repeat int, apart bool) (rounds [][]Task) {
	for n := range repeat {
		tasks := Tasks(jobs)
		for i := range tasks {
			tasks[i].Label = fmt.Sprintf("[%d/%d] ", n*len(jobs)+i+1, repeat*len(jobs))
		}
		if n == 0 || apart {
			rounds = append(rounds, nil)
		}
		last := &rounds[len(rounds)-1]
		*last = append(*last, tasks...)
	}
	return rounds
}

// Job is the replay of a record on a target.
func (q *Queue) Job(r scenarios.Record, target builds.Target) Job {
	return Job{Record: r, Features: q.Features, Own: q.Catalogue.FilesOf(r.ID), Target: target}
}

// Skip returns the row of a replay that is not played.
func Skip(r scenarios.Record, target string, why error) table.Row {
	return table.Row{
		ID: r.ID, Target: target, Expected: string(r.Expected(target)), Verdict: table.Skipped, Outcome: table.Skipped, Reason: why.Error(),
	}
}

// crashed returns the row of a replay whose process has ended.
func crashed(r scenarios.Record, request workRequest, why error) table.Row {
	expected := r.Expected(request.Target)
	return table.Row{
		ID: request.ID, Target: request.Target, Expected: string(expected), Verdict: string(verdict.Inconclusive),
		Outcome: string(verdict.Compare(expected, verdict.Inconclusive)), Reason: why.Error(),
	}
}

// Jobs gets all targets of the records before anything is replayed. Rows are of targets that
// cannot be had.
func (q *Queue) Jobs(ctx context.Context, records []scenarios.Record) (jobs []Job, rows []table.Row, err error) {
	refs, err := q.targetsOf(records)
	if err != nil {
		return nil, nil, err
	}
	without := map[builds.Ref]error{}
	have, err := q.Open(ctx, func(ref builds.Ref, err error) error {
		without[ref] = err
		if ref.Name == builds.Kubernetes.Name {
			return exit.UsageError(err)
		}
		return nil
	}, refs...)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range records {
		for _, of := range r.Targets {
			ref := refs[0]
			refs = refs[1:]
			if cannot := without[ref]; cannot != nil {
				rows = append(rows, Skip(r, of.Name, cannot))
				continue
			}
			if err := checkTarget(r.ID, of.Name, have[ref]); err != nil {
				return nil, nil, err
			}
			jobs = append(jobs, q.Job(r, have[ref]))
		}
	}
	return jobs, rows, nil
}

// targetsOf are the builds that the records name, for each of their targets one.
func (q *Queue) targetsOf(records []scenarios.Record) (refs []builds.Ref, err error) {
	for _, r := range records {
		for _, of := range r.Targets {
			ref, err := builds.ParseRef(of.Name)
			if err != nil {
				return nil, exit.UsageError(err)
			}
			refs = append(refs, q.BuildFor(ref, r))
		}
	}
	return refs, nil
}

// checkTarget makes sure that a build is the one that was named.
func checkTarget(id, named string, got builds.Target) error {
	if got.Ref.String() != named { // nothing that follows could be believed
		return exit.Internal("%s is to be played on %s, and the build at hand is %s", id, named, got.Ref)
	}
	return nil
}

// ReadManifest finds what is wrong with the user's manifest for the records, before anything is got for them.
func (q *Queue) ReadManifest(records []scenarios.Record) error {
	for _, r := range records {
		target := builds.Target{Manifest: builds.Manifest{Ref: builds.Ref{Name: r.Autoscaler}}}
		if err := q.request(q.Job(r, target)).ReadManifest(); err != nil {
			return fmt.Errorf("--manifest: %w", err)
		}
	}
	return nil
}

// CheckManifest makes sure that all targets can be run as the user's manifest has it.
func (q *Queue) CheckManifest(ctx context.Context, jobs []Job) error {
	for _, j := range jobs {
		if err := q.request(j).CheckManifest(ctx); err != nil {
			return exit.UsageError(err)
		}
	}
	return nil
}

// Playable parts the jobs that can be played on the chosen cluster and cloud from those that
// cannot, which become rows that say why.
func (q *Queue) Playable(ctx context.Context, jobs []Job) (play []Job, without []table.Row) {
	lacks := q.Cluster.Lacks(ctx)
	for _, j := range jobs {
		cannot := q.unplayable(j, lacks)
		// mutant: without Docker a replay on kind is tried
		if cannot == nil {
			play = append(play, j)
			continue
		}
		without = append(without, Skip(j.Record, j.Target.Ref.String(), cannot))
	}
	return play, without
}

// Given parts the jobs whose targets know the flags, variables and feature gates that they are given from the others, which become
// rows that say why. A job alone is left to its replay, which refuses it.
func (q *Queue) Given(ctx context.Context, jobs []Job) (play []Job, without []table.Row) {
	for _, j := range jobs {
		cannot := q.request(j).CheckFlags(ctx)
		// mutant: one of many that a build cannot be given ends them all
		if cannot == nil || len(jobs) == 1 {
			play = append(play, j)
			continue
		}
		without = append(without, Skip(j.Record, j.Target.Ref.String(), cannot))
	}
	return play, without
}

// unplayable returns why a job cannot be played, if it cannot. lacks is what this machine lacks
// for the chosen cluster.
func (q *Queue) unplayable(j Job, lacks error) error {
	request := q.request(j)
	if lacks == nil {
		lacks = request.CheckCluster()
	}
	if lacks != nil {
		return fmt.Errorf("--cluster %s: %w", q.Cluster, lacks)
	}
	if err := request.CheckKubernetes(); err != nil {
		return err
	}
	// mutant: an upgrade is played where there is no release before
	if _, err := request.Needs(); err != nil {
		return err
	}
	// mutant: a failure of one cloud is played on all
	if only := j.Record.OnlyCloud(); q.Cloud != "" && only != "" && only != q.Cloud {
		return fmt.Errorf("--cloud %s: it can be seen on %s only", q.Cloud, only)
	}
	return nil
}
