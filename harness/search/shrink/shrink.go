// Package shrink makes a schedule as small as it gets while it breaks the same invariant, says
// how often what is left breaks it on which builds, and writes a draft of a record.
package shrink

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"nodestorm/harness/builds"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/search/explore"
	"nodestorm/harness/search/schedule"
	"nodestorm/reports/table"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
)

// Of how many Plays a schedule has to show its failure in how many (Shows), to be kept; of how
// many it is noted how often it does (RatePlays), and of how many on other builds (OtherPlays).
const (
	Plays, Shows = 5, 4
	RatePlays    = 10
	OtherPlays   = 3
)

// Options say what is made smaller, and how. All but Others are required.
type Options struct {
	Schedule schedule.Schedule
	Name     string // of its file
	Key      string // the invariant that it is to break, or explore.Liveness
	Build    builds.Target
	// Others are the further builds that what is left is played on.
	Others    []builds.Target
	Catalogue *scenarios.Catalogue // of the documented failures
	Out       string               // the folder in which plays are, and what comes of it
	Player    explore.Player
	// Say prints a message.
	Say func(format string, args ...any)
}

// Result is what has come of it.
type Result struct {
	explore.Draft        // On has the build first
	Folder        string // with the feature, the draft of its record and a run
	Reason        string // of that run
	Known         string // the documented failure that it is, if it is one
	Plays         int
	Took          time.Duration
}

// Stable reports whether it shows its failure in nine of ten plays.
func (r Result) Stable() bool {
	at := r.On[0]
	return at.Decided > 0 && at.Shown*10 >= at.Decided*9
}

// shrinking is a schedule that is made smaller.
type shrinking struct {
	Options
	work   string // the folder of plays
	began  time.Time
	plays  atomic.Int32
	saying sync.Mutex
}

// Run makes a schedule smaller. With the end of ctx the smallest so far is written.
func Run(ctx context.Context, o Options) (r Result, err error) {
	x := &shrinking{Options: o, began: time.Now()}
	if err := os.MkdirAll(x.Out, 0o755); err != nil {
		return r, err
	}
	if x.work, err = os.MkdirTemp(x.Out, "shrink-"); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(x.work)) }()
	first, err := x.first(ctx)
	if err != nil {
		return r, err
	}
	if first == nil {
		return r, fmt.Errorf("%s does not break %s in %d of %d plays of %s: there is nothing to make smaller",
			x.Name, x.Key, Shows, Plays, x.Build.Ref)
	}
	small, err := schedule.Shrink(ctx, *first, x.Player.AtOnce(), x.shows)
	id := explore.DraftID(x.Schedule.Site, x.Key, strings.TrimSuffix(x.Name, filepath.Ext(x.Name)))
	r.Draft, r.Folder = explore.Draft{ID: id, Key: x.Key, Schedule: small}, filepath.Join(x.Out, "found", id)
	if wrote := write(r.Folder, r.Draft); err != nil || wrote != nil {
		return r, errors.Join(err, wrote)
	}
	x.message("left of %s: %d, in %s", wording.Counted(len(x.Schedule.Acts), "act"), len(small.Acts), r.Folder)
	kept, err := x.rates(ctx, &r)
	if err != nil {
		return r, err
	}
	r.Known, err = x.conclude(ctx, r.Draft, kept, r.Folder)
	r.Reason, r.Plays, r.Took = kept.Reason, int(x.plays.Load()), time.Since(x.began)
	return r, err
}

func (x *shrinking) message(format string, args ...any) {
	x.saying.Lock()
	defer x.saying.Unlock()
	x.Say(format, args...)
}

// first is what the shrinking begins with: the schedule up to where it broke it, if that shows it
// as well, or all of it. Nil: neither shows it often enough.
func (x *shrinking) first(ctx context.Context) (*schedule.Schedule, error) {
	s := x.Schedule
	for range Plays - Shows + 1 { // as many may be without it, and one more
		p, err := x.breaks(ctx, s, x.Build)
		if err != nil {
			return nil, err
		}
		forget(p.row)
		if !p.shows {
			continue
		}
		rested, hurried := s.Truncate(s.Begun(p.steps))
		for _, from := range []schedule.Schedule{hurried, rested} {
			if from.Check() != nil || string(from.YAML()) == string(s.YAML()) { // no pod was there yet, or it is all of it
				continue
			}
			if shows, err := x.shows(ctx, from, true); shows || err != nil {
				return &from, err
			}
		}
		if shows, err := x.breaksOften(ctx, s, 1); !shows || err != nil {
			return nil, err
		}
		return &s, nil
	}
	return nil, nil
}

// attempt is what came of a play.
type attempt struct {
	row   table.Row
	shows bool // what is looked for
	steps int  // that had ended by then
}

// breaks plays a schedule once. A play that is inconclusive shows nothing.
func (x *shrinking) breaks(ctx context.Context, s schedule.Schedule, on builds.Target) (p attempt, err error) {
	nth := x.plays.Add(1)
	feature, err := explore.Write(filepath.Join(x.work, fmt.Sprint(nth)), fmt.Sprintf("schedule-%d", nth), s)
	if err != nil {
		return p, err
	}
	label := fmt.Sprintf("play %d, of %s: ", nth, wording.Counted(len(s.Acts), "act"))
	if p.row, err = x.Player.Play(ctx, feature, on, x.work, label); err != nil {
		return p, err
	}
	if p.row.Run == "" { // its world never stood
		return p, nil
	}
	shown, err := explore.Judge(ctx, p.row.Run, on.Ref, s.Site, x.Catalogue)
	p.shows, p.steps = slices.Contains(shown.Keys, x.Key), shown.Steps[x.Key]
	return p, err
}

// playSeveral plays a schedule so many times, as many at a time as can be.
func (x *shrinking) playSeveral(ctx context.Context, s schedule.Schedule, on builds.Target, plays int) ([]attempt, error) {
	all := make([]attempt, plays)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(x.Player.AtOnce())
	for i := range all {
		group.Go(func() (err error) {
			all[i], err = x.breaks(ctx, s, on)
			return err
		})
	}
	return all, group.Wait()
}

// shows is what schedule.Shrink asks for: a schedule breaks it in one play, or surely in most.
func (x *shrinking) shows(ctx context.Context, s schedule.Schedule, surely bool) (bool, error) {
	p, err := x.breaks(ctx, s, x.Build)
	forget(p.row)
	if err != nil || !p.shows || !surely {
		return p.shows, err
	}
	return x.breaksOften(ctx, s, 1)
}

// breaksOften reports whether it breaks it in Shows of Plays plays, and plays no more than that needs.
// The first plays have shown it.
func (x *shrinking) breaksOften(ctx context.Context, s schedule.Schedule, shown int) (bool, error) {
	for n := shown; shown < Shows && shown+Plays-n >= Shows; {
		more, err := x.playSeveral(ctx, s, x.Build, min(x.Player.AtOnce(), Shows-shown))
		if err != nil {
			return false, err
		}
		for _, p := range more {
			forget(p.row)
			if p.shows {
				shown++
			}
		}
		n += len(more)
	}
	if shown >= Shows {
		x.message("left: %s, %s at least: %d plays, %s",
			wording.Counted(len(s.Acts), "act"), s.Length(), x.plays.Load(), time.Since(x.began).Round(time.Second))
	}
	return shown >= Shows, nil
}

// rates plays what is left on all builds, and returns the first play on the build that shows it.
func (x *shrinking) rates(ctx context.Context, r *Result) (kept table.Row, err error) {
	at, kept, err := x.rate(ctx, r.Schedule, x.Build, RatePlays)
	if err != nil {
		return kept, err
	}
	r.On = append(r.On, at)
	for _, other := range x.Others {
		on, row, err := x.rate(ctx, r.Schedule, other, OtherPlays)
		forget(row)
		if err != nil {
			return kept, err
		}
		r.On = append(r.On, on)
	}
	return kept, nil
}

// rate plays it so many times on a build; kept is the first play that shows it.
func (x *shrinking) rate(
	ctx context.Context, s schedule.Schedule, on builds.Target, plays int,
) (at explore.BuildResult, kept table.Row, err error) {
	at.Target = on.Ref.String()
	all, err := x.playSeveral(ctx, s, on, plays)
	if err != nil {
		return at, kept, err
	}
	for _, p := range all {
		if p.row.Verdict != string(verdict.Inconclusive) {
			at.Decided++
		}
		if p.shows {
			at.Shown++
		}
		if p.shows && at.Shown == 1 {
			kept = p.row
			continue
		}
		forget(p.row)
	}
	return at, kept, nil
}

// forget removes what a play left, if it came to leave anything.
func forget(row table.Row) {
	if row.Run != "" {
		_ = os.RemoveAll(filepath.Dir(row.Run))
	}
}
