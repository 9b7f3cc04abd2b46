package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/search/explore"
	"nodestorm/harness/search/schedule"
	"nodestorm/reports"
	"nodestorm/scenarios"
	"nodestorm/sim/history/invariants"
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
	found *explore.Exploration
	mu    sync.Mutex
	met   map[string]bool // what was told of
}

func (e *env) explore() *cobra.Command {
	x := &exploration{session: &session{env: e}, met: map[string]bool{}}
	c := &cobra.Command{
		Use:   "explore --target NAME@VERSION",
		Short: "Search for what nobody has reported: draw what happens to a cluster, play it, judge it",
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

Exit status: 0 nothing was found that is not documented, 1 something was, 2 usage.`, strings.Join(schedule.Profiles(), "; "), strings.Join(schedule.Sites(), ", ")),
		Example: `  nodestorm explore --target karpenter@v1.14.1 --cloud instances --for 30m
  nodestorm explore --target cluster-autoscaler@1.36.1 --profile outage --seed 7
  nodestorm explore shrink reports/out/explore/schedules/12/schedule-12.yaml --key no-overshoot --target karpenter@v1.14.1
  nodestorm explore print schedule.yaml > mine.feature`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return x.run(c) },
	}
	x.addTarget(c)
	x.parallel.addFlags(c)
	c.Flags().StringVar(&x.settings.Profile, "profile", "small", "what is done, and how much: small, churn, outage or upgrade")
	c.Flags().StringSliceVar(&x.settings.Faults, "faults", nil, "only faults with this `text`, or one of several, in their sentences")
	c.Flags().DurationVar(&x.lasts, "for", 30*time.Minute, "how long to search, a `DURATION` of real time")
	c.Flags().IntVar(&x.settings.Again, "again", 9, "how often to play again what shows a suspect first")
	e.outputFlags(c, &x.asJSON)
	c.AddCommand(e.exploreShrink(), e.explorePrint())
	return c
}

// addTarget adds the flags that say what is played, and how.
func (x *exploration) addTarget(c *cobra.Command) {
	x.addFlags(c)
	_ = c.Flags().Set("out", filepath.Join("reports", "out", "explore"))
	c.Flags().Lookup("out").DefValue = filepath.Join("reports", "out", "explore")
	x.env.catalogueFlags(c)
	c.Flags().StringVar(&x.settings.Target, "target", "", "build to search, `NAME@VERSION`")
	_ = c.RegisterFlagCompletionFunc("target", completeTargets)
	x.addRace(c)
	c.Flags().StringVar(&x.Cloud, "cloud", "", "`cloud` of the site: externalgrpc, hetzner or clusterapi of Cluster Autoscaler, kwok or instances of Karpenter")
}

// prepare finds the build and all that can be wrong before anything starts.
func (x *exploration) prepare(c *cobra.Command) (err error) {
	if x.settings.Again < 0 {
		return usage(fmt.Errorf("--again %d: want 0 or more", x.settings.Again))
	}
	if x.settings.Target == "" {
		return usage(errors.New("--target NAME@VERSION is missing, such as karpenter@v1.14.1"))
	}
	ref, err := builds.ParseRef(x.settings.Target)
	if err != nil {
		return usage(err)
	}
	if x.settings.Site == "" {
		if clouds := cloudsOf(ref.Name); x.Cloud != "" && len(clouds) > 0 && !slices.Contains(clouds, x.Cloud) {
			return usage(fmt.Errorf("--cloud: %q is none of %s's%s (there are %s)", x.Cloud, ref.Name, strict.Meant(x.Cloud, clouds), strings.Join(clouds, ", ")))
		}
		x.settings.Site = ref.Name + "/" + cmp.Or(x.Cloud, map[string]string{"karpenter": builds.Kwok, "cluster-autoscaler": "externalgrpc"}[ref.Name])
	}
	x.settings.Seed = x.World.Seed
	if x.known, err = x.env.catalogue(); err != nil {
		return err
	}
	program, provider, err := schedule.Program(x.settings.Site)
	if err == nil && x.settings.Profile != "" { // of a schedule that is there nothing is drawn
		err = schedule.Drawing{Site: x.settings.Site, Profile: x.settings.Profile, Faults: x.settings.Faults}.Check()
	}
	if err != nil {
		return usage(err)
	}
	if program != ref.Name {
		return usage(fmt.Errorf("the schedule is for %s, and --target is %s", program, ref))
	}
	if provider != builds.Kwok {
		ref.Provider = provider
	}
	ref.Race = x.Race
	x.Cloud = "" // check knows Karpenter's only
	if err := x.check(c); err != nil {
		return err
	}
	have, err := x.open(c.Context(), supply.Refuse, ref)
	if err != nil {
		return err
	}
	x.build = have[ref]
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
	if x.worker != nil {
		return x.worker.Serve(c.Context(), os.Stdin, &x.Queue, queue.FeaturesOn(x.build))
	}
	var err error
	if x.found, err = explore.Open(x.Out, x.settings); err != nil {
		return usage(err)
	}
	defer x.found.Close()
	ctx, cancel := context.WithTimeoutCause(c.Context(), x.lasts, errTimeIsUp)
	defer cancel()
	err = x.search(ctx)
	if errors.Is(err, errTimeIsUp) {
		err = nil
	}
	x.Line().Clear()
	summary := x.found.Summary()
	if said := x.conclude(summary); said != nil {
		return said
	}
	if err != nil {
		return err
	}
	if slices.ContainsFunc(summary.Found, func(f explore.Found) bool { return f.Known == "" }) {
		return &exit.Error{Code: NotAsExpected}
	}
	return nil
}

var errTimeIsUp = errors.New("the time that --for gives is up")

// search plays one schedule after the other, several at a time if the machine bears it.
func (x *exploration) search(ctx context.Context) (err error) {
	pool := x.NewPool(x.Out)
	defer func() {
		if stuck := pool.Close(); stuck != nil {
			err = stuck
		}
	}()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	one := func() {
		if err := x.one(func(feature string) (reports.Row, error) { return pool.Play(ctx, feature, x.build, x.tally()) }); err != nil {
			cancel(err)
		}
	}
	for ctx.Err() == nil && pool.AtOnce() <= 1 {
		one()
	}
	var wait sync.WaitGroup
	for range pool.AtOnce() {
		wait.Go(func() {
			for ctx.Err() == nil {
				one()
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// tally is what progress says before the world's own.
func (x *exploration) tally() string {
	if x.found == nil {
		return ""
	}
	s, suspects := x.found.Summary(), 0
	for _, f := range s.Found {
		if f.Known == "" {
			suspects++
		}
	}
	return fmt.Sprintf("%s, %.1f h virtual, %s: ", counted(s.Plays, "schedule"), s.VirtualHours, counted(suspects, "suspect"))
}

// one draws a schedule, has it played and takes in what came of it.
func (x *exploration) one(play func(feature string) (reports.Row, error)) error {
	p, feature, err := x.found.Next()
	if err != nil {
		return err
	}
	row, err := play(feature)
	if err != nil {
		return err
	}
	p, err = x.learn(p, row)
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("%w; make room, then the same command goes on", err)
	}
	if err != nil {
		return err
	}
	x.tell(p)
	if p.DiedAtOnce && x.found.Futile() {
		return &exit.Error{Code: NotAsExpected, Err: fmt.Errorf("%s died at once in all schedules so far, and nothing else is to be learned of it: %s", x.settings.Target, oneline.Ends(p.Reason))}
	}
	return nil
}

// learn judges a play. A run that broke nothing is removed: there are many. One that could not be
// judged though it was in time is kept: something of ours, or of the target's, is odd.
func (x *exploration) learn(p explore.Play, row reports.Row) (explore.Play, error) {
	p.Verdict, p.Reason, p.VirtualSeconds, p.WallSeconds = verdict.Verdict(row.Verdict), row.Reason, row.VirtualSeconds, row.WallSeconds
	var covered []string
	if row.Run != "" {
		seen, err := x.look(row.Run, x.build)
		if err != nil {
			return p, err
		}
		if seen.full != "" { // nobody's failure: it makes room, and is played again when the search goes on
			return p, errors.Join(fmt.Errorf("%w: %s", syscall.ENOSPC, seen.full), os.RemoveAll(filepath.Dir(row.Run)))
		}
		p.Keys, p.Why, p.Known, p.DiedAtOnce, covered = seen.keys, seen.why, seen.known, seen.diedAtOnce, seen.covered
		if len(p.Keys) > 0 || p.Verdict == verdict.Inconclusive && seen.inTime {
			p.Run = filepath.Base(filepath.Dir(row.Run)) + "/" + filepath.Base(row.Run)
		} else if err := os.RemoveAll(filepath.Dir(row.Run)); err != nil {
			return p, err
		}
	}
	return x.found.Learn(p, covered)
}

// look is what a run has shown.
type look struct {
	keys  []string
	why   map[string]string
	known map[string]string
	// steps is of each key how many had ended when it was broken.
	steps   map[string]int
	covered []string
	// inTime says that no timer was too late for it to be judged.
	inTime bool
	// diedAtOnce says that the target never came to work, full what the world said of a disk.
	diedAtOnce bool
	full       string
}

func (x *exploration) look(dir string, of builds.Target) (l look, err error) {
	checked, err := run.Recheck(dir, x.known)
	if err != nil {
		return l, err
	}
	records := slices.Collect(checked.Records.Timed())
	if checked.Now.Verdict == verdict.Failed {
		l.keys, l.why, l.steps = slices.Clone(checked.Now.Broken), map[string]string{}, map[string]int{}
		for _, broken := range invariants.Judge(checked.Records.Timed(), checked.Run.Subject()) {
			l.why[broken.Name] = broken.Reason
			l.steps[broken.Name] = explore.StepsBefore(records, broken.Evidence)
		}
		if strings.Contains(checked.Now.Reason, "every pod is Running") {
			l.keys = append(l.keys, explore.Liveness)
			l.why[explore.Liveness] = checked.Now.Reason
			l.steps[explore.Liveness] = explore.StepsBefore(records, nil)
		}
	}
	l.inTime = checked.Run.Clock.Distorted() == ""
	l.diedAtOnce, l.full = explore.DiedAtOnce(records, of.Ref.Name), explore.DiskFull(records)
	for _, key := range l.keys {
		if id := explore.Known(x.known, records, x.settings.Site, of.Ref.String(), key); id != "" {
			if l.known == nil {
				l.known = map[string]string{}
			}
			l.known[key] = id
		}
	}
	l.covered = explore.Coverage(records, of.Ref.Name)
	log, err := os.Open(filepath.Join(dir, run.LogFolder, of.Ref.Name+".log"))
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	defer log.Close()
	lines, err := explore.LogCoverage(log)
	l.covered = append(l.covered, lines...)
	return l, err
}

// tell says what is found for the first time.
func (x *exploration) tell(p explore.Play) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p.Verdict == verdict.Inconclusive && p.Run != "" {
		x.Line().Clear()
		x.say("schedule %d cannot be judged, and its run is kept: %s", p.N, oneline.Ends(p.Reason))
	}
	for _, key := range p.Keys {
		known := p.Known[key]
		if x.met[key+known] {
			continue
		}
		x.met[key+known] = true
		x.Line().Clear()
		what := "SUSPECT"
		if known != "" {
			what = "known as " + known
		}
		x.say("schedule %d: %s: %s: %s", p.N, key, what, oneline.Ends(p.Why[key]))
	}
}

func (x *exploration) conclude(s explore.Summary) error {
	if x.asJSON {
		return x.json(s)
	}
	fmt.Fprintf(x.stdout, "%s on %s: %s, %.1f virtual hours in %.2f h, %d inconclusive, %d things covered\n", s.Target, s.Site, counted(s.Plays, "schedule"), s.VirtualHours, s.WallHours, s.Inconclusive, s.Covered)
	for _, f := range s.Found {
		as := "not documented: nodestorm explore shrink " + filepath.Join(x.Out, "schedules", fmt.Sprint(f.First), fmt.Sprintf("schedule-%d.yaml", f.First)) + " --key " + f.Key + " --target " + s.Target
		if f.Known != "" {
			as = "known as " + f.Known
		} else {
			low, high := reports.Wilson(f.Shown, f.Decided)
			rate := fmt.Sprintf("the first shows it in %d of %d plays (%.0f to %.0f %%)", f.Shown, f.Decided, 100*low, 100*high)
			if f.Unstable() {
				rate = "unstable: " + rate
			}
			as = rate + "; " + as
		}
		fmt.Fprintf(x.stdout, "  %s, in %s: %s\n", f.Key, counted(f.Plays, "schedule"), as)
	}
	return nil
}

func (e *env) explorePrint() *cobra.Command {
	return &cobra.Command{
		Use:     "print SCHEDULE.yaml",
		Short:   "Print a schedule as the feature that is played",
		Example: `  nodestorm explore print schedule.yaml > mine.feature`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := schedule.Load(args[0])
			if err != nil {
				return usage(err)
			}
			text, err := s.Feature()
			if err != nil {
				return usage(err)
			}
			_, err = fmt.Fprint(e.stdout, text)
			return err
		},
	}
}
