package replays

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/stored"
	"nodestorm/reports/matrix"
	"nodestorm/reports/qualification"
	"nodestorm/reports/redact"
	"nodestorm/reports/table"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
)

// qualifying is one `nodestorm qualify`.
type qualifying struct {
	*session
	ref, since          builds.Ref // since.Name is empty if nothing is compared
	version, tags, form string     // of --since, --tags and -o
	before              bool       // since is the release before, not one that --since names
	planes              []string   // the releases of Kubernetes that are played on
	plane               string     // the one that is played on now
	explores            time.Duration
	searches            []qualification.Search
	comparisons         []string // of --comparison
	workloads           []qualification.Workload
	rounds              queue.Rounds
	records             []scenarios.Record // those that are about the target
}

// noRelease is what --since says if nothing is compared.
const noRelease = "none"

var _ = Commands.Add(console.Test, newQualify)

func newQualify(e *console.Console) *cobra.Command {
	q := &qualifying{session: newSession(e)}
	c := &cobra.Command{
		Use:   "qualify NAME@VERSION [RUN…]",
		Short: "Say whether a release is fit to roll out",
		Long: `Replay every failure that the catalogue has of a program on a release, or a build of
your own, and on the release before it, and say whether it is fit to roll out: what is
new since the release before, what is fixed, what stays, and how often each was seen.
Of Karpenter, upgrades from the release before, and back, are among the failures.

A release is not fit if a failure shows that did not show on the release before, or that
its record calls fixed. One that shows on both stays. The release before is the last that
the catalogue knows: what came with one between the two, by its record, is not new, but
earlier. Name by --since the one that you run, and all is new that does not show there.

--kubernetes plays all on each of several releases of it. With --explore what drawn
schedules show, and no record explains, is a failure like the others. --comparison adds
what the release costs on a workload, as "nodestorm compare" has left it; it does not
change the answer.

The page qualification.html, qualification.json, a text for the release's issue
(qualification.md) and a badge's JSON (badge.json) are left in --out. Runs that an earlier
call left there, of the same nodestorm without uncommitted changes, are not played again.
With RUN, folders of runs are judged and nothing is played: verify --target plays them in
shards, on Kubernetes, or on other machines.

Exit status: 0 fit, 1 not fit, 2 usage, 3 cannot say.`,
		Example: `  nodestorm qualify karpenter@v1.14.1
  nodestorm qualify karpenter@my-fix --since v1.14.1 --repeat 5
  nodestorm qualify karpenter@v1.7.0 --kubernetes v1.36.3,v1.35.4 \
    --explore 10m
  nodestorm qualify karpenter@v1.7.0 shard-1 shard-2 -o md
  nodestorm compare day.yaml --variant karpenter@v1.6.4 \
    --variant karpenter@v1.7.0 --out day
  nodestorm qualify karpenter@v1.7.0 \
    --comparison day/compare-1/comparison.json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.UsageError(errors.New("NAME@VERSION is missing, for example karpenter@v1.14.1"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return q.run(c, args[0], args[1:]) },
	}
	q.AddFlags(c)
	c.Flags().Lookup("kubernetes").Usage = "control planes of the store, `VERSION[,VERSION…]`; default: " + builds.Kubernetes.Version
	c.Flags().DurationVar(&q.explores, "explore", 0, "play drawn schedules for `DURATION` of real time, too")
	e.CatalogueFlags(c)
	q.addManifest(c)
	q.AddParallel(c)
	q.AddRetry(c)
	e.FormatFlags(c, &q.form, "", []string{"html", "md", "json", "yaml"})
	c.ValidArgsFunction = console.CompleteTargets
	c.Flags().StringVar(&q.version, "since", "", "`VERSION` to compare with, or none; default: the release before")
	c.Flags().StringVar(&q.tags, "tags", "", console.TagsUsage)
	c.Flags().StringArrayVar(&q.comparisons, "comparison", nil, "`FILE` comparison.json of both releases on a workload")
	_ = c.MarkFlagFilename("comparison", "json")
	c.Flags().IntVar(&q.rounds.Repeat, "repeat", 1, "replay each `N` times")
	return c
}

func (q *qualifying) run(c *cobra.Command, target string, runs []string) error {
	if err := q.prepare(target); err != nil {
		return exit.UsageError(err)
	}
	if len(runs) > 0 {
		if q.explores > 0 {
			return exit.UsageError(errors.New("--explore plays, and of runs that are there nothing is played: leave one of them out"))
		}
		return q.judge(c.Context(), runs, nil, "")
	}
	if err := q.checkPlanes(); err != nil {
		return exit.UsageError(err)
	}
	q.take(q.planes[0])
	if err := q.check(c); err != nil {
		return err
	}
	if err := q.checkParallel(1); err != nil {
		return err
	}
	searches, err := q.newSearches(c)
	if err != nil {
		return err
	}
	if q.tags == "" {
		q.records = q.WithoutOthersApart(q.Catalogue, q.records, q.ref.Name)
	}
	var skipped []matrix.Skip
	for _, plane := range q.planes {
		q.take(plane)
		of, err := q.play(c.Context())
		if err != nil || q.Serving != nil {
			return err
		}
		skipped = append(skipped, of...)
	}
	for _, x := range searches {
		search, err := q.explore(c.Context(), x)
		if err != nil {
			return err
		}
		q.searches = append(q.searches, search)
	}
	return q.judge(c.Context(), []string{q.Out}, skipped, q.Out)
}

// prepare finds the builds and the records, and what is wrong before anything slow begins.
func (q *qualifying) prepare(target string) (err error) {
	if q.rounds.Repeat < 1 {
		return fmt.Errorf("--repeat %d: want 1 or more", q.rounds.Repeat)
	}
	if q.ref, err = builds.ParseRef(target); err != nil {
		return err
	}
	if err := q.findSince(); err != nil {
		return err
	}
	if err := cmp.Or(q.findPlanes(), q.readComparisons()); err != nil {
		return err
	}
	if q.explores < 0 {
		return fmt.Errorf("--explore %s: want a span, such as 10m", q.explores)
	}
	if q.Catalogue, err = q.Unchecked(); err != nil {
		return err
	}
	q.Features = q.Catalogue.Features()
	chosen, err := replay.Choose(q.Catalogue, q.Features, nil, q.tags, q.tags == "")
	if err := q.ToPlay(q.Catalogue, chosen, err); err != nil {
		return err
	}
	programs := map[string]bool{}
	for _, r := range chosen {
		programs[r.Autoscaler] = true
		// One with the race detector is of a build of its own, which is no release.
		if of, is := r.ForProgram(q.ref.Name); is && !r.Bare() && !r.Race {
			q.records = append(q.records, of)
		}
	}
	if len(q.records) == 0 {
		return fmt.Errorf("no failure is about %s: want a build of %s", q.ref.Name, strings.Join(slices.Sorted(maps.Keys(programs)), ", "))
	}
	return nil
}

// findSince finds what is compared with.
func (q *qualifying) findSince() (err error) {
	if q.version == noRelease {
		return nil
	}
	if q.version == "" {
		q.before = true
		if q.version, err = scenarios.ReleaseBefore(q.ref.Name, q.ref.Version, 1); err != nil {
			return fmt.Errorf("%w: give --since VERSION, or --since %s to compare with none", err, noRelease)
		}
	}
	if q.since, err = builds.ParseRef(q.ref.Name + "@" + q.version); err != nil {
		return fmt.Errorf("--since: %w", err)
	}
	if q.since == q.ref {
		return fmt.Errorf("--since %s is the release itself: want another, or %s", q.version, noRelease)
	}
	return nil
}

// readComparisons reads how the release does on workloads.
func (q *qualifying) readComparisons() error {
	for _, file := range q.comparisons {
		if q.since.Name == "" {
			return fmt.Errorf("--comparison: it is with the release before, and --since %s has none", noRelease)
		}
		w, err := qualification.ReadWorkload(file, q.since.String(), q.ref.String())
		if err != nil {
			return fmt.Errorf("--comparison: %w", err)
		}
		q.workloads = append(q.workloads, w)
	}
	return nil
}

// play plays what no run of an earlier call says already. It returns what could not be played.
func (q *qualifying) play(ctx context.Context) (skipped []matrix.Skip, err error) {
	var jobs []queue.Job
	var rows []table.Row
	for _, ref := range []builds.Ref{q.ref, q.since} {
		if ref.Name == "" {
			continue
		}
		records, without := q.withBuild(ref, q.records)
		of, missing, err := q.jobsFor(ctx, ref, records)
		if err != nil {
			return nil, err
		}
		jobs, rows = append(jobs, of...), slices.Concat(rows, without, missing)
	}
	if err := q.CheckManifest(ctx, jobs); err != nil {
		return nil, err
	}
	jobs, without := q.Playable(ctx, jobs)
	if q.Serving != nil {
		return nil, q.Serving.Serve(ctx, os.Stdin, &q.Queue, q.LookupIn(jobs))
	}
	if jobs, err = q.left(ctx, jobs); err != nil {
		return nil, err
	}
	rows, err = q.PlayRounds(ctx, nil, jobs, q.rounds, append(rows, without...), func([]table.Row) error { return nil })
	if err != nil {
		return nil, q.BreakOff(rows, false, err)
	}
	redactor := redact.ForHere(q.Catalogue.HasWord)
	for _, row := range rows {
		if row.Run == "" {
			skipped = append(skipped, matrix.Skip{Scenario: row.ID, Target: onPlane(row.Target, q.plane), Reason: redactor.Text(row.Reason)})
		}
	}
	if _, err := q.Reporter(q.Catalogue).Publish(ctx, rows, q.Out); err != nil {
		q.Say("no report: %v", err)
	}
	return skipped, nil
}

// left are the jobs without those that were played before, in the same folder, by this very nodestorm.
func (q *qualifying) left(ctx context.Context, jobs []queue.Job) ([]queue.Job, error) {
	self, _ := replay.Self(ctx, "", q.Own.Checkout)
	there, err := q.Reporter(q.Catalogue).Decided(ctx, q.Out, self)
	if err != nil {
		return nil, err
	}
	all := len(jobs)
	jobs = slices.DeleteFunc(jobs, func(j queue.Job) bool {
		return there[[2]string{j.Record.ID, onPlane(j.Target.Ref.String(), q.plane)}] >= q.rounds.Repeat
	})
	if n := all - len(jobs); n > 0 {
		q.Remark("%s of an earlier call count: %s left", wording.Counted(n, "replay"), wording.Counted(len(jobs), "replay"))
	}
	return jobs, nil
}

// judge judges the runs below folders, of which skipped are those that are not there, and prints the answer. Its files come into
// out, if that is not empty.
func (q *qualifying) judge(ctx context.Context, folders []string, skipped []matrix.Skip, out string) error {
	found, done, err := q.Runs(ctx, folders)
	defer done()
	if err != nil && len(skipped) == 0 {
		return exit.UsageError(err)
	}
	of := qualification.Runs{Target: q.ref.String(), Skipped: skipped, Workloads: q.workloads, Said: map[string]qualification.Said{},
		Searches: q.searches}
	for _, plane := range q.planes {
		of.Columns = append(of.Columns, qualification.Column{Kubernetes: plane, Target: onPlane(q.ref.String(), plane),
			Since: onPlane(q.since.String(), plane)})
	}
	if q.since.Name != "" {
		of.Since = q.since.String()
	}
	for _, s := range stored.Documented(q.Catalogue) {
		i := slices.IndexFunc(q.records, func(r scenarios.Record) bool { return r.ID == s.ID })
		if i < 0 {
			continue
		}
		of.Scenarios = append(of.Scenarios, s)
		of.Said[s.ID] = q.said(q.records[i])
	}
	answer, err := q.Reporter(q.Catalogue).Qualify(ctx, found, of, out)
	if answer == nil {
		return err
	}
	return cmp.Or(q.print(answer, out), status(answer.Answer), err)
}

// said is what a record says of the release before, and of how long there has been the failure. A release that it does not call
// affected is healthy, whether it calls it fixed or not.
func (q *qualifying) said(r scenarios.Record) (said qualification.Said) {
	said.Before = string(r.Expected(q.since.String()))
	if has, err := r.Affected.Has(q.since.Version); said.Before == "" && r.Affected != "" && err == nil && !has {
		said.Before = string(scenarios.Healthy)
	}
	if q.before {
		said.Came = r.Affected.Began(q.since.Version, q.ref.Version)
	}
	return said
}

// status is the exit status of an answer.
func status(a qualification.Answer) error {
	switch a {
	case qualification.NotFit:
		return &exit.Error{Code: exit.NotAsExpected}
	case qualification.CannotSay:
		return &exit.Error{Code: exit.Inconclusive}
	}
	return nil
}

func (q *qualifying) print(answer *qualification.Qualification, out string) error {
	if q.form != "" {
		return q.InYAML(func(w io.Writer) error { return answer.Write(w, q.form) })(q.Stdout)
	}
	err := answer.Text(q.Stdout, func(rows [][]string) error { return q.Table(console.Columns(q.Stdout), 4, rows) })
	if out != "" {
		fmt.Fprintf(q.Stdout, "\nThe page: %s\n", filepath.Join(out, stored.QualificationFile))
	}
	return err
}
