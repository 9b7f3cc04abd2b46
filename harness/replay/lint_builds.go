package replay

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	messages "github.com/cucumber/messages/go/v21"
	"go.yaml.in/yaml/v3"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/program/programs"
	"nodestorm/harness/sentences/requirements"
	"nodestorm/harness/sentences/slips"
	"nodestorm/scenarios"
)

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

// refusalsOf are the steps with a flag, a variable or a feature gate that no build in the store knows of those that the scenario
// is for. Steps that are wrong already are left out.
func refusalsOf(ctx context.Context, s scenarios.Scenario, wrong map[int]bool) (found scenarios.Problems) {
	targets := buildsFor(s)
	for i, step := range s.Pickle() {
		one := []*messages.PickleStep{step}
		if wrong[i] || !gives(one) {
			continue
		}
		if err := refusedByAll(ctx, targets, s.Record.Provider(), one); err != nil {
			found = append(found, scenarios.Problem{File: s.File, Line: s.Steps[i].Line, Text: "no build in the store that the scenario " +
				"is for takes this: " + err.Error()})
		}
	}
	return found
}

// gives reports whether steps give the target anything that it has to know.
func gives(steps []*messages.PickleStep) bool {
	flags, unlisted, err := requirements.Flags(steps)
	return err == nil && len(flags)+len(unlisted)+len(requirements.Environment(steps))+len(requirements.Gates(steps)) > 0
}

// buildsFor are the builds in the store that a record names, or all of the program that the steps start if there is no record.
// Those that are containers are left out: asking one for its flags would start it.
func buildsFor(s scenarios.Scenario) iter.Seq[builds.Target] {
	return func(yield func(builds.Target) bool) {
		store, err := buildstore.Open("")
		if err != nil {
			return
		}
		name := cmp.Or(s.Record.Autoscaler, requirements.Target(s.Pickle()))
		for _, ref := range store.Refs() {
			named := slices.ContainsFunc(s.Record.Targets, func(t scenarios.Target) bool { return t.Version() == ref.Version })
			if ref.Name != name || !named && !s.Record.Bare() {
				continue
			}
			// mutant: a build for another cloud is asked as well
			ref.Provider = s.Record.Provider()
			if t, err := store.Get(ref); err == nil && !t.Source.Container && !yield(t) {
				return
			}
		}
	}
}

// refusedByAll is why the first of some builds does not take what steps give it, if none takes it. Those that do not say what they
// take are left out.
func refusedByAll(ctx context.Context, targets iter.Seq[builds.Target], provider string, steps []*messages.PickleStep) (refused error) {
	for t := range targets {
		err := checkGiven(ctx, t, provider, steps)
		// mutant: a flag that one of the builds knows is refused
		if err == nil {
			return nil
		}
		if ask := programs.Named(t.Name).Check; ask == nil || ask(ctx, deploy.Request{Target: t, Provider: provider}) == nil {
			refused = cmp.Or(refused, err)
		}
	}
	return refused
}
