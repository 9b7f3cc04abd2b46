package bisect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/sim/strict"
)

// candidate is what can be built and played.
type candidate struct {
	name    string // for people: a tag, a version, the start of a commit
	commit  string // empty of a module
	release *semver.Version
	recipe  buildstore.Recipe
}

// ends are what the user knows, and the releases between.
type ends struct {
	good, bad    string // IDs of points
	goodIsOlder  bool
	older, newer string
	// releases are those from the older end to the newer, both included, the newest
	// first; none if the ends are no releases.
	releases []Point
}

// endsOf are two points in their order.
func endsOf(good, bad string, goodIsOlder bool) ends {
	e := ends{good: good, bad: bad, goodIsOlder: goodIsOlder, older: bad, newer: good}
	if goodIsOlder {
		e.older, e.newer = good, bad
	}
	return e
}

// source has the points, and knows their order.
type source interface {
	name() string
	ends(context.Context) (ends, error)
}

// called is what people call a candidate: a tag and the start of its commit.
func (q *Inquiry) called(id string) string {
	c := q.points[id]
	if c.commit == "" || c.name == c.commit || c.name == c.commit[:12] {
		return c.name
	}
	return fmt.Sprintf("%s (%.12s)", c.name, c.commit)
}

// found is the build of a candidate that the store has.
func (q *Inquiry) found(c candidate) (builds.Target, bool) {
	if c.commit == "" {
		t, err := q.Store.Get(c.recipe.Ref)
		return t, err == nil
	}
	return q.Store.OfCommit(c.recipe, c.commit)
}

// ready reports whether a candidate has been built.
func (q *Inquiry) ready(id string) bool {
	_, there := q.found(q.points[id])
	return there
}

// inOrder are releases as points of a line, the newest first.
func (q *Inquiry) inOrder(ids []string) (points []Point) {
	slices.SortFunc(ids, func(x, y string) int { return q.points[y].release.Compare(q.points[x].release) })
	for i, id := range ids {
		p := Point{ID: id, Ready: q.ready(id)}
		if i+1 < len(ids) {
			p.Parents = ids[i+1 : i+2]
		}
		points = append(points, p)
	}
	return points
}

// module is a source: the releases that the go command lists.
type module struct{ *Inquiry }

func (m module) name() string { return m.From.Module }

func (m module) ends(ctx context.Context) (ends, error) {
	path, program := m.From.Module, m.Record.Autoscaler
	known, err := buildstore.Known(builds.Ref{Name: program, Version: m.Good})
	switch {
	case err != nil && !semverish(m.Good):
		return ends{}, fmt.Errorf("--good %s is not a release of a module: want a version such as v1.7.0", m.Good)
	case err != nil:
		return ends{}, fmt.Errorf("%s is built of no module that is known here (%w): give --source REPOSITORY", program, err)
	case path != known.Module:
		return ends{}, fmt.Errorf("--module %s: the releases of %s are those of %s; a fork is bisected with --source REPOSITORY", path, program,
			known.Module)
	}
	versions, err := m.versions(ctx)
	if err != nil {
		return ends{}, err
	}
	for _, of := range []struct{ flag, version string }{{"good", m.Good}, {"bad", m.Bad}} {
		if !slices.Contains(versions, of.version) {
			return ends{}, fmt.Errorf("--%s: %s has no release %q%s", of.flag, path, of.version, neighbours(of.version, versions))
		}
	}
	at := endsOf(m.Good, m.Bad, slices.Index(versions, m.Good) < slices.Index(versions, m.Bad))
	between := slices.Clone(versions[slices.Index(versions, at.older) : slices.Index(versions, at.newer)+1])
	for _, version := range between {
		c := candidate{name: version, release: semver.MustParse(version)}
		if c.recipe, err = buildstore.Known(builds.Ref{Name: program, Version: version}); err != nil {
			return at, err
		}
		m.points[version] = c
	}
	at.releases = m.inOrder(between)
	return at, nil
}

// versions are the module's releases, oldest first, those of the store among them: a proxy may
// serve what it does not list.
func (m module) versions(ctx context.Context) ([]string, error) {
	versions, err := buildstore.Versions(ctx, m.From.Module)
	for _, ref := range m.Store.Refs() {
		released := ref.Name == m.Record.Autoscaler && semverish(ref.Version) && semver.MustParse(ref.Version).Prerelease() == ""
		if released && !slices.Contains(versions, ref.Version) {
			versions = append(versions, ref.Version)
		}
	}
	oldestFirst(versions)
	return versions, err
}

func oldestFirst(versions []string) {
	slices.SortFunc(versions, func(x, y string) int { return semver.MustParse(x).Compare(semver.MustParse(y)) })
}

// neighbours says which releases, oldest first, are next to one that there is not.
func neighbours(version string, releases []string) string {
	if !semverish(version) || len(releases) == 0 {
		return strict.Meant(version, releases)
	}
	asked := semver.MustParse(version)
	i := slices.IndexFunc(releases, func(r string) bool { return semver.MustParse(r).GreaterThan(asked) })
	switch i {
	case 0:
		return "; the oldest is " + releases[0]
	case -1:
		return "; the newest is " + releases[len(releases)-1]
	}
	return fmt.Sprintf("; next to it are %s and %s", releases[i-1], releases[i])
}

func semverish(version string) bool {
	_, err := semver.NewVersion(version)
	return err == nil && strings.HasPrefix(version, "v")
}
