package replay

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	messages "github.com/cucumber/messages/go/v21"
	"go.yaml.in/yaml/v3"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/sentences/requirements"
	"nodestorm/harness/sentences/slips"
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
			continue // what a wrong step says is not what it means
		}
		for _, s := range folder.Scenarios {
			l.Problems = append(l.Problems, slipsOf(s)...)
		}
		l.Problems.Sort()
		l.Problems = slices.Compact(l.Problems) // rows of an outline have steps in common
	}
	return l, nil
}

// slipsOf are what looks wrong with a scenario and its record, and keeps none from being played.
func slipsOf(s scenarios.Scenario) (found scenarios.Problems) {
	for _, slip := range validation.Slips(s.Pickle(), s.RecordFile.Text) {
		found = append(found, scenarios.Problem{File: s.File, Line: s.Steps[slip.Step].Line, Text: slip.Err.Error()})
	}
	for _, slip := range validation.SlipsOfRecord(s.Record, s.RecordFile.Text, s.Pickle()) {
		found = append(found, scenarios.Problem{File: s.RecordFile.Shown, Line: slip.Line, Field: slip.Field, Text: slip.Err.Error()})
	}
	return append(found, releasesOf(s)...)
}

// releasesOf are the targets of a record, and the steps that name a release of the target, which are almost called like one
// that the catalogue knows, and of which the store has no build.
func releasesOf(s scenarios.Scenario) (found scenarios.Problems) {
	var record yaml.Node
	for i, target := range s.Record.Targets {
		ref := builds.Ref{Name: s.Record.Autoscaler, Version: target.Version()}
		releases, err := scenarios.ReleasesOf(ref.Name)
		near := slips.Release(ref.Version, releases)
		// mutant: a target may be almost a release
		if err != nil || near == "" || stored(ref) || yaml.Unmarshal(s.RecordFile.Text, &record) != nil {
			continue
		}
		field, line := scenarios.Locate(&record, fmt.Sprintf("targets[%d].name: ", i))
		found = append(found, scenarios.Problem{File: s.RecordFile.Shown, Line: line, Field: field, Text: fmt.Sprintf("%s: the store has no "+
			"build %s: did you mean %s@%s? If there is such a release, build it first: nodestorm target build %s", field, ref, ref.Name, near, ref)})
	}
	// mutant: a step of a scenario without a record may name almost a release
	target := builds.Ref{Name: cmp.Or(s.Record.Autoscaler, requirements.Target(s.Pickle()))}
	for i, step := range s.Pickle() {
		refs, _ := requirements.Releases([]*messages.PickleStep{step}, target)
		for _, ref := range refs {
			releases, err := scenarios.ReleasesOf(ref.Name)
			if near := slips.Release(ref.Version, releases); err == nil && near != "" && !stored(ref) {
				found = append(found, scenarios.Problem{File: s.File, Line: s.Steps[i].Line, Text: fmt.Sprintf("the step names %s, and the "+
					"store has no build of it: did you mean %s? If there is such a release, build it first: nodestorm target build %s", ref, near, ref)})
			}
		}
	}
	return found
}

// stored reports whether the store has a build.
func stored(ref builds.Ref) bool {
	store, err := buildstore.Open("")
	return err == nil && slices.Contains(store.Refs(), builds.Ref{Name: ref.Name, Version: ref.Version})
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
