package replays

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/search/bisect"
)

var _ = Commands.Add(console.Test, newBisect)

func newBisect(e *console.Console) *cobra.Command {
	b := newBisection(e)
	c := &cobra.Command{
		Use:   "bisect ID|FILE.feature --good REF --bad REF",
		Short: "Find the release or commit that introduced or fixed a failure",
		Long: `Find what introduced a failure, or what fixed it: good is where the failure does not show, bad where it
does, and either can be the older one. Between two releases the releases between them
are asked first, then the commits; each is built from a checkout of its own with
Go's build cache, and played until its verdict is certain. What does not build, or
fails in another way than the record has it, is skipped.

--source is a git repository: a folder of one (bare or not), or a URL. --module asks the
releases of a Go module instead, and needs no repository. Merges are followed as git
bisect does, or with --first-parent along the branch alone.

What was learned is kept below --out: the same command, given again after Ctrl-C, goes
on where it was. Beside it are a page with the last run without the change and the first
with it side by side, and a text in Markdown for upstream.

"nodestorm bisect step" is for a script of git bisect run.

Exit status: 0 the first release or commit is found, 1 several could be it or nothing
changes, 2 usage (also: the refs are the wrong way round), 3 an end has no verdict.`,
		Example: `  nodestorm bisect karpenter-7515-not-ready-noexecute \
    --module sigs.k8s.io/karpenter --good v1.7.0 --bad v1.6.4
  nodestorm bisect karpenter-7515-not-ready-noexecute \
    --source ~/src/karpenter --good v1.7.0 --bad v1.6.4
  nodestorm bisect clusterapi-9132-whole-increase --dry-run \
    --source https://github.com/kubernetes/autoscaler \
    --good cluster-autoscaler-1.33.0 --bad cluster-autoscaler-1.36.1`,
		Args: exactlyOneScenario,
		RunE: func(c *cobra.Command, args []string) error {
			if err := b.prepare(c, args[0]); err != nil {
				return err
			}
			return b.search(c.Context())
		},
	}
	b.addFlags(c)
	c.Flags().StringVar(&b.From.Dir, "source", "", "git `REPOSITORY`: a folder, bare or not, or a URL")
	c.Flags().StringVar(&b.From.Module, "module", "", "Go `MODULE` whose releases are tried, without a repository")
	c.Flags().StringVar(&b.Good, "good", "", "`REF` without the failure: a tag, branch or commit; of a module a version")
	c.Flags().StringVar(&b.Bad, "bad", "", "`REF` with the failure: a tag, branch or commit; of a module a version")
	c.Flags().BoolVar(&b.Releases, "releases", false, "stop at the release, and try no commits")
	c.Flags().BoolVar(&b.Every, "all-releases", false, "try every release between, also those that the search does not need")
	e.RenamedFlag(c, "every", "all-releases")
	c.Flags().BoolVar(&b.FirstParent, "first-parent", false, "follow the main branch only: the answer can be a merge")
	c.Flags().BoolVar(&b.Anew, "fresh", false, "ignore what an earlier call has found")
	e.RenamedFlag(c, "anew", "fresh")
	e.OutputFlags(c, &b.asJSON)
	c.AddCommand(newBisectStep(e))
	return c
}

// prepare finds what is wrong with the arguments before anything is built.
func (b *bisection) prepare(c *cobra.Command, name string) error {
	switch {
	case (b.From.Dir == "") == (b.From.Module == ""):
		return exit.UsageError(errors.New("name where to look, one of both: --source REPOSITORY or --module PATH"))
	case b.Good == "" || b.Bad == "":
		return exit.UsageError(errors.New("--good REF and --bad REF are both needed: without and with the failure, either can be the older"))
	case b.Good == b.Bad:
		return exit.UsageError(fmt.Errorf("--good and --bad are the same: %s", b.Good))
	}
	return b.prepareScenario(c, name)
}

// search is all of it, from the ends to the report.
func (b *bisection) search(ctx context.Context) error {
	inquiry, err := bisect.Open(ctx, b.Options)
	if err != nil {
		return err
	}
	if b.dry {
		return b.printSearch(ctx, inquiry)
	}
	if _, err := b.Open(ctx, supply.Refuse); err != nil {
		return err
	}
	if err := inquiry.Remember(); err != nil {
		return err
	}
	b.session.Out = inquiry.Dir()
	answer, err := inquiry.Find(ctx)
	b.Line().Clear()
	if err != nil {
		return err
	}
	return b.report(ctx, answer)
}

// report prints what was found, and writes the page and the text for upstream.
func (b *bisection) report(ctx context.Context, a *bisect.Answer) error {
	if err := b.write(ctx, a); err != nil {
		return err
	}
	if b.asJSON {
		if err := b.JSON(a); err != nil {
			return err
		}
	} else if _, err := io.WriteString(b.Stdout, a.Text()); err != nil {
		return err
	}
	if len(a.First) > 1 {
		return &exit.Error{Code: exit.NotAsExpected}
	}
	return nil
}

// write writes the page and the text for upstream.
func (b *bisection) write(ctx context.Context, a *bisect.Answer) error {
	if a.BeforeRun == "" || a.FirstRun == "" {
		return nil
	}
	r := b.Reporter(b.Catalogue)
	page := filepath.Join(b.session.Out, "side-by-side.html")
	if err := r.Page(ctx, page, a.BeforeRun, a.FirstRun); err != nil {
		return err
	}
	a.SideBySide, a.Upstream = page, filepath.Join(b.session.Out, "upstream.md")
	return r.Issue(ctx, a.Upstream, a.Markdown(), a.FailingRun())
}
