package replays

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/cli/playing"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/table"
	"nodestorm/scenarios"
	"nodestorm/sim/oneline"
)

// running is one `nodestorm run`.
type running struct {
	*session
	target, tags, named string
	all, asJSON, dry    bool
}

var _ = Commands.Add(console.Test, newRun)

func newRun(e *console.Console) *cobra.Command {
	r := &running{session: newSession(e)}
	c := &cobra.Command{
		Use:   "run [ID|FILE.feature…] --target NAME@VERSION",
		Short: "Replay failures on one target",
		Long: `Replay failures on one target: a release, your branch, your binary. A feature of your
own needs no record: its runs are healthy or failed, and nothing documented is looked
for in them. All scenarios of a feature are played, or those with --tags or --name.

Exit status: 0 as the catalogue expects (of a target it says nothing of: healthy),
1 not as expected, 2 usage, 3 inconclusive.`,
		Example: `  nodestorm run karpenter-7515-not-ready-noexecute --target karpenter@v1.6.4
  nodestorm run --tags @issue-7515 --target karpenter@my-fix --clock 30x
  nodestorm run mine.feature --target karpenter@v1.6.4
  nodestorm run --tags @issue-8013 --target cluster-autoscaler@1.33.0 \
    --manifest deployment.yaml
  nodestorm run karpenter-7515-not-ready-noexecute \
    --target karpenter@v1.6.4 --cluster kind
  nodestorm run hetzner-6677-options-error --target cluster-autoscaler@1.33.0 \
    --cluster kind --cloud-machines containers
  nodestorm run --tags @kubespray --target kubespray@mine --order my-order.yaml`,
		RunE: func(c *cobra.Command, args []string) error { return r.run(c, args) },
	}
	r.AddFlags(c)
	e.CatalogueFlags(c)
	r.addManifest(c)
	r.AddParallel(c)
	r.AddRetry(c)
	playing.AddDryRun(c, &r.dry)
	c.ValidArgsFunction = e.CompleteIDs
	c.Flags().StringVarP(&r.target, "target", "t", "", "build under test, `NAME@VERSION`")
	r.addRace(c)
	_ = c.RegisterFlagCompletionFunc("target", console.CompleteTargets)
	c.Flags().Var(&r.Cluster, "cluster", "`CLUSTER` to play on: sim, or kind (Docker, in real time)")
	_ = c.RegisterFlagCompletionFunc("cluster", playing.CompleteClusters)
	r.AddMachines(c)
	c.Flags().StringVar(&r.Order, "order", "",
		"the target is the installer order in `FILE`: nodestorm help orders")
	c.Flags().StringVar(&r.tags, "tags", "", console.TagsUsage)
	c.Flags().StringVar(&r.named, "name", "", "only scenarios of a named feature with `TEXT` in their names")
	c.Flags().BoolVar(&r.all, "all", false, "all failures")
	e.OutputFlags(c, &r.asJSON, console.AsWide, console.AsNames)
	c.Flags().BoolVar(&r.live, "watch", false, "serve a page of each run on loopback while it goes on")
	return c
}

func (r *running) run(c *cobra.Command, args []string) error {
	records, err := r.chosen(args)
	if err != nil {
		return err
	}
	ref, err := r.resolveTarget(records)
	if err != nil {
		return exit.UsageError(err)
	}
	if err := r.check(c); err != nil {
		return err
	}
	if err := r.CheckMachines(r.Cluster); err != nil {
		return err
	}
	if err := r.ChooseCluster(c, r.Cluster); err != nil {
		return err
	}
	if err := r.checkParallel(1); err != nil {
		return err
	}
	records, rows := r.withBuild(ref, records)
	if r.dry {
		var of []replayOf
		for _, record := range records {
			of = append(of, replayOf{record, r.BuildFor(ref, record)})
		}
		return r.printPlan(c.Context(), of, r.side(), 1, r.asJSON)
	}
	jobs, missing, err := r.jobsFor(c.Context(), ref, records)
	if err != nil {
		return err
	}
	rows = append(rows, missing...)
	if err := r.CheckManifest(c.Context(), jobs); err != nil {
		return err
	}
	jobs, without := r.Playable(c.Context(), jobs)
	rows = append(rows, without...)
	if r.Serving != nil {
		return r.Serving.Serve(c.Context(), os.Stdin, &r.Queue, r.LookupIn(jobs))
	}
	played, err := r.Play(c.Context(), queue.Tasks(jobs), nil)
	rows = append(rows, played...)
	if err != nil {
		return r.BreakOff(rows, r.asJSON, err)
	}
	return r.finish(c.Context(), rows, r.asJSON)
}

// chosen are the scenarios that the arguments and the flags name.
func (r *running) chosen(args []string) (records []scenarios.Record, err error) {
	if r.Catalogue, err = r.Unchecked(); err != nil {
		return nil, err
	}
	files, ids := split(args)
	records, err = r.inFiles(files, r.tags, r.named)
	r.Features = r.Catalogue.Features()
	if err == nil && (len(files) == 0 || len(ids) > 0 || r.all) {
		var documented []scenarios.Record
		documented, err = replay.Choose(r.Catalogue, r.Features, ids, r.tags, r.all)
		records = append(records, documented...)
	}
	return records, r.ToPlay(r.Catalogue, records, err)
}

// resolveTarget is the target, which all records are about; those without one are of it from now on.
func (r *running) resolveTarget(records []scenarios.Record) (builds.Ref, error) {
	switch {
	case r.target == "" && len(records[0].Targets) == 0:
		return builds.Ref{}, errors.New("--target NAME@VERSION is missing, for example karpenter@v1.7.0; nodestorm target list " +
			"shows what is built")
	case r.target == "":
		return builds.Ref{}, fmt.Errorf("--target NAME@VERSION is missing; the record of %s has %s", records[0].ID, records[0].Targets[0].Name)
	}
	return aboutTarget(r.target, r.Race, records)
}

// aboutTarget is the target, which all records are about; those without a record are of it from now on.
func aboutTarget(target string, race bool, records []scenarios.Record) (builds.Ref, error) {
	ref, err := builds.ParseRef(target)
	if err != nil {
		return ref, err
	}
	ref.Race = race
	for i, of := range records {
		if of.Bare() {
			records[i].Autoscaler = ref.Name
			continue
		}
		on, is := of.ForProgram(ref.Name)
		if records[i] = on; !is {
			about := strings.TrimSuffix(of.Autoscaler+" on "+of.OnlyCloud(), " on ")
			return ref, fmt.Errorf("%s is about %s, and --target is %s: want a build of %s", of.ID, about, ref, of.Autoscaler)
		}
	}
	return ref, nil
}

// split separates the features from the IDs.
func split(args []string) (files, ids []string) {
	for _, arg := range args {
		if strings.HasSuffix(arg, ".feature") {
			files = append(files, arg)
		} else {
			ids = append(ids, arg)
		}
	}
	return files, ids
}

// noteRecord remarks that a feature is played by its path, and the record beside it is not looked at.
func (s *session) noteRecord(file string, of scenarios.Record) {
	beside := filepath.Join(filepath.Dir(file), of.ID+".yaml")
	if _, err := os.Stat(beside); err == nil && of.Bare() {
		s.Remark("%s is played without its record %s; with it: nodestorm run %s --catalogue %s", file, beside, of.ID, filepath.Dir(file))
	}
}

// inFiles are the scenarios of the features, with the tags and the text in their names.
func (s *session) inFiles(files []string, tags, called string) (records []scenarios.Record, err error) {
	if called != "" && len(files) == 0 {
		return nil, exit.UsageError(fmt.Errorf("--name %q chooses among the scenarios of features, and no FILE.feature is named", called))
	}
	for _, file := range files {
		found := s.Catalogue.InFile(file)
		if len(found) == 0 {
			if err := s.Catalogue.Add(replay.ReadFolder(file).Own); err != nil {
				return nil, exit.UsageError(err)
			}
			found = s.Catalogue.InFile(file)
		}
		for _, of := range found {
			is, err := replay.HasTags(tags, of.Tags)
			if err != nil {
				return nil, exit.UsageError(err)
			}
			if is && strings.Contains(of.Name, called) {
				records = append(records, of.Record)
				s.noteRecord(file, of.Record)
			}
		}
	}
	if len(files) > 0 && len(records) == 0 {
		asked := []string{}
		if tags != "" {
			asked = append(asked, fmt.Sprintf("the tags %q", tags))
		}
		if called != "" {
			asked = append(asked, fmt.Sprintf("%q in its name", called))
		}
		return nil, exit.UsageError(fmt.Errorf("no scenario of %s has %s", strings.Join(files, ", "), strings.Join(asked, " and ")))
	}
	return records, nil
}

// jobsFor gets what the records are replayed on: builds of the store, or a user's order. Rows are of records whose build
// cannot be had, such as one with the race detector, or cannot be given what they give it, while others have theirs.
func (s *session) jobsFor(
	ctx context.Context, ref builds.Ref, records []scenarios.Record,
) (jobs []queue.Job, without []table.Row, err error) {
	refs := make([]builds.Ref, len(records))
	for i, r := range records {
		refs[i] = s.BuildFor(ref, r)
	}
	var own builds.Target
	if s.Order != "" {
		if own, err = replay.OwnOrder(ref, s.Order); err != nil {
			return nil, nil, exit.UsageError(fmt.Errorf("--order: %w", err))
		}
		refs = nil // nothing of it is in the store
	}
	if err := s.checkInputs(ctx, records); err != nil {
		return nil, nil, err
	}
	missing := map[builds.Ref]error{}
	have, err := s.Open(ctx, refusesLast(refs, missing), refs...)
	if err != nil {
		return nil, nil, err
	}
	for i, r := range records {
		build := own
		if s.Order == "" {
			if cannot := missing[refs[i]]; cannot != nil {
				without = append(without, queue.Skip(r, ref.String(), cannot))
				continue
			}
			build = have[refs[i]]
		}
		jobs = append(jobs, s.Job(r, build))
	}
	jobs, unknown := s.Given(ctx, jobs)
	return jobs, append(without, unknown...), nil
}

// refusesLast refuses builds that cannot be had only where no record could be played without them, and notes the others.
func refusesLast(refs []builds.Ref, missing map[builds.Ref]error) func(builds.Ref, error) error {
	return func(of builds.Ref, err error) error {
		missing[of] = err
		others := slices.ContainsFunc(refs, func(r builds.Ref) bool { return missing[r] == nil })
		// mutant: a build that cannot be had stops what has its own
		if of.Name == builds.Kubernetes.Name || !others {
			return supply.Refuse(of, err)
		}
		return nil
	}
}

// withBuild leaves out records that need the target built for another cloud than it is: who has
// built a branch, or taken a program as it is, for one of them has no build for another.
func (s *session) withBuild(ref builds.Ref, records []scenarios.Record) (with []scenarios.Record, without []table.Row) {
	releases, _ := scenarios.ReleasesOf(ref.Name) // those can be built for any
	_, err := s.Store.Get(ref)
	if err != nil || slices.Contains(releases, ref.Version) {
		return records, nil
	}
	for _, r := range records {
		of := s.BuildFor(ref, r)
		var none *buildstore.NotFoundError
		if _, err := replay.Find(s.Store, of); of.Provider == "" || !errors.As(err, &none) {
			with = append(with, r)
			continue
		}
		why := fmt.Errorf("%s is not built for the cloud %s: %s", ref, of.Provider,
			oneline.Command("nodestorm", "target", "build", ref.String(), "--provider", of.Provider))
		without = append(without, queue.Skip(r, ref.String(), why))
	}
	if len(with) == 0 { // what is missing is reported in full
		return records, nil
	}
	return with, without
}
