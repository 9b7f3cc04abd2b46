package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"nodestorm/harness/builds"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/summary"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/search/explore"
	"nodestorm/harness/search/schedule"
	"nodestorm/reports"
	"nodestorm/reports/formats"
	"nodestorm/reports/story"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/history/invariants"
	"nodestorm/sim/oneline"
)

// Of how many plays a schedule has to show its failure in how many, to be kept; of how many
// it is told how often it does, and of how many on other builds.
const (
	shrinkPlays, shrinkShows = 5, 4
	ratePlays                = 10
	otherPlays               = 3
)

// shrinking is a schedule that is made smaller.
type shrinking struct {
	*exploration
	key    string
	on     []string
	others []builds.Target // that what is left is played on
	work   string          // the folder of plays
	began  time.Time
	plays  atomic.Int32
	pool   *queue.Pool
}

func (e *env) exploreShrink() *cobra.Command {
	x := &shrinking{exploration: &exploration{session: &session{env: e}, met: map[string]bool{}}}
	c := &cobra.Command{
		Use:   "shrink SCHEDULE.yaml --key INVARIANT --target NAME@VERSION",
		Short: "Make a schedule as small as it gets while it breaks the same invariant",
		Long: fmt.Sprintf(`Leave out acts, groups, faults and time of a schedule, as long as it breaks the same
invariant in at least %d of %d plays: at first all that came after it was broken. How often
what is left breaks it is told of %d plays, and of %d on each other build that the store has,
or on those of --on.

What comes of it is a folder below --out: a feature and a draft of its record, which
"nodestorm run ID --catalogue FOLDER" plays, the schedule, a run with its page, and
issue.md, a text for upstream. Ctrl-C leaves the smallest schedule so far.

Several are played at a time if the machine bears it; what is left does not depend on that.

Exit status: 0 it is small and shows it in 9 of 10, 1 it shows it less often or not at all.`, shrinkShows, shrinkPlays, ratePlays, otherPlays),
		Example: `  nodestorm explore shrink schedule-12.yaml --key no-leak --target karpenter@v1.14.1
  nodestorm explore shrink schedule-12.yaml --key liveness --target karpenter@v1.14.1 --on karpenter@v1.7.0`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := schedule.Load(args[0])
			if err != nil {
				return usage(err)
			}
			if x.key != explore.Liveness && !invariants.Known(x.key) {
				return usage(fmt.Errorf("--key %q: want %s, or an invariant: nodestorm list --invariants", x.key, explore.Liveness))
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
			if x.worker != nil {
				return x.worker.Serve(c.Context(), os.Stdin, &x.Queue, queue.FeaturesOn(append([]builds.Target{x.build}, x.others...)...))
			}
			return x.shrink(c.Context(), s, args[0])
		},
	}
	x.addTarget(c)
	x.parallel.addFlags(c)
	c.Flags().StringVar(&x.key, "key", "", "the `INVARIANT` that it is to break, or "+explore.Liveness)
	c.Flags().StringSliceVar(&x.on, "on", nil, "builds to play what is left on, `NAME@VERSION`; default: all others that the store has")
	_ = c.RegisterFlagCompletionFunc("on", completeTargets)
	return c
}

// otherBuilds are those besides that what is left is played on, the newest first.
func (x *shrinking) otherBuilds(c *cobra.Command) (all []builds.Target, err error) {
	refs, named := x.store.Refs(), c.Flags().Changed("on")
	if named {
		refs = nil
		for _, name := range x.on {
			ref, err := builds.ParseRef(name)
			if err == nil && ref.Name != x.build.Name {
				err = fmt.Errorf("the schedule is for %s", x.build.Name)
			}
			if err != nil {
				return nil, usage(fmt.Errorf("--on %s: %w", name, err))
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
		got, err := replay.Find(x.store, ref)
		if err == nil {
			err = replay.CheckClock(x.World.Clock, got)
		}
		switch {
		case err == nil:
			all = append(all, got)
		case named:
			return nil, usage(fmt.Errorf("--on %s: %w", ref, err))
		}
	}
	return all, nil
}

func (x *shrinking) shrink(ctx context.Context, s schedule.Schedule, file string) (err error) {
	x.began = time.Now()
	if err := os.MkdirAll(x.Out, 0o755); err != nil {
		return err
	}
	if x.work, err = os.MkdirTemp(x.Out, "shrink-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(x.work)) }()
	x.pool = x.NewPool(x.work)
	defer func() { err = errors.Join(err, x.pool.Close()) }()
	first, err := x.first(ctx, s)
	if err != nil {
		return err
	}
	if first == nil {
		return fmt.Errorf("%s does not break %s in %d of %d plays of %s: there is nothing to make smaller", filepath.Base(file), x.key, shrinkShows, shrinkPlays, x.build.Ref)
	}
	small, err := schedule.Shrink(ctx, *first, x.pool.AtOnce(), x.shows)
	d := explore.Draft{ID: explore.DraftID(s.Site, x.key, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))), Key: x.key, Schedule: small}
	folder := filepath.Join(x.Out, "found", d.ID)
	if wrote := x.write(folder, d); err != nil || wrote != nil {
		return errors.Join(err, wrote)
	}
	x.say("left of %s: %d, in %s", counted(len(s.Acts), "act"), len(small.Acts), folder)
	at, kept, err := x.rate(ctx, small, x.build, ratePlays)
	if err != nil {
		return err
	}
	d.On = append(d.On, at)
	for _, other := range x.others {
		on, row, err := x.rate(ctx, small, other, otherPlays)
		forget(row)
		if err != nil {
			return err
		}
		d.On = append(d.On, on)
	}
	known, err := x.conclude(d, kept, folder)
	if err != nil {
		return err
	}
	low, high := reports.Wilson(at.Shown, at.Decided)
	x.Line().Clear()
	fmt.Fprintf(x.stdout, "%s: %s of %s\n  breaks %s in %d of %d plays of %s (%.0f to %.0f %%)\n  %s\n", folder, counted(len(small.Acts), "act"), counted(len(s.Acts), "act"), x.key, at.Shown, at.Decided, at.Target, 100*low, 100*high, oneline.Ends(kept.Reason))
	if known != "" {
		fmt.Fprintf(x.stdout, "  known as %s\n", known)
	}
	for _, on := range d.On[1:] {
		fmt.Fprintf(x.stdout, "  %s: in %d of %d plays\n", on.Target, on.Shown, on.Decided)
	}
	fmt.Fprintf(x.stdout, "  after %d plays, %s; since when: nodestorm bisect %s --catalogue %s --source REPOSITORY --good VERSION --bad VERSION\n", x.plays.Load(), time.Since(x.began).Round(time.Second), d.ID, folder)
	if at.Shown*10 < at.Decided*9 || at.Decided == 0 {
		return &exit.Error{Code: NotAsExpected}
	}
	return nil
}

// first is what the shrinking begins with: the schedule up to where it broke it, if that shows it
// as well, or all of it. Nil: neither shows it often enough.
func (x *shrinking) first(ctx context.Context, s schedule.Schedule) (*schedule.Schedule, error) {
	for range shrinkPlays - shrinkShows + 1 { // as many may be without it, and one more
		p, err := x.breaks(ctx, s, x.build)
		if err != nil {
			return nil, err
		}
		forget(p.row)
		if !p.shows {
			continue
		}
		rested, hurried := s.Until(s.Begun(p.steps))
		for _, from := range []schedule.Schedule{hurried, rested} {
			if from.Check() != nil || string(from.YAML()) == string(s.YAML()) { // no pod was there yet, or it is all of it
				continue
			}
			if shows, err := x.shows(ctx, from, true); shows || err != nil {
				return &from, err
			}
		}
		if shows, err := x.often(ctx, s, 1); !shows || err != nil {
			return nil, err
		}
		return &s, nil
	}
	return nil, nil
}

// attempt is what came of a play.
type attempt struct {
	row   reports.Row
	shows bool // what is looked for
	steps int  // that had ended by then
}

// breaks plays a schedule once. What is inconclusive shows nothing.
func (x *shrinking) breaks(ctx context.Context, s schedule.Schedule, on builds.Target) (p attempt, err error) {
	nth := x.plays.Add(1)
	feature, err := explore.Write(filepath.Join(x.work, fmt.Sprint(nth)), fmt.Sprintf("schedule-%d", nth), s)
	if err != nil {
		return p, err
	}
	if p.row, err = x.pool.Play(ctx, feature, on, fmt.Sprintf("play %d, of %s: ", nth, counted(len(s.Acts), "act"))); err != nil {
		return p, err
	}
	if p.row.Run == "" { // its world never stood
		return p, nil
	}
	seen, err := x.look(p.row.Run, on)
	p.shows, p.steps = slices.Contains(seen.keys, x.key), seen.steps[x.key]
	return p, err
}

// several plays a schedule so many times, as many at a time as can be.
func (x *shrinking) several(ctx context.Context, s schedule.Schedule, on builds.Target, plays int) ([]attempt, error) {
	all := make([]attempt, plays)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(x.pool.AtOnce())
	for i := range all {
		group.Go(func() (err error) {
			all[i], err = x.breaks(ctx, s, on)
			return err
		})
	}
	return all, group.Wait()
}

// shows is what Shrink asks for: a schedule breaks it in one play, or surely in most.
func (x *shrinking) shows(ctx context.Context, s schedule.Schedule, surely bool) (bool, error) {
	p, err := x.breaks(ctx, s, x.build)
	forget(p.row)
	if err != nil || !p.shows || !surely {
		return p.shows, err
	}
	return x.often(ctx, s, 1)
}

// often tells whether it breaks it in so many plays of so many, and plays no more than that needs. The first plays
// have shown it.
func (x *shrinking) often(ctx context.Context, s schedule.Schedule, shown int) (bool, error) {
	for n := shown; shown < shrinkShows && shown+shrinkPlays-n >= shrinkShows; {
		more, err := x.several(ctx, s, x.build, min(x.pool.AtOnce(), shrinkShows-shown))
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
	if shown >= shrinkShows {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.Line().Clear()
		x.say("left: %s, %s at least: %d plays, %s", counted(len(s.Acts), "act"), s.Length(), x.plays.Load(), time.Since(x.began).Round(time.Second))
	}
	return shown >= shrinkShows, nil
}

// rate plays it so many times on a build; kept is the first play that shows it.
func (x *shrinking) rate(ctx context.Context, s schedule.Schedule, on builds.Target, plays int) (at explore.On, kept reports.Row, err error) {
	at.Target = on.Ref.String()
	all, err := x.several(ctx, s, on, plays)
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

// write writes what there is of a failure: its schedule, feature and the draft of its record.
func (x *shrinking) write(folder string, d explore.Draft) error {
	text, err := d.Schedule.Feature(d.ID)
	if err != nil {
		return err
	}
	return errors.Join(
		os.MkdirAll(folder, 0o755),
		os.WriteFile(filepath.Join(folder, "schedule.yaml"), d.Schedule.YAML(), 0o644),
		os.WriteFile(filepath.Join(folder, d.ID+".feature"), []byte(text), 0o644),
		os.WriteFile(filepath.Join(folder, d.ID+".yaml"), []byte(d.Record()), 0o644),
	)
}

// conclude keeps the run that shows it, and writes all again with what is known now, and the
// text for upstream. Which documented failure it is, if it is one, it returns.
func (x *shrinking) conclude(d explore.Draft, kept reports.Row, folder string) (known string, err error) {
	if kept.Run == "" {
		return "", x.write(folder, d)
	}
	dir := filepath.Join(folder, "run")
	if err := errors.Join(os.RemoveAll(dir), os.Rename(kept.Run, dir)); err != nil {
		return "", err
	}
	checked, err := run.Recheck(dir, x.known)
	if err != nil {
		return "", err
	}
	records := slices.Collect(checked.Records.Timed())
	d.Evidence = evidenceOf(checked, x.key)
	d.Faults = slices.ContainsFunc(records, func(r history.Record) bool { return r.Source == history.Fault && r.Verb == "effective" })
	if err := x.write(folder, d); err != nil {
		return "", err
	}
	if err := x.symptomShows(filepath.Join(folder, d.ID+".feature"), d.ID, records); err != nil {
		x.say("the draft of the record is to be mended by hand: %v", err)
	}
	told, err := summary.Run(dir, x.known, 0)
	if err != nil {
		return "", err
	}
	told.Run.Title, told.Run.Repeat = d.Title(), playedFeature.ReplaceAllString(told.Run.Repeat, d.ID+".feature")
	var text strings.Builder
	if err := formats.Issue(&text, []*story.Story{told}); err != nil {
		return "", err
	}
	feature, err := d.Schedule.Feature(d.ID)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&text, "\n**Versions that show it**\n\n%s\n**The feature**\n\n```gherkin\n%s```\n", d.Versions(), feature)
	known = explore.Known(x.known, records, x.settings.Site, x.build.Ref.String(), d.Key)
	return known, os.WriteFile(filepath.Join(folder, "issue.md"), []byte(text.String()), 0o644)
}

// playedFeature is the name of one play's feature in a command that repeats it.
var playedFeature = regexp.MustCompile(`schedule-\d+\.feature`)

// evidenceOf are the records of a run that show that it broke the invariant.
func evidenceOf(checked run.Rechecked, key string) (shown []history.Record) {
	var evidence []uint64
	for _, b := range invariants.Judge(checked.Records.Timed(), checked.Run.Subject()) {
		if b.Name == key {
			evidence = b.Evidence
		}
	}
	for r := range checked.Records.Timed() {
		if slices.Contains(evidence, r.Seq) {
			shown = append(shown, r)
		}
	}
	return shown
}

// symptomShows reads the draft as a catalogue, and finds its symptom in the run.
func (x *shrinking) symptomShows(feature, id string, records []history.Record) error {
	own := new(scenarios.Catalogue)
	if err := own.Add(replay.ReadFolder(filepath.Dir(feature)).Own); err != nil {
		return err
	}
	record, err := own.Lookup(id)
	if err != nil {
		return err
	}
	if found := checker.Find(records, record.Symptom); found.Result != checker.Valid {
		return fmt.Errorf("its symptom is not in the run: %s", cmp.Or(found.Reason, string(found.Result)))
	}
	return nil
}

// forget removes what a play left, if it came to leave anything.
func forget(row reports.Row) {
	if row.Run != "" {
		_ = os.RemoveAll(filepath.Dir(row.Run))
	}
}
