package replays

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/program"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/search/explore"
	"nodestorm/harness/search/schedule"
	"nodestorm/reports/interval"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
	"nodestorm/sim/oneline"
	"nodestorm/sim/strict"
)

// exploration is what explore and its subcommands share.
type exploration struct {
	*session
	settings explore.Settings
	lasts    time.Duration
	asJSON   bool

	build builds.Target
	known *scenarios.Catalogue
}

var _ = Commands.Add(console.Test, newExplore)

func newExplore(e *console.Console) *cobra.Command {
	x := &exploration{session: newSession(e)}
	c := &cobra.Command{
		Use:   "explore --target NAME@VERSION",
		Short: "Search for failures that were never reported",
		Long: fmt.Sprintf(`Draw schedules of demand, faults, restarts and people from a seed, play each in a world of
its own, and judge it by the invariants of every run ("nodestorm list --invariants"), and by
whether every pod runs once nothing is wrong any more. What has covered something new, of
the target's calls, log lines and faults, is drawn from again.

All is kept below --out: schedules, as YAML and as features that "nodestorm run" plays, and
the runs that broke something. The same command goes on where it was. A run whose failure is
documented is named after its record. Any other is a suspect: its schedule is played again, and
one that shows it in less than nine of ten is unstable. "nodestorm explore shrink" makes a
schedule small.

Profiles: %s.
Sites: %s.

Exit status: 0 nothing was found that is not documented, 1 something was, 2 usage.`,
			strings.Join(schedule.Profiles(), "; "), strings.Join(schedule.Sites(), ", ")),
		Example: `  nodestorm explore --target karpenter@v1.14.1 --cloud instances \
    --duration 30m
  nodestorm explore --target cluster-autoscaler@1.36.1 --profile outage --seed 7
  nodestorm explore shrink schedule-12.yaml \
    --invariant no-overshoot --target karpenter@v1.14.1
  nodestorm explore print schedule.yaml > mine.feature`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return x.run(c) },
	}
	x.addTarget(c)
	x.AddParallel(c)
	c.Flags().StringVar(&x.settings.Profile, "profile", "small", "`PROFILE` of what is done, and how much: small, churn, outage or upgrade")
	c.Flags().StringSliceVar(&x.settings.Faults, "faults", nil, "only faults with `TEXT` in their sentences; several with commas")
	c.Flags().DurationVar(&x.lasts, "duration", 30*time.Minute, "search for `DURATION` of real time")
	e.RenamedFlag(c, "for", "duration")
	c.Flags().IntVar(&x.settings.Again, "replays", 9, "replay what shows a new suspect `N` times")
	e.RenamedFlag(c, "again", "replays")
	e.OutputFlags(c, &x.asJSON)
	c.AddCommand(newExploreShrink(e), newExplorePrint(e))
	return c
}

// addTarget adds the flags that say what is played, and how.
func (x *exploration) addTarget(c *cobra.Command) {
	x.AddFlags(c)
	_ = c.Flags().Set("out", filepath.Join("reports", "out", "explore"))
	c.Flags().Lookup("out").DefValue = filepath.Join("reports", "out", "explore")
	x.Console.CatalogueFlags(c)
	c.Flags().StringVarP(&x.settings.Target, "target", "t", "", "build to search, `NAME@VERSION`")
	_ = c.RegisterFlagCompletionFunc("target", console.CompleteTargets)
	x.addRace(c)
	c.Flags().StringVar(&x.Cloud, "cloud", "",
		"simulated `CLOUD`: externalgrpc, hetzner or clusterapi for Cluster Autoscaler, kwok or instances for Karpenter, "+
			"aws for Karpenter for AWS")
}

// prepare finds the build and all that can be wrong before anything starts.
func (x *exploration) prepare(c *cobra.Command) (err error) {
	if x.settings.Again < 0 {
		return exit.UsageError(fmt.Errorf("--replays %d: want 0 or more", x.settings.Again))
	}
	if x.settings.Target == "" {
		return exit.UsageError(errors.New("--target NAME@VERSION is missing, such as karpenter@v1.14.1"))
	}
	ref, err := builds.ParseRef(x.settings.Target)
	if err != nil {
		return exit.UsageError(err)
	}
	if x.settings.Site == "" {
		if clouds := cloudsOf(ref.Name); x.Cloud != "" && len(clouds) > 0 && !slices.Contains(clouds, x.Cloud) {
			return exit.UsageError(fmt.Errorf("--cloud: unknown cloud %q of %s%s; want one of %s",
				x.Cloud, ref.Name, strict.Meant(x.Cloud, clouds), strings.Join(clouds, ", ")))
		}
		of := x.Cloud
		if drawn := program.Named(ref.Name).Drawn; of == "" && drawn != nil {
			of = drawn.Cloud
		}
		x.settings.Site = ref.Name + "/" + of
	}
	x.settings.Seed = x.World.Seed
	if x.known, err = x.Console.LoadCatalogue(); err != nil {
		return err
	}
	program, provider, err := schedule.Program(x.settings.Site)
	if err == nil && x.settings.Profile != "" { // of a schedule that is there nothing is drawn
		err = schedule.Drawing{Site: x.settings.Site, Profile: x.settings.Profile, Faults: x.settings.Faults}.Check()
	}
	if err != nil {
		return exit.UsageError(err)
	}
	if program != ref.Name {
		return exit.UsageError(fmt.Errorf("the schedule is for %s, and --target is %s", program, ref))
	}
	if provider != builds.Kwok {
		ref.Provider = provider
	}
	ref.Race = x.Race
	x.Cloud = "" // check knows Karpenter's only
	if err := x.check(c); err != nil {
		return err
	}
	have, err := x.Open(c.Context(), supply.Refuse, ref)
	if err != nil {
		return err
	}
	x.build = have[ref]
	return x.findOlder(ref)
}

// findOlder finds the releases before that the store has: schedules that upgrade begin with one of them.
func (x *exploration) findOlder(ref builds.Ref) error {
	if !schedule.Upgrades(x.settings.Site, x.settings.Profile) {
		return nil
	}
	store, err := buildstore.Open("")
	if err != nil {
		return err
	}
	for n := 1; n <= schedule.MostBefore; n++ {
		older, err := scenarios.ReleaseBefore(ref.Name, x.build.Version, n)
		if err != nil {
			return nil // there is none
		}
		at := ref
		at.Version = older
		if _, err := store.Get(at); err != nil {
			x.Remark("no schedule upgrades from %s: %s", at, wording.Clean(err.Error()))
			return nil
		}
		x.settings.Before = append(x.settings.Before, older)
	}
	return nil
}

// cloudsOf are those on which a program can be searched.
func cloudsOf(name string) (clouds []string) {
	for _, site := range schedule.Sites() {
		if program, cloud, _ := strings.Cut(site, "/"); program == name {
			clouds = append(clouds, cloud)
		}
	}
	return clouds
}

func (x *exploration) run(c *cobra.Command) error {
	if err := x.prepare(c); err != nil {
		return err
	}
	if err := x.checkParallel(1); err != nil {
		return err
	}
	if x.Serving != nil {
		return x.Serving.Serve(c.Context(), os.Stdin, &x.Queue, queue.FeaturesOn(x.build))
	}
	found, err := explore.Open(x.Out, x.settings)
	if err != nil {
		return exit.UsageError(err)
	}
	defer found.Close()
	err = x.search(c.Context(), found)
	x.Line().Clear()
	summary := found.Summary()
	if said := x.conclude(summary); said != nil {
		return said
	}
	if err != nil {
		return err
	}
	if slices.ContainsFunc(summary.Found, func(f explore.Found) bool { return f.Known == "" }) {
		return &exit.Error{Code: exit.NotAsExpected}
	}
	return nil
}

var errTimeIsUp = errors.New("the time that --duration gives is up")

// search plays schedules until the time is up.
func (x *exploration) search(ctx context.Context, found *explore.Exploration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, x.lasts, errTimeIsUp)
	defer cancel()
	pool := x.NewPool()
	search := explore.Search{Exploration: found, Build: x.build, Catalogue: x.known, Player: pool, Say: x.SayBetween}
	err := search.Run(ctx)
	if stuck := pool.Close(); stuck != nil {
		return stuck
	}
	if errors.Is(err, errTimeIsUp) {
		return nil
	}
	return err
}

func (x *exploration) conclude(s explore.Summary) error {
	if x.asJSON {
		return x.JSON(s)
	}
	fmt.Fprintf(x.Stdout, "%s on %s: %s, %.1f virtual hours in %.2f h, %d inconclusive, %d things covered\n",
		s.Target, s.Site, wording.Counted(s.Plays, "schedule"), s.VirtualHours, s.WallHours, s.Inconclusive, s.Covered)
	for _, f := range s.Found {
		file := filepath.Join(x.Out, "schedules", fmt.Sprint(f.First), fmt.Sprintf("schedule-%d.yaml", f.First))
		as := "not documented: " + oneline.Command("nodestorm", "explore", "shrink", file, "--invariant", f.Key, "--target", s.Target)
		if f.Known != "" {
			as = "known as " + f.Known
		} else {
			low, high := interval.Wilson(f.Shown, f.Decided)
			rate := fmt.Sprintf("the first shows it in %d of %d plays (%.0f to %.0f %%)", f.Shown, f.Decided, 100*low, 100*high)
			if f.Unstable() {
				rate = "unstable: " + rate
			}
			as = rate + "; " + as
		}
		fmt.Fprintf(x.Stdout, "  %s, in %s: %s\n", f.Key, wording.Counted(f.Plays, "schedule"), as)
	}
	return nil
}

func newExplorePrint(e *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "print SCHEDULE.yaml",
		Short:   "Print a schedule as the feature that is played",
		Example: `  nodestorm explore print schedule.yaml > mine.feature`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := schedule.Load(args[0])
			if err != nil {
				return exit.UsageError(err)
			}
			text, err := s.Feature()
			if err != nil {
				return exit.UsageError(err)
			}
			_, err = fmt.Fprint(e.Stdout, text)
			return err
		},
	}
}
