package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"nodestorm/harness/run/crosscheck"
	"nodestorm/harness/run/verdict"
	"nodestorm/sim/history"
	"nodestorm/sim/strict"
)

// OwnLog is what a target's own log and events say of the run, beside what the history has of it.
type OwnLog struct {
	crosscheck.Counts
	Disagreements []crosscheck.Disagreement `json:"disagreements,omitempty"`
}

// HoldAgainstLog compares the history with the log in the run's folder, if the target is one of which the log is
// known. Of a run that could not be set up it looks for the error that the target repeats. A folder without logs says nothing.
func (r *Run) HoldAgainstLog(ctx context.Context, dir string, events history.Entries) (err error) {
	r.OwnLog, r.Repeats = nil, nil
	if notSetUp(events) {
		if r.Repeats, err = readRepeats(ctx, dir, r.Target.Name); err != nil {
			return err
		}
	}
	if r.Target.Name != crosscheck.Program || r.Epoch.IsZero() {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(dir, LogFolder, crosscheck.Program+"*.log")) // the pattern is ours
	if len(files) == 0 {
		return nil
	}
	var log crosscheck.Log
	for _, name := range files {
		file, err := strict.Open(ctx, name)
		if err == nil {
			err = errors.Join(log.Read(file, r.Epoch), file.Close())
		}
		if err != nil {
			return fmt.Errorf("reading the target's log: %w", err)
		}
	}
	r.OwnLog = &OwnLog{}
	r.OwnLog.Counts, r.OwnLog.Disagreements = crosscheck.Check(events.Timed(), &log)
	return nil
}

// unexplained are the disagreements after which nothing can be concluded: what is lost to one side, and is no part of what the
// record documents.
func (o *OwnLog) unexplained(j verdict.Judgement) (lost []crosscheck.Disagreement) {
	if o == nil {
		return nil
	}
	for _, d := range o.Disagreements {
		// mutant: every disagreement is documented
		if d.Lost && !documented(d, j) {
			lost = append(lost, d)
		}
	}
	return lost
}

// documented reports whether the symptom, which a judgement shows, has one of the events of a disagreement.
func documented(d crosscheck.Disagreement, j verdict.Judgement) bool {
	shown := func(seq uint64) bool { return slices.Contains(j.Evidence, seq) }
	return j.Verdict == verdict.Reproduced && slices.ContainsFunc(d.Evidence, shown)
}

// applyTo is a judgement with what the target's log says.
func (o *OwnLog) applyTo(j verdict.Judgement) verdict.Judgement {
	lost := o.unexplained(j)
	if len(lost) == 0 || j.Verdict == verdict.Inconclusive {
		return j
	}
	reason := "the target's log and the history disagree: " + lost[0].Text
	if more := len(lost) - 1; more > 0 {
		reason += fmt.Sprintf("; and in %d more", more)
	}
	j.Verdict, j.Reason, j.Evidence = verdict.Inconclusive, reason, lost[0].Evidence
	return j
}

// Unexplained are the disagreements that no symptom documents, a sentence each.
func (r Run) Unexplained() (said []string) {
	if r.OwnLog == nil {
		return nil
	}
	for _, d := range r.OwnLog.Disagreements {
		if !documented(d, r.Judgement) {
			said = append(said, d.Text)
		}
	}
	return said
}
