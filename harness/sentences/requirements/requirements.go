// Package requirements has what the steps of a scenario demand before its world is there: of its target, of the store of
// builds and of the machine. It reads the steps alone, and no file beside the feature.
package requirements

import (
	"cmp"
	"math"

	"github.com/cucumber/messages/go/v21"

	"nodestorm/harness/builds"
	clouds "nodestorm/harness/cloud/all"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/stepdef"
	"nodestorm/scenarios"
)

// eachWants goes through what steps want, and what is wrong with that. What is beside the feature is left out: no
// file has any of it.
func eachWants(steps []*messages.PickleStep, do func(scene.Wants, error)) {
	for _, said := range steps {
		m, _ := stepdef.Find(said, nil)
		do(m.Wants())
	}
}

// System is the cloud that steps speak of, which a build of Cluster Autoscaler then has to
// serve; empty if they speak of none.
func System(steps []*messages.PickleStep) (system string) {
	eachWants(steps, func(w scene.Wants, _ error) {
		if system == "" {
			system = w.System
		}
	})
	return system
}

// Target is the program that steps start as the target; empty if they start none.
func Target(steps []*messages.PickleStep) string {
	f := &scene.Feature{}
	for _, said := range steps {
		if m, _ := stepdef.Find(said, nil); m.Definition != nil && m.Definition.Check != nil {
			_ = m.Definition.Check(f, m.Args) // what is wrong with a step is for others to say
		}
	}
	return f.Target
}

// Releases are those that steps name as parts of the world, and versions of the target beside the one under test. An
// error says that there is no release before the target that steps speak of.
func Releases(steps []*messages.PickleStep, target builds.Ref) (refs []builds.Ref, err error) {
	eachWants(steps, func(w scene.Wants, _ error) {
		refs = append(refs, w.Releases...)
		versions := w.Versions
		if w.Before > 0 {
			before, none := scenarios.ReleaseBefore(target.Name, target.Version, w.Before)
			if none != nil {
				err = cmp.Or(err, none)
				return
			}
			versions = append(versions, before)
		}
		for _, version := range versions {
			of := target
			of.Version = version
			refs = append(refs, of)
		}
	})
	return refs, err
}

// Upgrade is a release that takes the place of another one as the target.
type Upgrade struct {
	From, To builds.Ref
	Left     scene.LeftBehind
}

// Upgrades are those that steps do, and the ways back, in their order. What is wrong with a step is for others to say.
func Upgrades(steps []*messages.PickleStep, target builds.Ref) (all []Upgrade) {
	running, before := target, target
	eachWants(steps, func(w scene.Wants, _ error) {
		if w.Change == nil {
			return
		}
		next := target
		if len(w.Versions) > 0 {
			next.Version = w.Versions[0]
		}
		if version, err := scenarios.ReleaseBefore(target.Name, target.Version, max(w.Before, 1)); w.Before > 0 && err == nil {
			next.Version = version
		}
		if w.Change.First {
			running = next
			return
		}
		if w.Change.Back {
			next = before
		}
		all = append(all, Upgrade{From: running, To: next, Left: w.Change.Left})
		running, before = next, running
	})
	return all
}

// Builds are those that the steps take out of the store: the releases that they name, and
// parts of ours, which those of Rig.With can stand in for.
func Builds(steps []*messages.PickleStep, target builds.Ref) ([]builds.Ref, error) {
	refs, err := Releases(steps, target)
	eachWants(steps, func(w scene.Wants, _ error) { refs = append(refs, w.Parts...) })
	return refs, err
}

// Nodes is how many simulated nodes the steps ask for, with the machines that the node groups
// they declare begin with. What is wrong with a table is for others to say.
func Nodes(steps []*messages.PickleStep) (n int) {
	eachWants(steps, func(w scene.Wants, _ error) { n = min(n+w.Nodes, math.MaxInt32) })
	return n
}

// Replicas is how many processes of the target the steps ask for; 0 if they do not say.
func Replicas(steps []*messages.PickleStep) (n int) {
	eachWants(steps, func(w scene.Wants, _ error) { n = max(n, w.Replicas) })
	return n
}

// Flags are those that steps give the target, as on a command line: ones that it has to
// know, and ones that it may not. An error is what is wrong with these, or with the variables.
func Flags(steps []*messages.PickleStep) (known, unlisted []string, err error) {
	eachWants(steps, func(w scene.Wants, wrong error) {
		known, unlisted = append(known, w.Flags...), append(unlisted, w.Unlisted...)
		if err == nil {
			err = wrong
		}
	})
	return known, unlisted, err
}

// Gates are the feature gates that steps give the target.
func Gates(steps []*messages.PickleStep) (names []string) {
	eachWants(steps, func(w scene.Wants, _ error) { names = append(names, w.Gates...) })
	return names
}

// Environment are the names of the variables that steps give the target.
func Environment(steps []*messages.PickleStep) (names []string) {
	of := clouds.Named(System(steps))
	eachWants(steps, func(w scene.Wants, _ error) {
		if names = append(names, w.Env...); w.Marked && of != nil {
			names = append(names, of.Variables...)
		}
	})
	return names
}
