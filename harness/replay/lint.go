package replay

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"nodestorm/harness/builds/buildstore"
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
// nodestorm.
func Lint(catalogue *scenarios.Catalogue, names []string) (l Linted, err error) {
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
		}
	}
	return l, nil
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
