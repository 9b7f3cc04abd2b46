package supplies

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/run/exit"
)

// requestFlags are those that say what a build is made of.
func requestFlags(c *cobra.Command, q *buildstore.Request) {
	c.Flags().StringVar(&q.Dir, "source", "",
		"build from a `FOLDER`, such as a checkout, or with --ref from a git repository or URL")
	c.Flags().StringArrayVar(&q.Refs, "ref", nil, "`REF` of the repository: a tag, branch or commit; may be repeated")
	c.Flags().StringVar(&q.Module, "module", "", "Go `MODULE[@VERSION]` to build in its own dependency graph")
	c.Flags().BoolVar(&q.Race, "race", false, "build with Go's race detector (needs a C compiler); plain, and much slower")
	c.Flags().BoolVar(&q.Plain, "plain", false, "leave Go's runtime as it is: virtual time comes from outside")
	console.HowFlags(c, q)
}

func newTargetBuild(e *console.Console) *cobra.Command {
	var q buildstore.Request
	c := &cobra.Command{
		Use:   "build NAME@VERSION…",
		Short: "Build a target from a Go module, a folder or a repository",
		Long: `Build a target with the clock, from its Go module, from a folder or from a repository.

A folder is a checkout of the program, or of the repository that has it in a folder
of its name; what it has changed is built too. With --ref the source is a git
repository, a folder of one (bare or not) or a URL, and that tag, branch or commit of
it is built, whatever is checked out; in a folder nothing is changed. A NAME without a
version gets that of its ref.

Cluster Autoscaler builds for one cloud with that cloud's build tag, and for all
without. One version can have a build for each cloud, and a replay takes the one for
its own: each --tags is a build.

Karpenter comes with the provider kwok, in whose cloud nothing can fail. With
--provider instances it is linked with one of nodestorm's that dials a fake cloud.

A build has nodestorm's clock in Go's runtime. With --plain it is what the go command
makes of the source, as a released binary is, and lives in virtual time as those do.
With --race it also has Go's race detector: a run of such a build in which it finds a
data race breaks the invariant no-race. Records about data races are played on such builds,
and anything else with "run --race" and "explore --race".`,
		Example: `  nodestorm target build karpenter@v1.7.0
  nodestorm target build karpenter@my-fix --source ~/src/karpenter
  nodestorm target build karpenter@v1.7.0 --provider instances
  nodestorm target build karpenter@v1.7.0 --plain
  nodestorm target build cluster-autoscaler@1.32.7 \
    --source ~/src/autoscaler --tags hetzner
  nodestorm target build cluster-autoscaler \
    --source https://github.com/kubernetes/autoscaler \
    --ref cluster-autoscaler-1.32.5 --ref cluster-autoscaler-1.33.0 \
    --tags hetzner --tags clusterapi
  nodestorm target build my-controller@v2 --source ~/src/my-controller \
    --package ./cmd/controller
  nodestorm target build my-controller@v2 \
    --module example.com/my-controller@v2.0.1 --package ./cmd/controller`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.Exactly(1)(c, args)
			}
			return build(e, c.Context(), q, args)
		},
	}
	requestFlags(c, &q)
	return c
}

func build(e *console.Console, ctx context.Context, q buildstore.Request, names []string) error {
	recipes, err := q.Recipes(names)
	if err != nil {
		return exit.UsageError(err)
	}
	if err := checkRefs(e, ctx, q.Dir, q.Refs); err != nil {
		return err
	}
	for _, recipe := range recipes {
		t, err := e.Supplier().Build(ctx, recipe)
		if err != nil {
			return exit.UsageError(err)
		}
		fmt.Fprintf(e.Stdout, "%s is ready: %s\n", t.Ref, t.Dir)
	}
	return nil
}

// checkRefs makes sure that the repository has them before anything is built, and says
// what is left out of it.
func checkRefs(e *console.Console, ctx context.Context, dir string, refs []string) error {
	if len(refs) == 0 {
		return nil
	}
	repo, err := e.Store.Repository(ctx, dir)
	if err != nil {
		return exit.UsageError(fmt.Errorf("--source: %w", err))
	}
	for _, ref := range refs {
		if _, err := repo.Commit(ctx, ref); err != nil {
			return exit.UsageError(fmt.Errorf("--ref: %w", err))
		}
	}
	if repo.Dirty(ctx) {
		e.Say("%s has changes that are in no commit: --ref leaves them out", repo.Name)
	}
	return nil
}
