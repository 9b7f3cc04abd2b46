package replays

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/cli/playing"
	"nodestorm/harness/night/archive"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/table"
	"nodestorm/scenarios"
	"nodestorm/sim/oneline"
)

// verification is one `nodestorm verify`.
type verification struct {
	*session
	all, asJSON, clocks, dry bool
	tags, target             string
	ref                      builds.Ref // of target
	clusters                 []string
	rounds                   queue.Rounds
	kept                     archive.Upload
}

var _ = Commands.Add(console.Start, newVerify)

func newVerify(e *console.Console) *cobra.Command {
	v := &verification{session: newSession(e)}
	c := &cobra.Command{
		Use:   "verify [ID…] [--target NAME@VERSION]",
		Short: "Replay failures on the affected and on the fixed release",
		Long: `Replay failures on every release that the catalogue has an expectation of, and
compare: a failure must show on the affected release and not on the fixed one.
Releases that are missing are taken out of registries or built, beside the replays that
have what they need; one that cannot be had is skipped by name. With --target they are
replayed on that build alone, as "nodestorm run" does.

With --clocks each replay runs at 1x and at the given clock, with --cluster kind,sim on
a real cluster, whose nodes are containers, and on a simulated one; verdicts and decisions
are compared: what the autoscaler created, deleted and scaled, in order.

With --shard i/N only the i-th of N parts is replayed, which take about equally long:
by the runs that --durations names, or else by those that were last verified. Give all
shards the same flags, and "nodestorm nightly merge" joins what they left.

With --upload what is in --out is kept in a bucket too, as an archive, whatever came of it:
"nodestorm nightly merge s3://BUCKET/PREFIX" joins shards that were kept in one.

With --parallel N so many worlds play at a time, each in a process of its own, and all
that comes of them is as if they had played one by one. A run that is inconclusive with
others beside it is played again alone. Without the flag the first run shows how many
this machine bears: of two processors one world takes most.

Exit status: 0 all as expected, 1 not as expected, 2 usage, 3 inconclusive. With
--strict a release that is skipped is not as expected.`,
		Example: `  nodestorm verify karpenter-7515-not-ready-noexecute
  nodestorm verify --tags @karpenter --target karpenter@my-fix --repeat 5
  nodestorm verify --all --repeat 20
  nodestorm verify --all --shard 2/4 --out reports/out/shard-2
  nodestorm verify --tags @karpenter --repeat 20 --until-certain 0.99
  nodestorm verify --clocks karpenter-7515-startup-taint-declared
  nodestorm verify --cluster kind,sim karpenter-7515-not-ready-noexecute`,
		RunE: func(c *cobra.Command, ids []string) error { return v.run(c, ids) },
	}
	v.AddFlags(c)
	e.CatalogueFlags(c)
	v.addManifest(c)
	v.shard.AddFlags(c)
	console.UploadFlag(c, &v.kept)
	v.AddParallel(c)
	v.AddRetry(c)
	playing.AddDryRun(c, &v.dry)
	c.ValidArgsFunction = e.CompleteIDs
	v.addClusters(c)
	v.AddMachines(c)
	c.Flags().StringVarP(&v.target, "target", "t", "", "replay on this build only, `NAME@VERSION`")
	_ = c.RegisterFlagCompletionFunc("target", console.CompleteTargets)
	c.Flags().StringVar(&v.tags, "tags", "", console.TagsUsage)
	c.Flags().BoolVar(&v.all, "all", false, "all failures")
	e.OutputFlags(c, &v.asJSON, console.AsWide, console.AsNames)
	c.Flags().BoolVar(&v.clocks, "clocks", false, "compare the decisions at 1x with those at --clock")
	c.Flags().BoolVar(&v.strict, "strict", false, "let the exit status be 1 if something is skipped")
	c.Flags().IntVar(&v.rounds.Repeat, "repeat", 1, "replay each `N` times, and report a rate with its interval")
	c.Flags().Float64Var(&v.rounds.Certain, "until-certain", 0,
		"stop repeating once the outcome is this certain: `PROBABILITY`, such as 0.99")
	return c
}

func (v *verification) addClusters(c *cobra.Command) {
	c.Flags().StringSliceVar(&v.clusters, "cluster", []string{string(replay.Simulated)},
		"`CLUSTER` to play on: sim, or kind (Docker, in real time); kind,sim compares")
	_ = c.RegisterFlagCompletionFunc("cluster", playing.CompleteClusters)
}

func (v *verification) run(c *cobra.Command, ids []string) (err error) {
	records, sides, err := v.prepare(c, ids)
	if err != nil {
		return err
	}
	if records, err = v.shard.Choose(c.Context(), v.Console, v.Settings, records); err != nil {
		return err
	}
	if v.dry {
		return v.plan(c.Context(), records, sides)
	}
	if err := v.shard.SaveProgress(nil, false); err != nil {
		return err
	}
	if v.Serving == nil {
		if err := v.kept.Check(c.Context()); err != nil {
			return err
		}
		defer func() { err = v.kept.Save(c.Context(), v.Out, v.shard.Kept.Name(), err) }()
	}
	if v.shard.Kept.Empty() {
		return v.shard.SaveProgress(nil, true)
	}
	jobs, rows, pending, err := v.jobs(c.Context(), records, len(sides))
	if err != nil {
		return err
	}
	if pending != nil {
		defer pending.Stop()
	}
	if err := v.CheckManifest(c.Context(), jobs); err != nil {
		return err
	}
	if len(sides) > 1 {
		return v.compare(c.Context(), sides, jobs, rows)
	}
	jobs, without := v.Playable(c.Context(), jobs)
	rows = append(rows, without...)
	if v.Serving != nil {
		return v.Serving.Serve(c.Context(), os.Stdin, &v.Queue, v.LookupIn(jobs))
	}
	keep := func(soFar []table.Row) error { return v.shard.SaveProgress(soFar, false) }
	rows, err = v.PlayRounds(c.Context(), pending, jobs, v.rounds, rows, keep)
	if err != nil {
		return v.BreakOff(rows, v.asJSON, err)
	}
	return cmp.Or(v.shard.SaveProgress(rows, true), v.finish(c.Context(), rows, v.asJSON))
}

// plan prints what would be got and played.
func (v *verification) plan(ctx context.Context, records []scenarios.Record, sides []queue.Side) error {
	var of []replayOf
	for _, r := range records {
		if v.target != "" {
			of = append(of, replayOf{r, v.BuildFor(v.ref, r)})
			continue
		}
		for _, t := range r.Targets {
			ref, err := builds.ParseRef(t.Name)
			if err != nil {
				return exit.UsageError(err)
			}
			of = append(of, replayOf{r, v.BuildFor(ref, r)})
		}
	}
	return v.printPlan(ctx, of, sides, v.rounds.Repeat, v.asJSON)
}

// prepare finds the records and the ways in which they are replayed, and what is wrong before
// anything slow begins.
func (v *verification) prepare(c *cobra.Command, ids []string) (records []scenarios.Record, sides []queue.Side, err error) {
	clusters, err := v.checkNumbers(c)
	if err != nil {
		return nil, nil, exit.UsageError(err)
	}
	if v.Catalogue, err = v.Unchecked(); err != nil {
		return nil, nil, err
	}
	v.Features = v.Catalogue.Features()
	records, err = replay.Choose(v.Catalogue, v.Features, ids, v.tags, v.all)
	if err := v.ToPlay(v.Catalogue, records, err); err != nil {
		return nil, nil, err
	}
	if v.all && v.target == "" {
		records = v.WithoutApart(v.Catalogue, records)
	}
	for _, r := range records {
		if r.Bare() {
			return nil, nil, exit.UsageError(fmt.Errorf("%s has no record, so nothing is expected of it on any target: %s", r.ID,
				oneline.Command("nodestorm", "run", r.ID, "--target", "NAME@VERSION")))
		}
	}
	if v.target != "" {
		if v.ref, err = aboutTarget(v.target, false, records); err != nil {
			return nil, nil, exit.UsageError(err)
		}
	}
	if err := v.check(c); err != nil {
		return nil, nil, err
	}
	if err := v.checkClocks(clusters); err != nil {
		return nil, nil, exit.UsageError(err)
	}
	if err := v.CheckMachines(clusters...); err != nil {
		return nil, nil, err
	}
	if sides, err = v.sides(c, clusters); err != nil {
		return nil, nil, err
	}
	if len(sides) > 1 && v.Form == console.AsNames {
		return nil, nil, exit.UsageError(errors.New("-o name: a comparison is of two runs and has no name; want -o json or -o yaml"))
	}
	return records, sides, v.checkParallel(len(sides))
}

// checkNumbers checks how often is replayed, and on what.
func (v *verification) checkNumbers(c *cobra.Command) ([]replay.Cluster, error) {
	if v.rounds.Repeat < 1 {
		return nil, fmt.Errorf("--repeat %d: want 1 or more", v.rounds.Repeat)
	}
	likely := v.rounds.Certain > 0.5 && v.rounds.Certain < 1
	if c.Flags().Changed("until-certain") && (!likely || v.rounds.Repeat < 2 || v.clocks) {
		return nil, fmt.Errorf("--until-certain %g: want more than 0.5 and less than 1, a --repeat for how many runs are enough, and no "+
			"--clocks", v.rounds.Certain)
	}
	return playing.ParseClusters(v.clusters)
}

// checkClocks checks what is compared.
func (v *verification) checkClocks(clusters []replay.Cluster) error {
	switch {
	case v.clocks && (len(clusters) > 1 || clusters[0] != replay.Simulated):
		return fmt.Errorf("--clocks compares clocks, of which clusters of kind have one: want --clocks or --cluster %s,%s", replay.Kind,
			replay.Simulated)
	case len(clusters) > 1 && v.rounds.Repeat > 1:
		return errors.New("--repeat plays on one kind of cluster: want one --cluster")
	case v.clocks && !v.World.Clock.Virtual():
		return fmt.Errorf("--clocks compares 1x with another --clock, and that is %s too: give --clock auto, or a factor", v.World.Clock)
	}
	return nil
}

// jobs are those of the records. Rows are of targets that cannot be had. Pending fetches what is
// missing while replays go on; it is nil if everything was fetched before.
func (v *verification) jobs(ctx context.Context, records []scenarios.Record, sides int) (jobs []queue.Job, rows []table.Row,
	pending *supply.Pending, err error) {
	if err := v.checkInputs(ctx, records); err != nil {
		return nil, nil, nil, err
	}
	switch {
	case v.target != "":
		records, rows = v.withBuild(v.ref, records)
		var missing []table.Row
		jobs, missing, err = v.jobsFor(ctx, v.ref, records)
		rows = append(rows, missing...)
	case sides == 1 && v.KubernetesName == "" && v.PlaysPending():
		jobs, pending, err = v.Pending(ctx, records)
	default:
		jobs, rows, err = v.Jobs(ctx, records)
	}
	return jobs, rows, pending, err
}
