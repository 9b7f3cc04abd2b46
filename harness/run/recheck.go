package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"nodestorm/harness/verdict"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
)

// Rechecked is a stored run, judged again.
type Rechecked struct {
	// Run is the run as stored, with the verdict of then.
	Run Run
	// Now is the judgement by today's record and rules.
	Now verdict.Judgement
	// Expected is what today's record expects of the run's target.
	Expected scenarios.Expectation
	Records  []history.Record
	// Problems are the places of the history that could not be read.
	Problems []history.Problem
}

// Recheck judges the run in dir again: the outcome of its steps as recorded,
// with the symptom that the catalogue has today. Damage to the history makes the
// run inconclusive; an error means that dir cannot be judged at all.
func Recheck(dir string, catalogue *scenarios.Catalogue) (Rechecked, error) {
	r, err := Load(dir)
	if err != nil {
		return Rechecked{}, err
	}
	record, err := catalogue.Lookup(r.ID)
	if err != nil {
		return Rechecked{}, fmt.Errorf("%s: %w", dir, err)
	}
	file, err := os.Open(filepath.Join(dir, HistoryFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Rechecked{}, fmt.Errorf("%s has no %s: the run cannot be judged again", dir, HistoryFile)
	}
	if err != nil {
		return Rechecked{}, fmt.Errorf("reading a run: %w", err)
	}
	defer file.Close()
	checked := Rechecked{Run: r, Expected: record.Expected(r.Target.Ref.String())}
	checked.Records, checked.Problems = history.Read(file)
	checked.Now = Judge(r, record, withGaps(checked.Records, checked.Problems))
	return checked, nil
}

// Differences say how today's judgement differs from that of then, a line each.
// A run that was never judged differs in nothing.
func (r Rechecked) Differences() []string {
	then := r.Run.Judgement
	if then.Verdict == "" {
		return nil
	}
	var lines []string
	if r.Run.Expected != r.Expected {
		lines = append(lines, fmt.Sprintf("%q was expected of %s, and today's catalogue expects %q", r.Run.Expected, r.Run.Target.Ref, r.Expected))
	}
	switch {
	case then.Verdict != r.Now.Verdict:
		lines = append(lines, fmt.Sprintf("was %s and is %s by today's rules: %s", then.Verdict, r.Now.Verdict, r.Now.Reason))
	case !slices.Equal(then.Evidence, r.Now.Evidence):
		lines = append(lines, fmt.Sprintf("is still %s; records %v showed it, and today %v do", then.Verdict, then.Evidence, r.Now.Evidence))
	case then.Reason != r.Now.Reason:
		lines = append(lines, fmt.Sprintf("is still %s, because: %s", then.Verdict, r.Now.Reason))
	}
	return lines
}

// Judge judges a run by its history and the record of its scenario, the same way
// when it has just ended and when it is rechecked.
func Judge(r Run, record scenarios.Record, records []history.Record) verdict.Judgement {
	if r.Unplayed != "" {
		return verdict.Judgement{Verdict: verdict.Inconclusive, Reason: verdict.OneLine(r.Unplayed)}
	}
	return verdict.Judge(verdict.FromHistory(records, record, r.Clock.Distorted()))
}

// withGaps adds a record for each problem, so that the verdict knows of them.
func withGaps(records []history.Record, problems []history.Problem) []history.Record {
	var seq uint64
	for _, r := range records {
		seq = max(seq, r.Seq)
	}
	for _, p := range problems {
		seq++
		records = append(records, history.Record{Seq: seq, Event: history.Event{
			Source: history.Harness, Verb: history.Unreadable, Actor: HistoryFile,
			Detail: map[string]any{"line": p.Line, "error": p.Err.Error()},
		}})
	}
	return records
}
