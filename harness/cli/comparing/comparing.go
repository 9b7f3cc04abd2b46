// Package comparing has the command that compares variants on one workload.
package comparing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/cli/playing"
	"nodestorm/harness/program"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/search/compare"
	"nodestorm/reports/comparison"
)

// comparing is one comparison: of what it plays, or of stored runs.
type comparing struct {
	playing.Session
	options  compare.Options
	measures []string
	dry      bool
	parallel int
	form     string // of -o

	variants []played
}

// played is a variant with what is played of it.
type played struct {
	compare.Variant
	job   queue.Job
	plane replay.ControlPlane
}

// Commands are those of the package.
var Commands console.Commands

var _ = Commands.Add(console.Test, newCompare)

func newCompare(e *console.Console) *cobra.Command {
	p := &comparing{Session: playing.Session{Console: e}}
	c := &cobra.Command{
		Use:   "compare WORKLOAD.yaml --variant VARIANT… | compare RUNS…",
		Short: "Compare variants on one workload: cost, waiting, churn",
		Long: `Play one workload ("nodestorm help schedules") with each variant, as often as --seeds says,
and compare what it came to: what the machines cost, how long pods waited, how many were
evicted. Runs of one seed draw the same workload and are a pair. Or compare stored runs,
of which each folder has those of a variant.

A VARIANT is a target and what it has, in one argument:

  NAME@VERSION [--flag=value]… [VARIABLE=value]…
  [kubernetes=VERSION] [manifest=FILE] [given=FILE.feature]

Its world are NodePools or node groups of some types of machines ("nodestorm compare
--dry-run" prints the feature), or the Givens of FILE.feature.

Each measure has the median of both variants, the difference of the pairs with its
interval at 95 % (by signed ranks), and what can be said of it. "better" and "worse"
allow for how many measures were looked at; "perhaps" would be certain if it were the
only one. A wait that differs by less than timers may be late is too small to say. A run
that is inconclusive, or that does not have a measure, is named. Below is where both first
decide differently.
The folder of the runs has all of it as comparison.html, which draws cost and waiting,
curves over time, and a map if two settings are swept; comparison.md, a text for an
issue; and comparison.json.

Exit status: 0 compared, 2 usage, 3 no pair of runs counts.`,
		Example: `  nodestorm compare day.yaml --variant karpenter@v1.6.4 \
    --variant karpenter@v1.14.1
  nodestorm compare day.yaml --variant karpenter@v1.14.1 \
    --flag BATCH_IDLE_DURATION=1s,10s --measures cost,podWaitP95 --seeds 7
  nodestorm compare day.yaml --dry-run --variant karpenter@v1.6.4 \
    --variant 'karpenter@v1.6.4 given=two-pools.feature'
  nodestorm compare reports/out/compare-1/1 reports/out/compare-1/2 -o json`,
		RunE: func(c *cobra.Command, args []string) error { return p.run(c, args) },
	}
	p.AddFlags(c)
	p.AddRetry(c)
	playing.AddDryRun(c, &p.dry)
	c.Flags().StringArrayVar(&p.options.Variants, "variant", nil, "`VARIANT` to compare; the first is what the others are compared with")
	c.Flags().StringArrayVar(&p.options.Sweeps, "flag", nil, "each variant with each value of a flag or a variable, `NAME=VALUE,VALUE`")
	c.Flags().StringSliceVar(&p.measures, "measures", nil, "only these `MEASURES`, with commas (nodestorm report -o json has their names)")
	c.Flags().IntVar(&p.options.Seeds, "seeds", 10, "play each variant `N` times, with the seeds from --seed on")
	c.Flags().StringVar(&p.options.Given, "given", "", "the world is that of the Givens of `FILE.feature`")
	_ = c.MarkFlagFilename("given", "feature")
	c.Flags().StringVar(&p.Cloud, "cloud", "", "simulated `CLOUD` of the world; default: that of explore")
	c.Flags().IntVarP(&p.parallel, "parallel", "j", 1, "play `N` worlds at a time; then processor time says little")
	c.Flags().BoolVar(&p.options.Same, "same", false, "let variants be the same: what differs then is chance")
	e.FormatFlags(c, &p.form, "", append(comparison.Formats, console.AsYAML))
	return c
}

func (p *comparing) run(c *cobra.Command, args []string) error {
	if err := compare.CheckMeasures(p.measures); err != nil {
		return exit.UsageError(fmt.Errorf("--measures: %w", err))
	}
	switch {
	case len(args) == 0:
		return exit.UsageError(fmt.Errorf("want a workload, or folders of runs: %s", c.UseLine()))
	case len(args) == 1 && !compare.IsFolder(args[0]):
		return p.play(c, args[0])
	case len(p.options.Variants) > 0 || len(p.options.Sweeps) > 0:
		return exit.UsageError(errors.New("--variant, --flag: of stored runs each folder is a variant: leave them out, or name one workload"))
	case len(args) == 1:
		return exit.UsageError(fmt.Errorf("%s is one variant, and a comparison needs two: name a folder of runs for each", args[0]))
	}
	return p.compare(c.Context(), args, nil, "")
}

// play plays the workload, and compares what came of it.
func (p *comparing) play(c *cobra.Command, file string) error {
	p.options.Cloud = p.Cloud
	plan, err := compare.NewPlan(file, p.options, p.World.Seed)
	if err != nil {
		return exit.UsageError(err)
	}
	if p.dry {
		return plan.Print(p.Stdout, p.World.Seed)
	}
	if p.parallel < 1 {
		return exit.UsageError(fmt.Errorf("--parallel %d: want how many worlds play at a time, from 1 to %d", p.parallel, queue.Most))
	}
	if err := cmp.Or(p.Check(c), playing.CheckAtOnce(p.parallel)); err != nil {
		return err
	}
	if program.Named(plan.Variants[0].Target.Name).BuiltIn != "" { // a build for another cloud is another one
		p.Cloud = p.options.Cloud
	}
	if p.Serving != nil {
		return p.serve(c.Context(), plan)
	}
	folder, err := compare.NewFolder(p.Out)
	if err != nil {
		return err
	}
	if err := p.open(c.Context(), plan, folder); err != nil {
		return errors.Join(err, os.RemoveAll(folder)) // nothing was played
	}
	if err := p.playAll(c.Context(), plan); err != nil {
		return err
	}
	p.Line().Clear()
	var folders []string
	for _, v := range p.variants {
		folders = append(folders, v.job.Out)
	}
	return p.compare(c.Context(), folders, plan.Named(), folder)
}

// playAll plays each variant with each seed, several at a time if that is asked for.
func (p *comparing) playAll(ctx context.Context, plan compare.Plan) error {
	if p.AtOnce = p.parallel; p.AtOnce == 1 {
		return plan.Play(ctx, p.World.Seed, p.playOne)
	}
	tasks, err := p.tasks(ctx, plan)
	if err == nil {
		_, err = p.Play(ctx, tasks, nil)
	}
	return err
}

// tasks are all runs in the order in which they begin. Another process that is asked for one by its number comes to the same.
func (p *comparing) tasks(ctx context.Context, plan compare.Plan) (all []queue.Task, err error) {
	err = plan.Play(ctx, p.World.Seed, func(_ context.Context, nth int, seed uint64, label string) error {
		v := p.variants[nth]
		v.job.Adjust = func(r *replay.Request) { r.World.Seed, r.ControlPlane, r.Manifest = seed, v.plane, v.Manifest }
		all = append(all, queue.Task{Job: v.job, Index: len(all), Label: label})
		return nil
	})
	return all, err
}

// serve plays what the process asks for that plays several at a time. Its features are only read, and their runs are where
// that process has them.
func (p *comparing) serve(ctx context.Context, plan compare.Plan) error {
	folder, err := os.MkdirTemp("", "nodestorm-compare-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := p.open(ctx, plan, folder); err != nil {
		return err
	}
	tasks, err := p.tasks(ctx, plan)
	if err != nil {
		return err
	}
	var jobs []queue.Job
	for _, t := range tasks {
		jobs = append(jobs, t.Job)
	}
	return p.Serving.Serve(ctx, os.Stdin, &p.Queue, p.LookupIn(jobs))
}

// playOne plays a variant with a seed.
func (p *comparing) playOne(ctx context.Context, nth int, seed uint64, label string) error {
	v := p.variants[nth]
	p.World.Seed, p.ControlPlane, p.Manifest = seed, v.plane, v.Manifest
	_, row, err := p.Replay(ctx, v.job, label)
	if err == nil {
		p.SayBetween("%s%s in %.0f s", label, row.Verdict, row.WallSeconds)
	}
	return err
}

// open writes what the variants play, and gets their builds and control planes.
func (p *comparing) open(ctx context.Context, plan compare.Plan, folder string) error {
	usual := p.KubernetesName
	for i, of := range plan.Variants {
		v := played{Variant: of.Variant}
		feature, err := plan.Write(of, filepath.Join(folder, "features", fmt.Sprint(i+1)))
		if err != nil {
			return err
		}
		named := builds.Target{Manifest: builds.Manifest{Ref: v.Target}}
		if v.job, err = queue.FeatureJob(feature, named, filepath.Join(folder, fmt.Sprint(i+1))); err != nil {
			return exit.UsageError(fmt.Errorf("%s: %w", v, err))
		}
		ref := p.BuildFor(v.Target, v.job.Record)
		p.KubernetesName, p.ControlPlane, p.Release = cmp.Or(v.Kubernetes, usual), replay.ControlPlane{}, builds.Ref{}
		if err := p.CheckKubernetes(ctx); err != nil {
			return exit.UsageError(err)
		}
		have, err := p.Open(ctx, supply.Refuse, ref)
		if err != nil {
			return err
		}
		v.job.Target, v.plane, p.Manifest = have[ref], p.ControlPlane, v.Manifest
		if err := p.CheckManifest(ctx, []queue.Job{v.job}); err != nil {
			return exit.UsageError(fmt.Errorf("%s: %w", v, err))
		}
		p.variants = append(p.variants, v)
	}
	return nil
}

// compare compares the runs below the folders, each of which has those of a variant. Its files come into out, if that is not
// empty.
func (p *comparing) compare(ctx context.Context, folders []string, named []comparison.Variant, out string) error {
	variants, workload, err := compare.StoredVariants(ctx, folders, named)
	if err != nil {
		return exit.UsageError(err)
	}
	c := comparison.Compare(variants, p.measures)
	c.Workload = workload
	if out != "" {
		if err := compare.Leave(out, c); err != nil {
			return err
		}
	}
	if err := p.print(c, out); err != nil {
		return err
	}
	if !c.Decides() {
		return &exit.Error{Code: exit.Inconclusive}
	}
	return nil
}

func (p *comparing) print(c comparison.Comparison, out string) error {
	if p.form != "" {
		return p.InYAML(func(w io.Writer) error { return c.Write(w, p.form) })(p.Stdout)
	}
	err := c.Text(p.Stdout)
	if out != "" {
		fmt.Fprintf(p.Stdout, "\nThe page: %s\n", filepath.Join(out, compare.PageFile))
	}
	return err
}
