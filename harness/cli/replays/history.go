package replays

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/search/bisect"
	"nodestorm/scenarios"
)

var _ = Commands.Add(console.Test, newHistory)

func newHistory(e *console.Console) *cobra.Command {
	b := newBisection(e)
	var get bisect.Getting
	c := &cobra.Command{
		Use:   "history ID",
		Short: "Replay a failure on every release in the store",
		Long: `Replay a failure on every release that the store has, oldest first, and say which is
the first and which the last that is affected, and what is healthy in between. Releases
that the catalogue knows and the store lacks are named. With --from those are taken out of
a registry that "nodestorm target push" has put there, and what else it has of releases
is played too; with --build those that can be had are built: of a Go module as such,
others from a repository with --source, by their tags.

Exit status: 0 as the catalogue expects, 1 not, 2 usage, 3 inconclusive.`,
		Example: `  nodestorm history karpenter-7515-not-ready-noexecute
  nodestorm history karpenter-7515-not-ready-noexecute --build --dry-run
  nodestorm history karpenter-7515-not-ready-noexecute --build --json
  nodestorm history karpenter-7515-not-ready-noexecute \
    --from registry.example/team/nodestorm
  nodestorm history hetzner-8402-min-size --build \
    --source https://github.com/kubernetes/autoscaler`,
		Args: exactlyOneScenario,
		RunE: func(c *cobra.Command, args []string) error {
			if b.From.Dir != "" && !get.Build {
				return exit.UsageError(errors.New("--source is where to build from: it needs --build"))
			}
			if err := b.prepareScenario(c, args[0]); err != nil {
				return err
			}
			return b.releases(c.Context(), get)
		},
	}
	b.addFlags(c)
	c.Flags().StringVar(&get.Pull, "from", "", "take missing builds from `REGISTRY/REPOSITORY`, where target push put them")
	e.RenamedFlag(c, "pull", "from")
	c.Flags().BoolVar(&get.Build, "build", false, "build the releases that the catalogue knows and the store lacks")
	c.Flags().StringVar(&b.From.Dir, "source", "", "git `REPOSITORY` to build them from by tag: a folder or a URL")
	e.OutputFlags(c, &b.asJSON)
	return c
}

// releases plays all releases there are.
func (b *bisection) releases(ctx context.Context, get bisect.Getting) error {
	known, err := scenarios.ReleasesOf(b.Record.Autoscaler)
	if err != nil {
		return exit.UsageError(err)
	}
	if get.Pull != "" {
		get.Take = b.Supplier().Pull
		if get.Pushed, err = b.Store.Pushed(ctx, b.Record.Autoscaler, b.ProviderOf(known[0]), get.Pull); err != nil {
			return exit.UsageError(fmt.Errorf("--from: %w", err))
		}
	}
	if b.dry {
		return b.printHistory(ctx, b.OutlookOver(known, get))
	}
	if _, err := b.Open(ctx, supply.Refuse); err != nil {
		return err
	}
	past, err := b.ReplayReleases(ctx, known, get)
	if err != nil {
		return err
	}
	b.Line().Clear()
	if b.asJSON {
		err = b.JSON(past)
	} else {
		_, err = io.WriteString(b.Stdout, past.Text())
	}
	if code := verdict.ExitStatus(past.Outcomes()...); err == nil && code != exit.AsExpected {
		return &exit.Error{Code: code}
	}
	return err
}
