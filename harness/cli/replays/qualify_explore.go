package replays

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/search/explore"
	"nodestorm/reports/qualification"
	"nodestorm/reports/wording"
)

// onSuspects is how often the schedule of a suspect is played again, on the release and on the one before.
const onSuspects = 4

// searched are the profiles whose schedules a release has to stand: those of every day, and those that upgrade it.
var searched = []string{"small", "upgrade"}

// newSearches prepares a search for each of them, before anything is played. They share the time that --explore gives.
func (q *qualifying) newSearches(c *cobra.Command) (all []*exploration, err error) {
	if q.explores == 0 || q.Serving != nil {
		return nil, nil
	}
	for _, profile := range searched {
		x := &exploration{session: newSession(q.Console), lasts: q.explores / time.Duration(len(searched))}
		x.World, x.Cloud, x.Out, x.AtOnce = q.World, q.Cloud, filepath.Join(q.Out, "explore", profile), 1 // workers would play records
		x.settings = explore.Settings{Target: q.ref.String(), Profile: profile, Again: onSuspects}
		if err := x.prepare(c); err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

// explore plays drawn schedules on the release, and on the release before those that show what no record explains.
func (q *qualifying) explore(ctx context.Context, x *exploration) (search qualification.Search, err error) {
	found, err := explore.Open(x.Out, x.settings)
	if err != nil {
		return search, exit.UsageError(err)
	}
	defer found.Close()
	if err := x.search(ctx, found); err != nil {
		return search, err
	}
	s := found.Summary()
	search = qualification.Search{
		Profile: s.Profile, Seed: s.Seed, Plays: s.Plays, Inconclusive: s.Inconclusive, VirtualHours: s.VirtualHours, Covered: s.Covered,
	}
	for _, f := range s.Found {
		if f.Known != "" {
			continue // its record is a finding
		}
		name := fmt.Sprintf("schedule-%d", f.First)
		shown := qualification.Drawn{
			Name: s.Profile + " " + name + ": " + f.Key, Title: "drawn, and explained by no record",
			On:     qualification.Tally{Shown: f.Shown, Runs: f.Decided},
			Reason: fmt.Sprintf("its schedule is explore/%s/schedules/%d/%s.yaml, for nodestorm explore shrink", s.Profile, f.First, name),
		}
		if q.since.Name != "" {
			if shown.Before, err = q.exploreBefore(ctx, x, f); err != nil {
				return search, err
			}
		}
		search.Found = append(search.Found, shown)
	}
	x.Line().Clear()
	return search, nil
}

// exploreBefore plays a suspect's schedule on the release before. One that it cannot be given is not played.
func (q *qualifying) exploreBefore(ctx context.Context, x *exploration, f explore.Found) (n qualification.Tally, err error) {
	ref := x.build.Ref
	ref.Version = q.since.Version
	have, err := x.Open(ctx, supply.Refuse, ref)
	if err != nil {
		return n, err
	}
	pool := x.NewPool()
	defer func() { err = errors.Join(err, pool.Close()) }()
	feature := filepath.Join(x.Out, "schedules", fmt.Sprint(f.First), fmt.Sprintf("schedule-%d.feature", f.First))
	for i := range onSuspects + 1 {
		label := fmt.Sprintf("schedule %d on %s, %d of %d: ", f.First, ref, i+1, onSuspects+1)
		row, err := pool.Play(ctx, feature, have[ref], filepath.Join(x.Out, "before"), label)
		if ctx.Err() != nil {
			return n, context.Cause(ctx)
		}
		if err != nil {
			x.Say("schedule %d cannot be played on %s: %s", f.First, ref, wording.Clean(err.Error()))
			return n, nil
		}
		if verdict.Verdict(row.Verdict) == verdict.Inconclusive || row.Run == "" {
			continue
		}
		shown, err := explore.Judge(ctx, row.Run, builds.Ref{Name: ref.Name, Version: ref.Version}, x.settings.Site, x.known)
		if err != nil {
			return n, err
		}
		n.Runs++
		if slices.Contains(shown.Keys, f.Key) {
			n.Shown++
		}
	}
	return n, nil
}
