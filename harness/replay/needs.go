package replay

import (
	"slices"

	"github.com/cucumber/messages/go/v21"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/program"
	"nodestorm/harness/sentences/requirements"
	"nodestorm/scenarios"
)

// NeededFor are the builds that the replays of a record need, by the target.
func NeededFor(r scenarios.Record, catalogue *scenarios.Catalogue) ([][]builds.Ref, error) {
	needs := make([][]builds.Ref, len(r.Targets))
	for i, of := range r.Targets {
		ref, err := builds.ParseRef(of.Name)
		if err != nil {
			return nil, err
		}
		// mutant: doctor takes a build for one cloud for another's
		ref.Provider, ref.Race = r.Provider(), r.Race
		needs[i] = []builds.Ref{builds.Kubernetes, ref}
	}
	return needs, Request{Record: r, Features: catalogue.Features()}.eachScenario(func(steps []*messages.PickleStep) error {
		for i, of := range needs {
			parts, err := requirements.Builds(steps, of[1])
			if err != nil {
				return err
			}
			needs[i] = append(of, parts...)
		}
		return nil
	})
}

// NeededBy are the targets that replays of the records need, in the order in which they do,
// each once.
func NeededBy(catalogue *scenarios.Catalogue, records []scenarios.Record) (refs []builds.Ref, err error) {
	seen := map[builds.Ref]bool{}
	for _, r := range records {
		needs, err := NeededFor(r, catalogue)
		if err != nil {
			return nil, err
		}
		for _, ref := range slices.Concat(needs...) {
			if !seen[ref] {
				seen[ref] = true
				refs = append(refs, ref)
			}
		}
	}
	return refs, nil
}

// Apart reports whether a build is made only for those who ask for it: setup leaves it out, and the records that need it are played by
// name.
func Apart(ref builds.Ref) bool {
	about := program.Named(ref.Name)
	return ref.OtherKubernetes() || about.Apart || slices.Contains(about.ApartReleases, ref.Version)
}

// Needed are Kubernetes, Cluster API, our own parts of clusters, and all targets of
// the catalogue but those that are built apart, each once.
func Needed() ([]builds.Ref, error) {
	c, err := features.Catalogue()
	if err != nil {
		return nil, err
	}
	refs := slices.Concat([]builds.Ref{builds.Kubernetes}, builds.ClusterAPI, builds.Parts, []builds.Ref{builds.OnInstances})
	seen := map[builds.Ref]bool{}
	for _, r := range c.Records() {
		for _, t := range r.Targets {
			ref, err := builds.ParseRef(t.Name)
			if err != nil {
				return nil, err
			}
			if r.OnlyCloud() != "" {
				ref.Provider = r.Provider()
			}
			if !seen[ref] && !Apart(ref) {
				seen[ref] = true
				refs = append(refs, ref)
			}
		}
	}
	return refs, nil
}
