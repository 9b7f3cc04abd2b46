package replay

import (
	"nodestorm/harness/steps"
	"nodestorm/scenarios"
)

// ReadFolder is scenarios.ReadFolder with what is wrong with the steps besides.
func ReadFolder(name string) *scenarios.Folder {
	f := scenarios.ReadFolder(name)
	for i, s := range f.Scenarios {
		if s.Record.Bare() {
			f.Scenarios[i].Record.System = steps.System(s.Pickle())
		}
		for _, wrong := range steps.Problems(s.Pickle()) {
			f.Problems = append(f.Problems, scenarios.Problem{File: s.File, Line: s.Steps[wrong.Step].Line, Text: wrong.Err.Error()})
		}
	}
	f.Problems.Sort()
	return f
}
