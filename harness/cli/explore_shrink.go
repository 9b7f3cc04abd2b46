package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"nodestorm/harness/explore"
	"nodestorm/harness/nemesis"
	"nodestorm/harness/verdict"
	"nodestorm/reports"
	"nodestorm/sim/checker/invariants"
)

// Of how many plays a schedule has to show its failure in how many, to be kept; and of how
// many it is told how often it does.
const (
	shrinkPlays, shrinkShows = 5, 4
	ratePlays                = 10
)

func (e *env) exploreShrink() *cobra.Command {
	x := &exploration{session: &session{env: e}, met: map[string]bool{}}
	var key string
	c := &cobra.Command{
		Use:   "shrink SCHEDULE.yaml --key INVARIANT --target NAME@VERSION",
		Short: "Make a schedule as small as it gets while it breaks the same invariant",
		Long: fmt.Sprintf(`Leave out acts, groups, faults and time of a schedule, as long as it breaks the same
invariant in at least %d of %d plays. What is left is written beside it as NAME-small.yaml,
and as a feature; how often that breaks it is told of %d plays. Ctrl-C leaves the smallest
so far.

Exit status: 0 it is small and shows it in 9 of 10, 1 it shows it less often or not at all.`, shrinkShows, shrinkPlays, ratePlays),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := nemesis.Load(args[0])
			if err != nil {
				return usage(err)
			}
			if key != explore.Liveness && !invariants.Known(key) {
				return usage(fmt.Errorf("--key %q: want %s, or an invariant: nodestorm list --invariants", key, explore.Liveness))
			}
			x.settings.Site = s.Site
			if err := x.prepare(c); err != nil {
				return err
			}
			return x.shrink(c.Context(), s, args[0], key)
		},
	}
	x.addTarget(c)
	c.Flags().StringVar(&key, "key", "", "the `INVARIANT` that it is to break, or "+explore.Liveness)
	return c
}

func (x *exploration) shrink(ctx context.Context, s nemesis.Schedule, file, key string) error {
	began, plays := time.Now(), 0
	work, err := os.MkdirTemp(x.out, "shrink-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	kept := x.out
	x.out = work
	// breaks plays it once. What is inconclusive shows nothing.
	breaks := func(ctx context.Context, s nemesis.Schedule) (shows bool, row reports.Row, err error) {
		plays++
		feature, err := explore.Write(filepath.Join(work, fmt.Sprint(plays)), fmt.Sprintf("schedule-%d", plays), s)
		if err != nil {
			return false, row, err
		}
		j, one, err := x.of(feature)
		if err != nil {
			return false, row, err
		}
		_, row, err = one.replay(ctx, j.record, j.target, fmt.Sprintf("play %d, of %s: ", plays, counted(len(s.Acts), "act")))
		if err != nil {
			return false, row, err
		}
		if row.Run == "" { // its world never stood
			return false, row, nil
		}
		seen, err := x.look(row.Run)
		return slices.Contains(seen.keys, key), row, err
	}
	often := func(of, want int) nemesis.Shows {
		return func(ctx context.Context, s nemesis.Schedule) (bool, error) {
			shown := 0
			for n := range of {
				shows, row, err := breaks(ctx, s)
				if err != nil {
					return false, err
				}
				forget(row)
				if shows {
					shown++
				}
				if shown >= want || shown+of-n-1 < want {
					break
				}
			}
			if shown >= want {
				x.status.clear()
				x.say("%s are left, %s at least: %d plays, %s", counted(len(s.Acts), "act"), s.Length(), plays, time.Since(began).Round(time.Second))
			}
			return shown >= want, nil
		}
	}
	if shows, err := often(shrinkPlays, shrinkShows)(ctx, s); err != nil {
		return err
	} else if !shows {
		return fmt.Errorf("%s does not break %s in %d of %d plays of %s: there is nothing to make smaller", filepath.Base(file), key, shrinkShows, shrinkPlays, x.build.Ref)
	}
	// One play says enough of most that show nothing any more; what is kept is shown in full.
	small, err := nemesis.Shrink(ctx, s, func(ctx context.Context, s nemesis.Schedule) (bool, error) {
		shows, row, err := breaks(ctx, s)
		forget(row)
		if err != nil || !shows {
			return false, err
		}
		return often(shrinkPlays-1, shrinkShows-1)(ctx, s)
	})
	name := trimYAML(filepath.Base(file)) + "-small"
	feature, wrote := explore.Write(filepath.Dir(file), name, small)
	if err = errors.Join(err, wrote); err != nil {
		return err
	}
	shown, decided, reason := 0, 0, ""
	for range ratePlays {
		shows, row, err := breaks(ctx, small)
		if err != nil {
			return err
		}
		if row.Verdict != string(verdict.Inconclusive) {
			decided++
		}
		if shows {
			shown, reason = shown+1, row.Reason
			if shown == 1 {
				if err := os.Rename(filepath.Dir(row.Run), filepath.Join(kept, name)); err != nil && !errors.Is(err, os.ErrExist) {
					return err
				}
			}
		}
	}
	low, high := reports.Wilson(shown, decided)
	x.status.clear()
	fmt.Fprintf(x.stdout, "%s: %s of %s\n  breaks %s in %d of %d plays (%.0f to %.0f %%)\n  %s\n  after %d plays, %s\n", feature, counted(len(small.Acts), "act"), counted(len(s.Acts), "act"), key, shown, decided, 100*low, 100*high, verdict.OneLine(reason), plays, time.Since(began).Round(time.Second))
	if shown*10 < decided*9 {
		return &exit{code: NotAsExpected}
	}
	return nil
}

// forget removes what a play left, if it came to leave anything.
func forget(row reports.Row) {
	if row.Run != "" {
		_ = os.RemoveAll(filepath.Dir(row.Run))
	}
}

func trimYAML(name string) string { return name[:len(name)-len(filepath.Ext(name))] }
