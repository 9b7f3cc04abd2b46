package cli

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/builds/repository"
	"nodestorm/harness/search/bisect"
	"nodestorm/sim/strict"
)

// candidate is what can be built and played.
type candidate struct {
	name    string // for people: a tag, a version, the start of a commit
	commit  string // empty of a module
	release *semver.Version
	recipe  buildstore.Recipe
}

// ends are what the user knows, the repository they are of, and the releases between.
type ends struct {
	repo         *repository.Repository // nil: a module
	good, bad    string                 // IDs of points
	goodIsOlder  bool
	older, newer string
	// releases are those from the older end to the newer, both included, the newest
	// first; none if the ends are no releases.
	releases []bisect.Point
}

// ends finds them.
func (b *bisection) ends(ctx context.Context) (ends, error) {
	if b.module != "" {
		return b.endsOfModule(ctx)
	}
	repo, err := b.store.Repository(ctx, b.dir)
	if err != nil {
		return ends{}, fmt.Errorf("--source: %w", err)
	}
	at := ends{repo: repo}
	if at.good, err = b.endOf(ctx, repo, "good", b.good); err != nil {
		return at, err
	}
	if at.bad, err = b.endOf(ctx, repo, "bad", b.bad); err != nil {
		return at, err
	}
	if at.good == at.bad {
		return at, fmt.Errorf("--good %s and --bad %s are the same commit, %.12s", b.good, b.bad, at.good)
	}
	if repo.Dirty(ctx) {
		b.say("%s has changes that are in no commit: they are left out", repo.Name)
	}
	good, bad := b.points[at.good], b.points[at.bad]
	switch {
	case repo.Contains(ctx, at.bad, at.good):
		at.goodIsOlder = true
	case repo.Contains(ctx, at.good, at.bad):
	case good.release != nil && bad.release != nil:
		at.goodIsOlder = good.release.LessThan(bad.release)
	default:
		return at, fmt.Errorf("neither of --good %s and --bad %s comes before the other: name two of one branch, or two releases%s", b.good, b.bad, repo.Shallow(ctx))
	}
	at.order()
	return at, b.releasesBetween(ctx, &at)
}

func (e *ends) order() {
	e.older, e.newer = e.bad, e.good
	if e.goodIsOlder {
		e.older, e.newer = e.good, e.bad
	}
}

// tagPattern splits a release's tag: cluster-autoscaler- and 1.33.0.
var tagPattern = regexp.MustCompile(`^(|.*[-/])(v?[0-9]+\.[0-9]+\.[0-9]+)$`)

// endOf resolves one end.
func (b *bisection) endOf(ctx context.Context, repo *repository.Repository, flag, ref string) (string, error) {
	commit, err := repo.Commit(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("--%s: %w", flag, err)
	}
	return commit, b.add(commit, ref)
}

// add makes a candidate of a commit that a tag or something else names.
func (b *bisection) add(commit, ref string) (err error) {
	if _, known := b.points[commit]; known {
		return nil
	}
	c := candidate{name: ref, commit: commit}
	version := commit[:12]
	if m := tagPattern.FindStringSubmatch(ref); m != nil {
		if c.release, err = semver.NewVersion(m[2]); err != nil {
			return err
		}
		version = m[2]
		// A released module's build keeps its name: this is of a repository that may be
		// anybody's.
		if _, err := buildstore.Known(builds.Ref{Name: b.record.Autoscaler, Version: version}); err == nil {
			version += "-g" + commit[:12]
		}
	}
	c.recipe, err = b.toBuild(version, commit)
	b.points[commit] = c
	return err
}

// releasesBetween adds those whose tags are like both ends'.
func (b *bisection) releasesBetween(ctx context.Context, at *ends) error {
	good, bad := tagPattern.FindStringSubmatch(b.good), tagPattern.FindStringSubmatch(b.bad)
	if good == nil || bad == nil || good[1] != bad[1] {
		return nil
	}
	tags, err := at.repo.Tags(ctx)
	if err != nil {
		return err
	}
	oldest, newest := b.points[at.older].release, b.points[at.newer].release
	commits := []string{at.older, at.newer}
	for tag, commit := range tags {
		m := tagPattern.FindStringSubmatch(tag)
		if m == nil || m[1] != good[1] || slices.Contains(commits, commit) {
			continue
		}
		if v, err := semver.NewVersion(m[2]); err != nil || !v.GreaterThan(oldest) || !v.LessThan(newest) {
			continue
		}
		if err := b.add(commit, tag); err != nil {
			return err
		}
		commits = append(commits, commit)
	}
	at.releases = b.inOrder(commits)
	return nil
}

// inOrder are releases as points of a line, the newest first.
func (b *bisection) inOrder(ids []string) (points []bisect.Point) {
	slices.SortFunc(ids, func(x, y string) int { return b.points[y].release.Compare(b.points[x].release) })
	for i, id := range ids {
		p := bisect.Point{ID: id, Ready: b.ready(id)}
		if i+1 < len(ids) {
			p.Parents = ids[i+1 : i+2]
		}
		points = append(points, p)
	}
	return points
}

// ready tells whether a candidate has been built.
func (b *bisection) ready(id string) bool {
	c := b.points[id]
	if c.commit == "" {
		_, err := b.store.Get(c.recipe.Ref)
		return err == nil
	}
	_, there := b.store.OfCommit(c.recipe, c.commit)
	return there
}

// endsOfModule are releases that the go command lists.
func (b *bisection) endsOfModule(ctx context.Context) (ends, error) {
	known, err := buildstore.Known(builds.Ref{Name: b.record.Autoscaler, Version: b.good})
	switch {
	case err != nil && !semverish(b.good):
		return ends{}, fmt.Errorf("--good %s is no release of a module: want a version such as v1.7.0", b.good)
	case err != nil:
		return ends{}, fmt.Errorf("%s is built of no module that is known here (%w): give --source REPOSITORY", b.record.Autoscaler, err)
	case b.module != known.Module:
		return ends{}, fmt.Errorf("--module %s: the releases of %s are those of %s; a fork is bisected with --source REPOSITORY", b.module, b.record.Autoscaler, known.Module)
	}
	versions, err := buildstore.Versions(ctx, b.module)
	if err != nil {
		return ends{}, err
	}
	for _, ref := range b.store.Refs() { // a proxy may serve what it does not list
		if ref.Name == b.record.Autoscaler && semverish(ref.Version) && semver.MustParse(ref.Version).Prerelease() == "" && !slices.Contains(versions, ref.Version) {
			versions = append(versions, ref.Version)
		}
	}
	slices.SortFunc(versions, func(x, y string) int { return semver.MustParse(x).Compare(semver.MustParse(y)) })
	for _, of := range []struct{ flag, version string }{{"good", b.good}, {"bad", b.bad}} {
		if !slices.Contains(versions, of.version) {
			return ends{}, fmt.Errorf("--%s: %s has no release %q%s", of.flag, b.module, of.version, around(of.version, versions))
		}
	}
	at := ends{good: b.good, bad: b.bad, goodIsOlder: slices.Index(versions, b.good) < slices.Index(versions, b.bad)}
	at.order()
	between := slices.Clone(versions[slices.Index(versions, at.older) : slices.Index(versions, at.newer)+1])
	for _, version := range between {
		c := candidate{name: version, release: semver.MustParse(version)}
		if c.recipe, err = buildstore.Known(builds.Ref{Name: b.record.Autoscaler, Version: version}); err != nil {
			return at, err
		}
		b.points[version] = c
	}
	at.releases = b.inOrder(between)
	return at, nil
}

// around says which releases, oldest first, are next to one that there is not.
func around(version string, releases []string) string {
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
