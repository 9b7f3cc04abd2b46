package bisect

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/Masterminds/semver/v3"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/builds/repository"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/wording"
)

// commits is a source: what a git repository has.
type commits struct {
	*Inquiry
	repo *repository.Repository
}

func (s commits) name() string { return s.repo.Name }

func (s commits) ends(ctx context.Context) (at ends, err error) {
	of := map[string]string{}
	for _, end := range []struct{ flag, ref string }{{"good", s.Good}, {"bad", s.Bad}} {
		commit, err := s.repo.Commit(ctx, end.ref)
		if err != nil {
			return at, fmt.Errorf("--%s: %w", end.flag, err)
		}
		if err := s.add(commit, end.ref); err != nil {
			return at, err
		}
		of[end.flag] = commit
	}
	good, bad := of["good"], of["bad"]
	if good == bad {
		return at, fmt.Errorf("--good %s and --bad %s are the same commit, %.12s", s.Good, s.Bad, good)
	}
	if s.repo.Dirty(ctx) {
		s.Say("%s has changes that are in no commit: they are left out", s.repo.Name)
	}
	goodIsOlder := false
	released := s.points[good].release
	switch other := s.points[bad].release; {
	case s.repo.Contains(ctx, bad, good):
		goodIsOlder = true
	case s.repo.Contains(ctx, good, bad):
	case released != nil && other != nil:
		goodIsOlder = released.LessThan(other)
	default:
		return at, fmt.Errorf("neither of --good %s and --bad %s comes before the other: name two of one branch, or two releases%s", s.Good,
			s.Bad, s.repo.Shallow(ctx))
	}
	at = endsOf(good, bad, goodIsOlder)
	at.releases, err = s.releases(ctx, at)
	return at, err
}

// tagPattern splits a release's tag: cluster-autoscaler- and 1.33.0.
var tagPattern = regexp.MustCompile(`^(|.*[-/])(v?[0-9]+\.[0-9]+\.[0-9]+)$`)

// add makes a candidate of a commit that a tag or something else names.
func (s commits) add(commit, ref string) (err error) {
	if _, known := s.points[commit]; known {
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
		if _, err := buildstore.Known(builds.Ref{Name: s.Record.Autoscaler, Version: version}); err == nil {
			version += "-g" + commit[:12]
		}
	}
	c.recipe, err = s.Recipe(version, commit)
	s.points[commit] = c
	return err
}

// releases are those between the ends, both included, whose tags are like both ends'.
func (s commits) releases(ctx context.Context, at ends) ([]Point, error) {
	good, bad := tagPattern.FindStringSubmatch(s.Good), tagPattern.FindStringSubmatch(s.Bad)
	if good == nil || bad == nil || good[1] != bad[1] {
		return nil, nil
	}
	tags, err := s.repo.Tags(ctx)
	if err != nil {
		return nil, err
	}
	oldest, newest := s.points[at.older].release, s.points[at.newer].release
	listed := []string{at.older, at.newer}
	for tag, commit := range tags {
		m := tagPattern.FindStringSubmatch(tag)
		if m == nil || m[1] != good[1] || slices.Contains(listed, commit) {
			continue
		}
		if v, err := semver.NewVersion(m[2]); err != nil || !v.GreaterThan(oldest) || !v.LessThan(newest) {
			continue
		}
		if err := s.add(commit, tag); err != nil {
			return nil, err
		}
		listed = append(listed, commit)
	}
	return s.inOrder(listed), nil
}

// part is where the histories of two points part, as a point.
func (s commits) part(ctx context.Context, older, newer string) (string, error) {
	base, err := s.repo.MergeBase(ctx, older, newer)
	if err != nil {
		return "", exit.UsageError(err)
	}
	return base, s.add(base, base[:12])
}

// between are the commits between two that can shape the program.
func (s commits) between(ctx context.Context, older, newer string) (points []Point, err error) {
	folder := s.repo.Prefix
	below := joined(folder, s.Record.Autoscaler)
	if !s.repo.HasFile(ctx, newer, joined(folder, "go.mod")) && s.repo.HasFile(ctx, newer, below+"/go.mod") {
		folder = below
	}
	places, err := s.repo.CommitsBetween(ctx, older, newer, folder, s.FirstParent)
	if err != nil {
		return nil, err
	}
	if len(places) == 0 {
		s.Say("no commit between %s and %s touches the program", s.called(older), s.called(newer))
		return nil, nil
	}
	s.Say("%s between %s and %s can shape the program", wording.Counted(len(places), "commit"), s.called(older), s.called(newer))
	for _, place := range places {
		if err := s.add(place.Commit, place.Commit[:12]); err != nil {
			return nil, err
		}
		points = append(points, Point{ID: place.Commit, Parents: place.Parents, Ready: s.ready(place.Commit)})
	}
	return points, nil
}

func joined(folder, file string) string {
	if folder == "" {
		return file
	}
	return folder + "/" + file
}
