package replays

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/table"
	"nodestorm/scenarios"
)

func (e *env) run() *cobra.Command {
	s := &session{env: e}
	var tags, name, called string
	var all, asJSON bool
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
  nodestorm run --tags @issue-8013 --target cluster-autoscaler@1.33.0 --manifest deployment.yaml
  nodestorm run karpenter-7515-not-ready-noexecute --target karpenter@v1.6.4 --cluster kind
  nodestorm run hetzner-6677-options-error --target cluster-autoscaler@1.33.0 --cluster kind --machines containers
  nodestorm run --tags @kubespray --target kubespray@mine --order my-order.yaml`,
		RunE: func(c *cobra.Command, ids []string) error {
			var err error
			if s.Catalogue, err = e.Unchecked(); err != nil {
				return err
			}
			files, ids := split(ids)
			records, err := s.inFiles(files, tags, called)
			s.Features = s.Catalogue.Features()
			if err == nil && (len(files) == 0 || len(ids) > 0 || all) {
				var documented []scenarios.Record
				documented, err = replay.Choose(s.Catalogue, s.Features, ids, tags, all)
				records = append(records, documented...)
			}
			if err := e.ToPlay(s.Catalogue, records, err); err != nil {
				return err
			}
			if name == "" {
				if len(records[0].Targets) == 0 {
					return exit.UsageError(fmt.Errorf("--target NAME@VERSION is missing, for example karpenter@v1.7.0; nodestorm target list shows what is built"))
				}
				return exit.UsageError(fmt.Errorf("--target NAME@VERSION is missing; the record of %s has %s", records[0].ID, records[0].Targets[0].Name))
			}
			ref, err := builds.ParseRef(name)
			if err != nil {
				return exit.UsageError(err)
			}
			ref.Race = s.Race
			for i, r := range records {
				if r.Bare() {
					records[i].Autoscaler = ref.Name
					continue
				}
				if r.Autoscaler != ref.Name {
					return exit.UsageError(fmt.Errorf("%s is about %s, and --target is %s", r.ID, r.Autoscaler, ref))
				}
			}
			if err := s.check(c); err != nil {
				return err
			}
			if err := s.checkMachines(s.Cluster); err != nil {
				return err
			}
			if err := s.chooseCluster(c, s.Cluster); err != nil {
				return err
			}
			if err := s.checkParallel(1); err != nil {
				return err
			}
			records, rows := s.withBuild(ref, records)
			jobs, err := s.on(c.Context(), ref, records)
			if err != nil {
				return err
			}
			if err := s.CheckManifest(c.Context(), jobs); err != nil {
				return err
			}
			jobs, without := s.Playable(c.Context(), jobs)
			rows = append(rows, without...)
			if s.Serving != nil {
				return s.Serving.Serve(c.Context(), os.Stdin, &s.Queue, s.Among(jobs))
			}
			played, err := s.Play(c.Context(), queue.Tasks(jobs), nil)
			rows = append(rows, played...)
			if err != nil {
				return e.BreakOff(rows, asJSON, err)
			}
			return s.finish(rows, asJSON)
		},
	}
	s.addFlags(c)
	e.CatalogueFlags(c)
	s.addManifest(c)
	s.parallel.addFlags(c)
	c.ValidArgsFunction = e.CompleteIDs
	c.Flags().StringVar(&name, "target", "", "build under test, `NAME@VERSION`")
	s.addRace(c)
	_ = c.RegisterFlagCompletionFunc("target", console.CompleteTargets)
	c.Flags().Var(&s.Cluster, "cluster", "`CLUSTER`: sim, or kind for containers of Docker in real time")
	_ = c.RegisterFlagCompletionFunc("cluster", completeClusters)
	s.addMachines(c)
	c.Flags().StringVar(&s.Order, "order", "", "the target is the order of an installer's steps in `FILE`, whose manifests are beside it: nodestorm help orders")
	c.Flags().StringVar(&tags, "tags", "", console.TagsUsage)
	c.Flags().StringVar(&called, "name", "", "of a feature that is named, the scenarios with this `text` in their names")
	c.Flags().BoolVar(&all, "all", false, "all failures")
	e.OutputFlags(c, &asJSON, console.AsNames)
	c.Flags().BoolVar(&s.live, "watch", false, "serve a page of each run, for a browser on this machine, while it goes on")
	return c
}

// split tells the features from the IDs.
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

// on gets what the records are replayed on: builds of the store, or a user's order.
func (s *session) on(ctx context.Context, ref builds.Ref, records []scenarios.Record) (jobs []queue.Job, err error) {
	refs := make([]builds.Ref, len(records))
	for i, r := range records {
		refs[i] = s.BuildFor(ref, r)
	}
	var own builds.Target
	if s.Order != "" {
		if own, err = replay.OwnOrder(ref, s.Order); err != nil {
			return nil, exit.UsageError(fmt.Errorf("--order: %w", err))
		}
		refs = nil // nothing of it is in the store
	}
	have, err := s.open(ctx, supply.Refuse, refs...)
	if err != nil {
		return nil, err
	}
	for i, r := range records {
		build := own
		if s.Order == "" {
			build = have[refs[i]]
		}
		jobs = append(jobs, s.Job(r, build))
	}
	return jobs, nil
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
		why := fmt.Errorf("%s is not built for the cloud %s: nodestorm target build %s --provider %s", ref, of.Provider, ref, of.Provider)
		without = append(without, queue.Skip(r, ref.String(), why))
	}
	if len(with) == 0 { // what is missing is told in full
		return records, nil
	}
	return with, without
}
