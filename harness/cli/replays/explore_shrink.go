package replays

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/search/explore"
	"nodestorm/harness/search/schedule"
	"nodestorm/harness/search/shrink"
	"nodestorm/reports/interval"
	"nodestorm/reports/wording"
	"nodestorm/sim/history/invariants"
	"nodestorm/sim/oneline"
)

// shrinking is a schedule that is made smaller.
type shrinking struct {
	*exploration
	key    string
	on     []string
	others []builds.Target // that what is left is played on
}

func newExploreShrink(e *console.Console) *cobra.Command {
	x := &shrinking{exploration: &exploration{session: newSession(e)}}
	c := &cobra.Command{
		Use:   "shrink FILE.yaml --invariant NAME -t NAME@VERSION",
		Short: "Reduce a schedule that breaks an invariant",
		Long: fmt.Sprintf(`Leave out acts, groups, faults and time of a schedule, as long as it breaks the same
invariant in at least %d of %d plays: at first all that came after it was broken. How often
what is left breaks it is counted in %d plays, and in %d on each other build that the store has,
or on those of --also-on.

What comes of it is a folder below --out: a feature and a draft of its record, which
"nodestorm run ID --catalogue FOLDER" plays, the schedule, a run with its page, and
issue.md, a text for upstream. Ctrl-C leaves the smallest schedule so far.

Several are played at a time if the machine bears it; what is left does not depend on that.

Exit status: 0 it is small and shows it in 9 of 10, 1 it shows it less often or not at all.`,
			shrink.Shows, shrink.Plays, shrink.RatePlays, shrink.OtherPlays),
		Example: `  nodestorm explore shrink schedule-12.yaml --invariant no-leak \
    --target karpenter@v1.14.1
  nodestorm explore shrink schedule-12.yaml --invariant liveness \
    --target karpenter@v1.14.1 --also-on karpenter@v1.7.0`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := schedule.Load(args[0])
			if err != nil {
				return exit.UsageError(err)
			}
			if x.key != explore.Liveness && !invariants.Known(x.key) {
				return exit.UsageError(fmt.Errorf("--invariant %q: want %s, or an invariant: nodestorm list --invariants", x.key, explore.Liveness))
			}
			x.settings.Site = s.Site
			if err := x.prepare(c); err != nil {
				return err
			}
			if x.others, err = x.otherBuilds(c); err != nil {
				return err
			}
			if err := x.checkParallel(1); err != nil {
				return err
			}
			if x.Serving != nil {
				return x.Serving.Serve(c.Context(), os.Stdin, &x.Queue, queue.FeaturesOn(append([]builds.Target{x.build}, x.others...)...))
			}
			return x.shrink(c.Context(), s, args[0])
		},
	}
	x.addTarget(c)
	x.AddParallel(c)
	c.Flags().StringVar(&x.key, "invariant", "", "`INVARIANT` to break, or "+explore.Liveness)
	x.RenamedFlag(c, "key", "invariant")
	c.Flags().StringSliceVar(&x.on, "also-on", nil, "also play the result on `NAME@VERSION`; default: all other builds")
	x.RenamedFlag(c, "on", "also-on")
	_ = c.RegisterFlagCompletionFunc("also-on", console.CompleteTargets)
	return c
}

// otherBuilds are the further ones that what is left is played on, the newest first.
func (x *shrinking) otherBuilds(c *cobra.Command) (all []builds.Target, err error) {
	refs, named := x.Store.Refs(), c.Flags().Changed("also-on")
	if named {
		refs = nil
		for _, name := range x.on {
			ref, err := builds.ParseRef(name)
			if err == nil && ref.Name != x.build.Name {
				err = fmt.Errorf("the schedule is for %s", x.build.Name)
			}
			if err != nil {
				return nil, exit.UsageError(fmt.Errorf("--also-on %s: %w", name, err))
			}
			refs = append(refs, ref)
		}
	}
	slices.Reverse(refs)
	for _, ref := range refs {
		if ref.Name != x.build.Name || ref.Version == x.build.Version {
			continue
		}
		ref.Provider, ref.Race = x.build.Provider, x.build.Race
		got, err := replay.Find(x.Store, ref)
		if err == nil {
			err = replay.CheckClock(x.World.Clock, got)
		}
		switch {
		case err == nil:
			all = append(all, got)
		case named:
			return nil, exit.UsageError(fmt.Errorf("--also-on %s: %w", ref, err))
		}
	}
	return all, nil
}

// shrink makes the schedule smaller, and prints what has come of it.
func (x *shrinking) shrink(ctx context.Context, s schedule.Schedule, file string) error {
	pool := x.NewPool()
	r, err := shrink.Run(ctx, shrink.Options{
		Schedule: s, Name: filepath.Base(file), Key: x.key, Build: x.build, Others: x.others,
		Catalogue: x.known, Out: x.Out, Player: pool, Say: x.SayBetween,
	})
	if err := errors.Join(err, pool.Close()); err != nil {
		return err
	}
	at := r.On[0]
	low, high := interval.Wilson(at.Shown, at.Decided)
	x.Line().Clear()
	fmt.Fprintf(x.Stdout, "%s: %s of %s\n  breaks %s in %d of %d plays of %s (%.0f to %.0f %%)\n  %s\n",
		r.Folder, wording.Counted(len(r.Schedule.Acts), "act"), wording.Counted(len(s.Acts), "act"),
		x.key, at.Shown, at.Decided, at.Target, 100*low, 100*high, oneline.Ends(r.Reason))
	if r.Known != "" {
		fmt.Fprintf(x.Stdout, "  known as %s\n", r.Known)
	}
	for _, on := range r.On[1:] {
		fmt.Fprintf(x.Stdout, "  %s: in %d of %d plays\n", on.Target, on.Shown, on.Decided)
	}
	fmt.Fprintf(x.Stdout, "  after %d plays, %s; since when: %s\n", r.Plays, r.Took.Round(time.Second),
		oneline.Command("nodestorm", "bisect", r.ID, "--catalogue", r.Folder, "--source", "REPOSITORY", "--good", "VERSION", "--bad", "VERSION"))
	if !r.Stable() {
		return &exit.Error{Code: exit.NotAsExpected}
	}
	return nil
}
