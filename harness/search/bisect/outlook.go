package bisect

import (
	"context"
	"math/bits"
	"time"

	"nodestorm/harness/builds"
)

// Expected is a build that would be played, and how it is had.
type Expected struct {
	Name string // for people
	Ref  builds.Ref
	Way  Origin
	// Took is how long the last build of such a target took here; 0 if that is not known.
	Took time.Duration
}

// OutlookOver is what ReplayReleases would play, oldest first. It gets nothing.
func (o Options) OutlookOver(known []string, get Getting) (list []Expected) {
	for _, version := range o.versions(known, get.Pushed) {
		ref, way, got, _ := o.wayTo(version, get)
		if way == InStore && !got.OfRelease() {
			way = Unavailable
		}
		list = append(list, Expected{Name: ref.String(), Ref: ref, Way: way, Took: o.Store.Expected(ref)})
	}
	return list
}

// Outlook is what Find would build and play: both ends, and at most so many of the releases and commits between
// them. It builds nothing, and does not know what an earlier call has learned.
func (q *Inquiry) Outlook(ctx context.Context) (ends []Expected, between int, err error) {
	for _, id := range []string{q.ends.older, q.ends.newer} {
		c := q.points[id]
		e := Expected{Name: q.called(id), Ref: c.recipe.Ref, Way: Built, Took: q.Store.Expected(c.recipe.Ref)}
		if q.ready(id) {
			e.Way = InStore
		}
		ends = append(ends, e)
	}
	releases := q.ends.releases
	switch n := len(releases); {
	case n > 2 && q.Every:
		between = n - 2
	case n > 2:
		between = stepsTo(n - 1)
	}
	if q.repo == nil || q.Releases {
		return ends, between, nil
	}
	if len(releases) == 0 {
		releases = []Point{{ID: q.ends.newer}, {ID: q.ends.older}}
	}
	commits := 0
	for i := range releases[1:] {
		points, err := q.repo.between(ctx, releases[i+1].ID, releases[i].ID)
		if err != nil {
			return nil, 0, err
		}
		commits = max(commits, len(points))
	}
	return ends, between + stepsTo(commits), nil
}

// stepsTo is about how many of so many points are asked to find the first that is new, which the newest is known to be.
func stepsTo(points int) int {
	if points == 0 {
		return 0
	}
	return bits.Len(uint(points - 1))
}
