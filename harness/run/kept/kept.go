// Package kept finds the record by which a stored run is judged, in a catalogue or with the run.
package kept

import (
	"os"
	"path/filepath"

	"nodestorm/harness/run"
	"nodestorm/scenarios"
	"nodestorm/scenarios/folder"
)

// HasWord reports whether the scenario of the run in dir, or any of the catalogue, which may be nil, has a word.
func HasWord(catalogue *scenarios.Catalogue, dir string) func(word string) bool {
	return func(word string) bool {
		if catalogue.HasWord(word) {
			return true
		}
		own := scenarios.Empty()
		_ = own.Add(folder.Read(filepath.Join(dir, run.ScenarioFolder)).Own) // what is wrong with it says nothing
		return own.HasWord(word)
	}
}

// Records finds the record of a run's scenario that the catalogue has, or else the one that was kept with the run: that of a
// catalogue of one's own that is not named.
func Records(catalogue *scenarios.Catalogue) run.Records {
	return func(r run.Run, dir string) (scenarios.Record, error) {
		record, err := catalogue.Lookup(r.ID)
		if err == nil {
			return record, nil
		}
		with := filepath.Join(dir, run.ScenarioFolder)
		if _, missing := os.Stat(with); missing != nil {
			return record, err
		}
		read := folder.Read(with) // in no catalogue: its kin are not kept with it
		if len(read.Problems) > 0 {
			return record, read.Problems
		}
		for _, s := range read.Scenarios {
			if s.Record.ID == r.ID {
				return s.Record, nil
			}
		}
		return record, err
	}
}
