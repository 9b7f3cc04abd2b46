package replays

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/night/archive"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/table"
	"nodestorm/scenarios"
)

func (e *env) verify() *cobra.Command {
	s := &session{env: e}
	var tags string
	var all, asJSON, clocks bool
	var repeat int
	var names []string
	var certain float64
	var kept archive.Upload
	c := &cobra.Command{
		Use:   "verify [ID…]",
		Short: "Replay failures on the affected and on the fixed release",
		Long: `Replay failures on every release that the catalogue has an expectation of, and
compare: a failure must show on the affected release and not on the fixed one.
Releases that are missing are taken out of registries or built, beside the replays that
have what they need; one that cannot be had is skipped by name.

With --clocks each replay runs at 1x and at the given clock, with --cluster kind,sim on
a real cluster, whose nodes are containers, and on a simulated one; verdicts and decisions
are compared: what the autoscaler created, deleted and scaled, in order.

With --shard i/N only the i-th of N parts is replayed, which take about equally long:
by the runs that --durations names, or else by those that were last verified. Give all
shards the same flags, and "nodestorm merge" joins what they left.

With --upload what is in --out is kept in a bucket too, as an archive, whatever came of it:
"nodestorm merge s3://BUCKET/PREFIX" joins shards that were kept in one.

With --parallel N so many worlds play at a time, each in a process of its own, and all
that comes of them is as if they had played one by one. A run that is inconclusive with
others beside it is played again alone. Without the flag the first run tells how many
this machine bears: of two processors one world takes most.

Exit status: 0 all as expected, 1 not as expected, 2 usage, 3 inconclusive. With
--strict a release that is skipped is not as expected.`,
		Example: `  nodestorm verify karpenter-7515-not-ready-noexecute
  nodestorm verify --all --repeat 20
  nodestorm verify --all --shard 2/4 --out reports/out/shard-2
  nodestorm verify --tags @karpenter --repeat 20 --until-certain 0.99
  nodestorm verify --clocks karpenter-7515-startup-taint-declared
  nodestorm verify --cluster kind,sim karpenter-7515-not-ready-noexecute`,
		RunE: func(c *cobra.Command, ids []string) (err error) {
			if repeat < 1 {
				return exit.UsageError(fmt.Errorf("--repeat %d: want 1 or more", repeat))
			}
			if set := c.Flags().Changed("until-certain"); set && (!(certain > 0.5) || certain >= 1 || repeat < 2 || clocks) {
				return exit.UsageError(fmt.Errorf("--until-certain %g: want more than 0.5 and less than 1, a --repeat for how many runs are enough, and no --clocks", certain))
			}
			clusters, err := parseClusters(names)
			if err != nil {
				return exit.UsageError(err)
			}
			if s.Catalogue, err = e.Unchecked(); err != nil {
				return err
			}
			s.Features = s.Catalogue.Features()
			records, err := replay.Choose(s.Catalogue, s.Features, ids, tags, all)
			if err := e.ToPlay(s.Catalogue, records, err); err != nil {
				return err
			}
			for _, r := range records {
				if r.Bare() {
					return exit.UsageError(fmt.Errorf("%s has no record, so nothing is expected of it on any target: nodestorm run %s --target NAME@VERSION", r.ID, r.ID))
				}
			}
			if err := s.check(c); err != nil {
				return err
			}
			switch {
			case clocks && (len(clusters) > 1 || clusters[0] != replay.Simulated):
				return exit.UsageError(fmt.Errorf("--clocks compares clocks, of which clusters of kind have one: want --clocks or --cluster %s,%s", replay.Kind, replay.Simulated))
			case len(clusters) > 1 && repeat > 1:
				return exit.UsageError(errors.New("--repeat plays on one kind of cluster: want one --cluster"))
			case clocks && !s.World.Clock.Virtual():
				return exit.UsageError(fmt.Errorf("--clocks compares 1x with another --clock, and that is %s too: give --clock auto, or a factor", s.World.Clock))
			}
			if err := s.checkMachines(clusters...); err != nil {
				return err
			}
			sides, err := s.sides(c, clusters, clocks)
			if err != nil {
				return err
			}
			if len(sides) > 1 && s.Form == console.AsNames {
				return exit.UsageError(errors.New("-o name: a comparison is of two runs and has no name; want -o json or -o yaml"))
			}
			if err := s.checkParallel(len(sides)); err != nil {
				return err
			}
			if records, err = s.shard.Choose(c.Context(), s.Console, s.Settings, records); err != nil {
				return err
			}
			if s.Serving == nil {
				if err := kept.Check(c.Context()); err != nil {
					return err
				}
				defer func() { err = kept.Keep(c.Context(), s.Out, s.shard.Kept.Name(), err) }()
			}
			if s.shard.Kept.Empty() {
				return s.shard.Keep(nil, true)
			}
			jobs, rows, pending, err := s.jobs(c.Context(), records, len(sides))
			if err != nil {
				return err
			}
			if pending != nil {
				defer pending.End()
			}
			if err := s.CheckManifest(c.Context(), jobs); err != nil {
				return err
			}
			if len(sides) > 1 {
				return s.compare(c, sides, jobs, rows, asJSON)
			}
			jobs, without := s.Playable(c.Context(), jobs)
			rows = append(rows, without...)
			if s.Serving != nil {
				return s.Serving.Serve(c.Context(), os.Stdin, &s.Queue, s.Among(jobs))
			}
			keep := func(soFar []table.Row) error { return s.shard.Keep(soFar, false) }
			rows, err = s.PlayRounds(c.Context(), pending, jobs, queue.Rounds{Repeat: repeat, Certain: certain}, rows, keep)
			if err != nil {
				return e.BreakOff(rows, asJSON, err)
			}
			return cmp.Or(s.shard.Keep(rows, true), s.finish(rows, asJSON))
		},
	}
	s.addFlags(c)
	e.CatalogueFlags(c)
	s.addManifest(c)
	s.shard.AddFlags(c)
	console.UploadFlag(c, &kept)
	s.parallel.addFlags(c)
	c.ValidArgsFunction = e.CompleteIDs
	c.Flags().StringSliceVar(&names, "cluster", []string{string(replay.Simulated)}, "`CLUSTER`: sim, or kind for containers of Docker in real time; kind,sim compares the decisions")
	_ = c.RegisterFlagCompletionFunc("cluster", completeClusters)
	s.addMachines(c)
	c.Flags().StringVar(&tags, "tags", "", console.TagsUsage)
	c.Flags().BoolVar(&all, "all", false, "all failures")
	e.OutputFlags(c, &asJSON, console.AsNames)
	c.Flags().BoolVar(&clocks, "clocks", false, "compare the decisions at 1x with those at --clock")
	c.Flags().BoolVar(&s.strict, "strict", false, "let the exit status be 1 if something is skipped")
	c.Flags().IntVar(&repeat, "repeat", 1, "how many times to replay each; how often each was as expected is told with its interval")
	c.Flags().Float64Var(&certain, "until-certain", 0, "stop repeating what is known so far with this `probability`, 0.99 say: whether it usually is as expected")
	return c
}

// jobs are those of the records. Rows are of targets that cannot be had; or else what gets those
// that are missing goes on beside replays.
func (s *session) jobs(ctx context.Context, records []scenarios.Record, sides int) (jobs []queue.Job, rows []table.Row, pending *supply.Pending, err error) {
	if err := s.TakeParts(ctx, s.withNames); err != nil { // before anything is got
		return nil, nil, nil, err
	}
	if sides == 1 && s.kubernetesName == "" && s.PlaysPending() {
		jobs, pending, err = s.Pending(ctx, records)
	} else {
		jobs, rows, err = s.Jobs(ctx, records)
	}
	return jobs, rows, pending, err
}
