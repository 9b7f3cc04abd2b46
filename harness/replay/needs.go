package replay

import (
	"slices"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/program"
	"nodestorm/scenarios"
)

// NeededFor are the builds that the replay of a record on a target needs.
func NeededFor(r scenarios.Record, catalogue *scenarios.Catalogue, of scenarios.Target) ([]builds.Ref, error) {
	ref, err := builds.ParseRef(of.Name)
	if err != nil {
		return nil, err
	}
	// mutant: doctor takes a build for one cloud for another's
	ref.Provider, ref.Race = r.Provider(), r.Race
	parts, err := Request{Record: r, Features: catalogue.Features(), Target: builds.Target{Manifest: builds.Manifest{Ref: ref}}}.Needs()
	return append([]builds.Ref{builds.Kubernetes, ref}, parts...), err
}

// NeededBy are the targets that replays of the records need, in the order in which they do,
// each once.
func NeededBy(catalogue *scenarios.Catalogue, records []scenarios.Record) (refs []builds.Ref, err error) {
	seen := map[builds.Ref]bool{}
	for _, r := range records {
		for _, t := range r.Targets {
			all, err := NeededFor(r, catalogue, t)
			if err != nil {
				return nil, err
			}
			for _, ref := range all {
				if !seen[ref] {
					seen[ref] = true
					refs = append(refs, ref)
				}
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
