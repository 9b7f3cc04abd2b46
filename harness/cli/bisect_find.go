package cli

import (
	"context"
	"fmt"
	"slices"

	"nodestorm/harness/builds/repository"
	"nodestorm/harness/search/bisect"
)

// found is where the verdict changes.
type found struct {
	// before is the last point that is like the older end, first are those of which one is
	// the first that is not: the newest first.
	before string
	// parted says that others are between before and the first, which were not asked.
	parted bool
	first  []string
	commit bool // they are commits, not releases
	notes  []string
}

// find asks the ends, the releases between, then the commits.
func (b *bisection) find(ctx context.Context, at ends) (f found, err error) {
	point := func(id string) bisect.Point { return bisect.Point{ID: id} }
	if err := b.hunt.Ends(ctx, point(at.good), point(at.bad), at.goodIsOlder); err != nil {
		return f, err
	}
	f = found{before: at.older, first: []string{at.newer}}
	if len(at.releases) > 2 {
		if b.every {
			if err := b.hunt.Every(ctx, at.releases); err != nil {
				return f, err
			}
		}
		if f.first, err = b.hunt.Between(ctx, at.releases[:len(at.releases)-1]); err != nil {
			return f, err
		}
	}
	f.before = b.beforeOf(at.releases, f.first, at.older)
	if at.repo == nil || b.releases || (len(at.releases) > 0 && len(f.first) != 1) {
		return f, nil
	}
	return b.findCommit(ctx, at, f)
}

// beforeOf is the release right before the oldest of first, or the older end.
func (b *bisection) beforeOf(releases []bisect.Point, first []string, older string) string {
	i := slices.IndexFunc(releases, func(p bisect.Point) bool { return p.ID == first[len(first)-1] })
	if i >= 0 && i+1 < len(releases) {
		return releases[i+1].ID
	}
	return older
}

// findCommit looks between two releases, or between both ends.
func (b *bisection) findCommit(ctx context.Context, at ends, f found) (found, error) {
	older, newer := f.before, f.first[0]
	base, err := at.repo.MergeBase(ctx, older, newer)
	if err != nil {
		return f, usage(err)
	}
	if base != older {
		// Both are on branches of their own: what was changed before these parted is on
		// neither.
		b.say("%s is not before %s: where their branches part is asked first", b.name(older), b.name(newer))
		if _, known := b.points[base]; !known {
			if err := b.add(base, base[:12]); err != nil {
				return f, err
			}
		}
		t, err := b.hunt.Ask(ctx, bisect.Point{ID: base})
		if err != nil {
			return f, err
		}
		switch b.hunt.State(t) {
		case bisect.New:
			f.notes = append(f.notes, fmt.Sprintf("where the branches of %s and %s part (%.12s) it is %s as in the newer: the change is on the branch of the older one, and was looked for there, from there on", b.name(older), b.name(newer), base, t.Verdict))
			b.say("%s", f.notes[0])
			b.hunt.Old, b.hunt.New = b.hunt.New, b.hunt.Old
			older, newer = base, older
		case bisect.Old:
			older = base
		default:
			f.notes = append(f.notes, fmt.Sprintf("whether %.12s, where the branches part, is as %s could not be told, and was taken for granted", base, b.name(older)))
		}
	}
	points, err := b.commits(ctx, at.repo, older, newer)
	if err != nil || len(points) == 0 {
		return f, err
	}
	first, err := b.hunt.Between(ctx, points)
	if err != nil {
		return f, err
	}
	f.commit, f.first = true, first
	f.before, f.parted = b.parentOf(points, first, older)
	return f, nil
}

// parentOf is a commit right before the oldest of first that has been asked. If none has,
// it is the newest asked that is as the older end, or older, and parted.
func (b *bisection) parentOf(points []bisect.Point, first []string, older string) (commit string, parted bool) {
	rightBefore := false // older is
	for _, p := range points {
		if p.ID != first[len(first)-1] {
			continue
		}
		for _, parent := range p.Parents {
			rightBefore = rightBefore || parent == older
			if t, known := b.hunt.Known[parent]; known && b.hunt.State(t) == bisect.Old {
				return parent, false
			}
		}
	}
	// The nearest that is known, of a merge's other side say.
	for _, p := range points {
		if t, known := b.hunt.Known[p.ID]; known && b.hunt.State(t) == bisect.Old {
			return p.ID, true
		}
	}
	return older, !rightBefore
}

// commits are those between two that can shape the program.
func (b *bisection) commits(ctx context.Context, repo *repository.Repository, older, newer string) ([]bisect.Point, error) {
	folder := repo.Prefix
	below := joined(folder, b.record.Autoscaler)
	if !repo.Has(ctx, newer, joined(folder, "go.mod")) && repo.Has(ctx, newer, below+"/go.mod") {
		folder = below
	}
	places, err := repo.Between(ctx, older, newer, folder, b.firstParent)
	if err != nil {
		return nil, err
	}
	if len(places) == 0 {
		b.say("no commit between %s and %s touches the program", b.name(older), b.name(newer))
		return nil, nil
	}
	b.say("%s between %s and %s can shape the program", counted(len(places), "commit"), b.name(older), b.name(newer))
	var points []bisect.Point
	for _, place := range places {
		if err := b.add(place.Commit, place.Commit[:12]); err != nil {
			return nil, err
		}
		points = append(points, bisect.Point{ID: place.Commit, Parents: place.Parents, Ready: b.ready(place.Commit)})
	}
	return points, nil
}

func joined(folder, file string) string {
	if folder == "" {
		return file
	}
	return folder + "/" + file
}
