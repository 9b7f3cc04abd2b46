package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nodestorm/harness/replay"
	"nodestorm/harness/target"
	"nodestorm/harness/verdict"
	"nodestorm/reports"
	"nodestorm/scenarios"
	"nodestorm/sim/clock"
)

// session is what run and verify share: how to replay.
type session struct {
	*env
	clock      clock.Mode
	seed       uint64
	out        string
	flags      []string
	kubernetes target.Target
	assets     string // KUBEBUILDER_ASSETS
	commit     string
	features   fs.FS
	status     *status
}

func (s *session) addFlags(c *cobra.Command) {
	c.Flags().Var(&s.clock, "clock", "how virtual time passes")
	c.Flags().Uint64Var(&s.seed, "seed", 1, "what all randomness of the simulated nodes derives from")
	c.Flags().StringVar(&s.out, "out", filepath.Join("reports", "out"), "`folder` for the runs")
}

// open gets ready to replay: the control plane is there after it.
func (s *session) open(ctx context.Context, features fs.FS, flags []string) (err error) {
	s.features, s.flags, s.status = features, flags, newStatus(s.stderr)
	if s.out, err = filepath.Abs(s.out); err != nil {
		return err
	}
	if root, err := target.Root(); err == nil {
		if b, err := exec.CommandContext(ctx, "git", "-C", root, "rev-parse", "HEAD").Output(); err == nil {
			s.commit = strings.TrimSpace(string(b))
		}
	}
	if s.assets = os.Getenv("KUBEBUILDER_ASSETS"); s.assets != "" {
		if s.clock.Virtual() {
			fmt.Fprintf(s.stderr, "nodestorm: the control plane of KUBEBUILDER_ASSETS (%s) is not built with the clock: this runs in real time\n", s.assets)
		}
		s.clock = clock.Real
	}
	s.kubernetes, err = s.ensure(ctx, target.Kubernetes)
	return err
}

// unavailable says that a target is not in the store and has no recipe.
type unavailable struct{ err error }

func (u *unavailable) Error() string { return u.err.Error() }

// ensure gets a target from the store, and builds it if it is of a known recipe.
func (e *env) ensure(ctx context.Context, ref target.Ref) (target.Target, error) {
	t, err := e.store.Get(ref)
	var missing *target.NotFoundError
	var stale *target.StaleError
	if !errors.As(err, &missing) && !errors.As(err, &stale) {
		return t, err
	}
	recipe, unknown := target.Known(ref)
	if unknown != nil {
		return t, &unavailable{err}
	}
	fmt.Fprintf(e.stderr, "nodestorm: building %s; this is done once\n", ref)
	return e.build(ctx, recipe)
}

// replay replays one record on one target and returns the row of it.
func (s *session) replay(ctx context.Context, record scenarios.Record, t target.Target, label string) (replay.Result, reports.Row, error) {
	watch, stop := s.watch(fmt.Sprintf("%s%s %s", label, record.ID, t.Ref))
	defer stop()
	result, err := replay.Run(ctx, replay.Request{
		Record: record, Target: t, Kubernetes: s.kubernetes, ControlPlane: s.assets, Features: s.features,
		Clock: s.clock, Seed: s.seed, Out: s.out, Commit: s.commit, Flags: s.flags, Watch: watch,
	})
	if err != nil {
		return result, reports.Row{}, err
	}
	row := reports.Row{
		ID:             record.ID,
		Target:         t.Ref.String(),
		Expected:       string(result.Expected),
		Verdict:        string(result.Verdict),
		Outcome:        string(verdict.Compare(result.Expected, result.Verdict)),
		Reason:         result.Reason,
		WallSeconds:    result.Wall.Seconds(),
		VirtualSeconds: result.Clock.Virtual.Seconds(),
		Factor:         result.Clock.Mean,
		LagP99Ms:       float64(result.Clock.Lag.P99) / float64(time.Millisecond),
		Run:            result.Dir,
	}
	return result, row, nil
}

// watch shows the step under way, the virtual time and its factor.
func (s *session) watch(what string) (watch func(string, func() clock.Figures), stop func()) {
	type news struct {
		step  string
		clock func() clock.Figures
	}
	steps := make(chan news)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer s.status.clear()
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		var now news
		for {
			select {
			case n, more := <-steps:
				if !more {
					return
				}
				now = n
			case <-tick.C:
				if now.clock == nil {
					continue
				}
			}
			f := now.clock()
			text := what
			if f.Virtual > 0 {
				text += fmt.Sprintf("  %s  %.0fx", f.Virtual.Truncate(time.Second), f.Mean)
			}
			s.status.about(what+now.step, text+"  "+now.step, "")
		}
	}()
	return func(step string, clock func() clock.Figures) { steps <- news{step, clock} },
		func() { close(steps); <-done }
}
