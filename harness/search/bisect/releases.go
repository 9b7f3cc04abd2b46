package bisect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/Masterminds/semver/v3"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
)

// Getting is where releases come from that the store lacks: out of a registry, or they are built.
type Getting struct {
	// Pull is a repository of a registry, in which the versions Pushed are, and Take takes one
	// out of it.
	Pull   string
	Pushed []string
	Take   func(context.Context, builds.Ref, buildstore.Registries) (builds.Target, error)
	Build  bool // of the subject's source
}

// ReleaseHistory is a record over releases, for machines.
type ReleaseHistory struct {
	ID string `json:"id"`
	Summary
	Releases []Release `json:"releases"`

	outcomes []verdict.Outcome
}

// Outcomes are those of the releases of which the catalogue expects something.
func (p *ReleaseHistory) Outcomes() []verdict.Outcome { return p.outcomes }

// ReplayReleases plays the record on all releases there are, the oldest first: those that are known, and those
// of the store and the registry.
func (o Options) ReplayReleases(ctx context.Context, known []string, get Getting) (*ReleaseHistory, error) {
	p := &ReleaseHistory{ID: o.Record.ID}
	versions := o.versions(known, get.Pushed)
	for i, version := range versions {
		r := Release{Version: version, Expected: string(o.Record.Expected(o.Record.Autoscaler + "@" + version))}
		got, err := o.release(ctx, version, get)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			r.Reason = err.Error()
		case !got.OfRelease():
			r.Reason = fmt.Sprintf("%s in the store is called so and is no build of that release (%s): remove it with nodestorm target rm %[1]s",
				got.Ref, got.Source.Kind)
		default:
			o.Say("%d of %d: %s", i+1, len(versions), version)
			t, err := o.Attempt(ctx, func() (builds.Target, error) { return got, nil })
			if err != nil {
				return nil, err
			}
			r.Verdict, r.Reason, r.Run = cmp.Or(t.Verdict, verdict.Inconclusive), t.Reason, t.Run()
			if r.Expected != "" { // else the ranges say nothing of it, so nothing was promised
				p.outcomes = append(p.outcomes, verdict.Compare(scenarios.Expectation(r.Expected), r.Verdict))
			}
		}
		p.Releases = append(p.Releases, r)
	}
	p.Summary = Summarize(p.Releases)
	return p, nil
}

// versions are the releases that are known, of the store, and those that were pushed, oldest first.
func (o Options) versions(known, pushed []string) []string {
	versions, more := slices.Clone(known), slices.Clone(pushed)
	for _, ref := range o.Store.Refs() {
		if ref.Name == o.Record.Autoscaler {
			more = append(more, ref.Version)
		}
	}
	for _, version := range more {
		if m := tagPattern.FindStringSubmatch(version); m == nil || m[1] != "" || slices.Contains(versions, version) {
			continue
		}
		if _, err := semver.NewVersion(version); err == nil { // its numbers may be too large
			versions = append(versions, version)
		}
	}
	oldestFirst(versions)
	return versions
}

// ProviderOf is the cloud that the build of a release is for.
func (s Subject) ProviderOf(version string) string {
	if known, err := buildstore.Known(builds.Ref{Name: s.Record.Autoscaler, Version: version, Provider: s.Provider}); err == nil {
		return known.Provider
	}
	return s.Provider
}

// Origin is how a release is had.
type Origin int

// A release is in the store, is taken out of a registry, is built, or cannot be had.
const (
	InStore Origin = iota
	FromRegistry
	Built
	Unavailable
)

// wayTo is how a build of a version is had. Its target and error are the store's.
func (o Options) wayTo(version string, get Getting) (builds.Ref, Origin, builds.Target, error) {
	ref := builds.Ref{Name: o.Record.Autoscaler, Version: version, Provider: o.ProviderOf(version), Race: o.Record.Race}
	got, err := o.Store.Get(ref)
	none := (*buildstore.NotFoundError)(nil)
	switch {
	case err == nil:
		return ref, InStore, got, nil
	case errors.As(err, &none) && slices.Contains(get.Pushed, version):
		return ref, FromRegistry, got, err
	case errors.As(err, &none) && get.Build:
		return ref, Built, got, err
	}
	return ref, Unavailable, got, err
}

// release is a build that the store has, or gets.
func (o Options) release(ctx context.Context, version string, get Getting) (builds.Target, error) {
	ref, way, got, err := o.wayTo(version, get)
	switch way {
	case FromRegistry:
		return get.Take(ctx, ref, buildstore.Registries{From: get.Pull, Mirror: buildstore.NoRegistry})
	case InStore, Unavailable:
		return got, err
	case Built:
	}
	at := ""
	if o.From.Dir != "" {
		repo, err := o.Store.Repository(ctx, o.From.Dir)
		if err != nil {
			return got, err
		}
		for _, tag := range []string{o.Record.Autoscaler + "-" + version, version} {
			if at, err = repo.Commit(ctx, tag); err == nil {
				at = tag
				break
			}
		}
		if err != nil {
			return got, err
		}
	}
	recipe, err := o.Recipe(version, at)
	if err != nil {
		return got, err
	}
	return o.Player.Build(ctx, recipe)
}

// Text is what the releases have shown, for people.
func (p *ReleaseHistory) Text() string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RELEASE\tVERDICT\tEXPECTED\tWHY")
	for _, r := range p.Releases {
		why := ""
		if r.Verdict == "" || r.Verdict == verdict.Inconclusive || r.Verdict == verdict.Failed {
			why = wording.Cut(r.Reason, 120)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", wording.Clean(r.Version), cmp.Or(string(r.Verdict), "-"), cmp.Or(r.Expected, "-"), wording.Clean(why))
	}
	_ = w.Flush() // into a builder
	fmt.Fprintf(&out, "\n%s: %s\n", p.ID, p.Summary)
	return out.String()
}
