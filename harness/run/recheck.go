package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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

// Judge judges a run by its history and the record of its scenario, the same way
// when it has just ended and when it is rechecked.
func Judge(r Run, record scenarios.Record, records []history.Record) verdict.Judgement {
	return verdict.Judge(verdict.FromHistory(records, record.Symptom, r.Clock.Distorted()))
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
