package replay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/sentences/validation"
	"nodestorm/scenarios"
)

// Linted is what came of looking at features and records of a user's own.
type Linted struct {
	Problems  scenarios.Problems
	Scenarios int
	Recorded  int // of them have a record
	Others    int // YAML files that are no records
}

// Lint looks at features and records beside those of a catalogue, in folders, files or checkouts of
// nodestorm. It asks builds in the store for their flags.
func Lint(ctx context.Context, catalogue *scenarios.Catalogue, names []string) (l Linted, err error) {
	l.Problems = scenarios.Problems{}
	for _, name := range names {
		if buildstore.IsRoot(name) {
			checked, wrong := lintCheckout(name)
			l.Scenarios, l.Recorded, l.Problems = l.Scenarios+checked, l.Recorded+checked, append(l.Problems, wrong...)
			continue
		}
		if _, err := os.Stat(name); err != nil {
			return l, fmt.Errorf("%s is not there; name a folder with features and records", name)
		}
		folder := ReadFolder(name)
		l.Others += folder.Others
		for _, s := range folder.Scenarios {
			l.Scenarios++
			if !s.Record.Bare() {
				l.Recorded++
			}
		}
		if wrong := (scenarios.Problems)(nil); errors.As(catalogue.Add(folder.Own), &wrong) {
			l.Problems = append(l.Problems, wrong...)
			continue // what a wrong step says is not what it means
		}
		for _, s := range folder.Scenarios {
			l.Problems = append(l.Problems, slipsOf(ctx, s)...)
		}
		l.Problems.Sort()
		l.Problems = slices.Compact(l.Problems) // rows of an outline have steps in common
	}
	return l, nil
}

// slipsOf are what looks wrong with a scenario and its record, and keeps none from being played.
func slipsOf(ctx context.Context, s scenarios.Scenario) (found scenarios.Problems) {
	slipped := map[int]bool{} // steps
	for _, slip := range validation.Slips(s.Pickle(), s.RecordFile.Text) {
		slipped[slip.Step] = true
		found = append(found, scenarios.Problem{File: s.File, Line: s.Steps[slip.Step].Line, Text: slip.Err.Error()})
	}
	for _, slip := range validation.SlipsOfRecord(s.Record, s.RecordFile.Text, s.Pickle()) {
		found = append(found, scenarios.Problem{File: s.RecordFile.Shown, Line: slip.Line, Field: slip.Field, Text: slip.Err.Error()})
	}
	return slices.Concat(found, releasesOf(s), refusalsOf(ctx, s, slipped))
}

// lintCheckout looks at the records of a checkout of nodestorm, and at their features.
func lintCheckout(dir string) (checked int, problems scenarios.Problems) {
	catalogue, err := scenarios.LoadCheckout(dir)
	if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			problems = append(problems, scenarios.Problem{File: dir, Text: line})
		}
		return 0, problems
	}
	problems = append(problems, catalogue.Strays()...)
	features := catalogue.Features()
	for _, record := range catalogue.Records() {
		checked++
		if err := (Request{Record: record, Features: features}).CheckSteps(); err != nil {
			problems = append(problems, scenarios.Problem{File: dir, Text: err.Error()})
		}
	}
	return checked, problems
}
