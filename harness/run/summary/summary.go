// Package summary says for reports what a stored run was: its names, its verdict, in which
// ways it was something else than its names say, and the command that makes it again.
// Its history says what happened in it, see reports/story.
package summary

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"nodestorm/harness/run"
	"nodestorm/harness/run/kept"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports/redact"
	"nodestorm/reports/story"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/history/invariants"
)

// Run reads the run in dir for people, here and elsewhere: all reports of stored runs
// are made of what it returns and of [page.Logs], and both have passed the redactor. What
// can be read is reported and the rest is named in the story's Problems: a run.json or a
// history that is cut off, damaged, of another program or of a later format. An error
// means that dir has neither, or that ctx has ended. hourlyEUR is the price of a machine that does not state its own,
// 0 for unknown.
func Run(ctx context.Context, dir string, catalogue *scenarios.Catalogue, hourlyEUR float64) (*story.Story, error) {
	r, err := run.Load(dir)
	says := kept.HasWord(catalogue, dir)
	if catalogue != nil {
		if record, err := kept.Records(catalogue)(r, dir); err == nil {
			catalogue = scenarios.CatalogueOf(record)
		}
	}
	about := Describe(r, catalogue)
	about.HourlyEUR = hourlyEUR
	if err != nil {
		about.ID = filepath.Base(dir)
		if path, err := filepath.Abs(dir); err == nil { // "." is no name
			about.ID = filepath.Base(path)
		}
		about.Problems = append(about.Problems, err.Error())
	}
	redactor := redact.ForHere(says)
	about.Repeat = "" // whose words are cleaned one by one
	if err := redactor.JSON(&about); err != nil {
		return nil, fmt.Errorf("removing credentials: %w", err)
	}
	if r.ID != "" && about.Target != "" {
		about.Repeat = repeat(r, about.Departures, redactor.Text)
	}
	var doubts []string
	var openErr error
	described := story.From(about, func(each func(history.Entry)) []string {
		doubts, openErr = r.Read(ctx, dir, redactor.Reader, each)
		return doubts
	})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case openErr != nil && err != nil:
		return nil, fmt.Errorf("%s holds no run: neither %s nor %s can be read", dir, run.File, run.HistoryFile)
	case errors.Is(openErr, fs.ErrNotExist):
		doubts = append(doubts, fmt.Sprintf("%s is missing: what happened is not known", run.HistoryFile))
		described = story.NewBuilder(about).Story()
		described.Run.Problems = append(described.Run.Problems, doubts...)
	case openErr != nil:
		return nil, fmt.Errorf("reading a run: %w", openErr)
	}
	if len(doubts) > 0 && r.Verdict != "" {
		now := run.Doubtful(doubts)
		described.Run.Verdict, described.Run.Reason, described.Run.Evidence = string(now.Verdict), now.Reason, nil
		described.Run.Broken = nil
		described.Run.Outcome = string(verdict.Compare(r.Expected, now.Verdict))
	}
	for i, problem := range described.Run.Problems { // of paths, and of what a stranger wrote
		described.Run.Problems[i] = redactor.Text(problem)
	}
	described.Run.Reason = redactor.Text(described.Run.Reason)
	return described, nil
}

// Describe is what reports say of a run beside its history. A scenario that the
// catalogue does not have any more is described as far as the run itself does.
func Describe(r run.Run, catalogue *scenarios.Catalogue) story.Run {
	about := story.Run{
		ID: r.ID, Autoscaler: r.Target.Name, Verdict: string(r.Verdict), Expected: string(r.Expected), Reason: r.Reason, Evidence: r.Evidence,
		Seed: r.Seed, Commit: r.Commit, Started: r.Started, Epoch: r.Epoch, Settings: r.Settings,
		Clock: story.Passed(r.Clock), Took: float64(r.Wall) / float64(time.Millisecond),
	}
	for _, name := range r.Broken {
		about.Broken = append(about.Broken, invariants.Sentence(name))
	}
	if about.Epoch.IsZero() { // runs of before had none; their virtual time began with them
		about.Epoch = r.Started
	}
	if r.Target.Name != "" {
		about.Target = r.Target.Ref.String()
		about.Source = strings.Trim(sourceOf(r.Target)+", "+r.Target.GoVersion, ", ")
	}
	about.Kubernetes = KubernetesVersion(r)
	if r.ID != "" {
		about.Departures, about.Builds = Departures(r), buildsOf(r)
	}
	if r.Provenance != nil && r.Provenance.Nodestorm.Commit != "" {
		about.Nodestorm = r.Provenance.Nodestorm.String()
	} else {
		about.Nodestorm = run.Short(r.Commit)
	}
	if r.Discarded != "" {
		about.Discarded = fmt.Sprintf("this run does not count; the one that does is %s, beside it", r.Discarded)
		about.Problems = append(about.Problems, about.Discarded)
	}
	about.Problems = append(about.Problems, r.Unexplained()...)
	if r.Verdict != "" {
		about.Outcome = string(verdict.Compare(r.Expected, r.Verdict))
	}
	if r.ID != "" && about.Target != "" {
		about.Repeat = repeat(r, about.Departures, strings.Clone)
	}
	if catalogue == nil {
		return about
	}
	if record, err := catalogue.Lookup(r.ID); err == nil {
		about.Title, about.Summary, about.Mechanism = record.Title, record.Summary, record.Mechanism
		about.Issue, about.Fix, about.Symptom = record.Issue, record.Fix, record.Symptom.Statement
	}
	return about
}
