package bisect

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nodestorm/harness/run/exit"
	"nodestorm/reports/wording"
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

// Find asks the ends, the releases between, then the commits. If there is nothing to find between the
// ends its error is a *SidesError with an exit status.
func (q *Inquiry) Find(ctx context.Context) (*Answer, error) {
	q.hunt.Known = q.memory.known()
	f, err := q.find(ctx)
	var sides *SidesError
	switch {
	case errors.As(err, &sides):
		return nil, &exit.Error{Code: sides.status(), Err: err}
	case err != nil:
		if n := len(q.memory.Trials); ctx.Err() != nil && n > 0 {
			q.Say("%s learned so far: kept in %s, and the same command goes on from there", wording.Counted(n, "answer"), q.memory.path)
		}
		return nil, err
	}
	return q.answer(ctx, f)
}

func (q *Inquiry) find(ctx context.Context) (f found, err error) {
	at := q.ends
	if err := q.hunt.Ends(ctx, Point{ID: at.good}, Point{ID: at.bad}, at.goodIsOlder); err != nil {
		return f, err
	}
	f = found{before: at.older, first: []string{at.newer}}
	if len(at.releases) > 2 {
		if q.Every {
			if err := q.hunt.TryAll(ctx, at.releases); err != nil {
				return f, err
			}
		}
		if f.first, err = q.hunt.FindFirstNew(ctx, at.releases[:len(at.releases)-1]); err != nil {
			return f, err
		}
	}
	f.before = at.beforeOf(f.first)
	if q.repo == nil || q.Releases || (len(at.releases) > 0 && len(f.first) != 1) {
		return f, nil
	}
	return q.findCommit(ctx, f)
}

// beforeOf is the release right before the oldest of first, or the older end.
func (e ends) beforeOf(first []string) string {
	i := slices.IndexFunc(e.releases, func(p Point) bool { return p.ID == first[len(first)-1] })
	if i >= 0 && i+1 < len(e.releases) {
		return e.releases[i+1].ID
	}
	return e.older
}

// findCommit looks between two releases, or between both ends.
func (q *Inquiry) findCommit(ctx context.Context, f found) (found, error) {
	older, newer := f.before, f.first[0]
	base, err := q.repo.part(ctx, older, newer)
	if err != nil {
		return f, err
	}
	if base != older {
		if older, newer, err = q.findOnBranches(ctx, &f, older, newer, base); err != nil {
			return f, err
		}
	}
	points, err := q.repo.between(ctx, older, newer)
	if err != nil || len(points) == 0 {
		return f, err
	}
	first, err := q.hunt.FindFirstNew(ctx, points)
	if err != nil {
		return f, err
	}
	f.commit, f.first = true, first
	f.before, f.parted = q.parentOf(points, first, older)
	return f, nil
}

// findOnBranches says between which points to look where both are on branches of their own: what was changed
// before these parted, at base, is on neither.
func (q *Inquiry) findOnBranches(ctx context.Context, f *found, older, newer, base string) (from, to string, err error) {
	q.Say("%s is not before %s: where their branches part is asked first", q.called(older), q.called(newer))
	t, err := q.hunt.RunTrial(ctx, Point{ID: base})
	if err != nil {
		return "", "", err
	}
	switch q.hunt.State(t) {
	case New:
		note := fmt.Sprintf("where the branches of %s and %s part (%.12s) it is %s as in the newer: the change is on the branch of the older "+
			"one, and was looked for there, from there on",
			q.called(older), q.called(newer), base, t.Verdict)
		f.notes = append(f.notes, note)
		q.Say("%s", note)
		q.hunt.Old, q.hunt.New = q.hunt.New, q.hunt.Old
		return base, older, nil
	case Old:
		return base, newer, nil
	}
	f.notes = append(f.notes, fmt.Sprintf("could not determine whether %.12s, where the branches part, is as %s; assumed that it is",
		base, q.called(older)))
	return older, newer, nil
}

// parentOf is a commit right before the oldest of first that has been asked. If none has,
// it is the newest asked that is as the older end, or older, and parted.
func (q *Inquiry) parentOf(points []Point, first []string, older string) (commit string, parted bool) {
	old := func(id string) bool {
		t, known := q.hunt.Known[id]
		return known && q.hunt.State(t) == Old
	}
	rightBefore := false // older is
	for _, p := range points {
		if p.ID != first[len(first)-1] {
			continue
		}
		for _, parent := range p.Parents {
			rightBefore = rightBefore || parent == older
			if old(parent) {
				return parent, false
			}
		}
	}
	// The nearest that is known, of a merge's other side say.
	for _, p := range points {
		if old(p.ID) {
			// mutant: whatever was asked is the last before a commit
			return p.ID, true
		}
	}
	return older, !rightBefore
}
