package explore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"nodestorm/harness/builds"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports/table"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
	"nodestorm/sim/oneline"
)

// Player plays features.
type Player interface {
	// Play plays the scenario of a feature on a build and keeps its run below out; its progress
	// begins with the label. It may be called AtOnce times at a time.
	Play(ctx context.Context, feature string, on builds.Target, out, label string) (table.Row, error)
	// AtOnce is how many features can be played at a time, as far as that is known.
	AtOnce() int
}

// Search has the schedules of an exploration played, and judges them. All fields are required.
type Search struct {
	*Exploration
	Build     builds.Target
	Catalogue *scenarios.Catalogue // of the documented failures
	Player    Player
	// Say prints a message.
	Say func(format string, args ...any)

	saying sync.Mutex
	said   map[string]bool // keys, with what they are known as
}

// Run plays one schedule after the other until the end of ctx, several at a time if the player
// can. The error is the cause of the end.
func (s *Search) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	one := func() {
		if err := s.playNext(ctx); err != nil {
			cancel(err)
		}
	}
	for ctx.Err() == nil && s.Player.AtOnce() <= 1 {
		one()
	}
	var wait sync.WaitGroup
	for range s.Player.AtOnce() {
		wait.Go(func() {
			for ctx.Err() == nil {
				one()
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// playNext draws a schedule, has it played and takes in what came of it.
func (s *Search) playNext(ctx context.Context) error {
	p, feature, err := s.Next()
	if err != nil {
		return err
	}
	row, err := s.Player.Play(ctx, feature, s.Build, s.dir, s.tally())
	if err != nil {
		return err
	}
	p, err = s.learn(context.WithoutCancel(ctx), p, row) // what was played counts
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("%w; make room, then the same command goes on", err)
	}
	if err != nil {
		return err
	}
	s.report(p)
	if p.DiedAtOnce && s.Futile() {
		return &exit.Error{Code: exit.NotAsExpected, Err: fmt.Errorf("%s died at once in all schedules so far, and nothing "+
			"else is to be learned of it: %s", s.Target, oneline.Ends(p.Reason))}
	}
	return nil
}

// tally is what progress says before the world's own.
func (s *Search) tally() string {
	now, suspects := s.Summary(), 0
	for _, f := range now.Found {
		if f.Known == "" {
			suspects++
		}
	}
	return fmt.Sprintf("%s, %.1f h virtual, %s: ",
		wording.Counted(now.Plays, "schedule"), now.VirtualHours, wording.Counted(suspects, "suspect"))
}

// learn judges a play. A run that broke nothing is removed: there are many. One that could not be
// judged though it was in time is kept: something of ours, or of the target's, is odd.
func (s *Search) learn(ctx context.Context, p Play, row table.Row) (Play, error) {
	p.Verdict, p.Reason, p.VirtualSeconds, p.WallSeconds = verdict.Verdict(row.Verdict), row.Reason, row.VirtualSeconds, row.WallSeconds
	if row.Run == "" {
		return s.Learn(p, nil)
	}
	shown, err := Judge(ctx, row.Run, s.Build.Ref, s.Site, s.Catalogue)
	if err != nil {
		return p, err
	}
	if shown.DiskFull != "" { // no failure of the target: it makes room, and is played again when the search goes on
		return p, errors.Join(fmt.Errorf("%w: %s", syscall.ENOSPC, shown.DiskFull), os.RemoveAll(filepath.Dir(row.Run)))
	}
	p.Keys, p.Why, p.Known, p.DiedAtOnce = shown.Keys, shown.Why, shown.Known, shown.DiedAtOnce
	if len(p.Keys) > 0 || p.Verdict == verdict.Inconclusive && shown.InTime {
		p.Run = filepath.Base(filepath.Dir(row.Run)) + "/" + filepath.Base(row.Run)
	} else if err := os.RemoveAll(filepath.Dir(row.Run)); err != nil {
		return p, err
	}
	return s.Learn(p, shown.Covered)
}

// report says what is found for the first time.
func (s *Search) report(p Play) {
	s.saying.Lock()
	defer s.saying.Unlock()
	if p.Verdict == verdict.Inconclusive && p.Run != "" {
		s.Say("schedule %d cannot be judged, and its run is kept: %s", p.N, oneline.Ends(p.Reason))
	}
	for _, key := range p.Keys {
		known := p.Known[key]
		if s.said[key+known] {
			continue
		}
		if s.said == nil {
			s.said = map[string]bool{}
		}
		s.said[key+known] = true
		what := "SUSPECT"
		if known != "" {
			what = "known as " + known
		}
		s.Say("schedule %d: %s: %s: %s", p.N, key, what, oneline.Ends(p.Why[key]))
	}
}
