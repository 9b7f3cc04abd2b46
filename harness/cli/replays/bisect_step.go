package replays

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/repository"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/verdict"
)

// What git bisect run takes a script's exit status for. From 128 on it stops.
const (
	gitOld  = 0
	gitNew  = 1
	gitSkip = 125
	gitStop = 128
)

func newBisectStep(e *console.Console) *cobra.Command {
	b := newBisection(e)
	var mended bool
	c := &cobra.Command{
		Use:   "step ID|FILE.feature --source DIR",
		Short: "Build and play what is checked out, for a script of git bisect run",
		Long: `Build and play what is checked out in a folder, for a script of git bisect run.

Exit status: 0 the failure does not show, 1 it does, 125 this one has no verdict (it
does not build, or the runs were inconclusive), 128 nothing can, which ends git bisect
run. With --invert 0 and 1 are the other way round: to find what mended it, git bisect's
"new" is healthy.`,
		Example: `  git bisect start v1.7.0 v1.6.4
  git bisect run nodestorm bisect step karpenter-3038-forced-deletion --source .
  git bisect start --term-old=broken --term-new=mended v1.7.0 v1.6.4
  git bisect run nodestorm bisect step karpenter-7515-not-ready-noexecute \
    --source . \
    --invert`,
		Args: exactlyOneScenario,
		RunE: func(c *cobra.Command, args []string) error {
			status, err := b.step(c, args[0])
			switch {
			case c.Context().Err() != nil:
				return err
			case err != nil:
				return &exit.Error{Code: gitStop, Err: err}
			case mended && status != gitSkip:
				status = gitNew - status
			}
			if status == gitOld {
				return nil
			}
			return &exit.Error{Code: status}
		},
	}
	b.addFlags(c)
	c.Flags().StringVar(&b.From.Dir, "source", "", "`FOLDER` of the checkout")
	c.Flags().BoolVar(&mended, "invert", false, "exit 0 if the failure shows, 1 if it does not")
	e.RenamedFlag(c, "mended", "invert")
	// A wrong flag is no answer about a commit.
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &exit.Error{Code: gitStop, Err: console.WrongFlag(c, err)}
	})
	return c
}

// step is one answer to git.
func (b *bisection) step(c *cobra.Command, name string) (status int, err error) {
	if b.From.Dir == "" {
		return 0, errors.New("--source is missing: say --source . for the checkout that git bisect run is in")
	}
	if err := b.prepareScenario(c, name); err != nil {
		return 0, err
	}
	ctx := c.Context()
	commit, _ := repository.State(ctx, b.From.Dir)
	if commit == "" {
		return 0, fmt.Errorf("%s is no checkout of a git repository with a commit", b.From.Dir)
	}
	recipe, err := b.Recipe(commit[:12], "")
	if err != nil {
		return 0, err
	}
	if _, err := b.Open(ctx, supply.Refuse); err != nil {
		return 0, err
	}
	t, err := b.Attempt(ctx, func() (builds.Target, error) { return b.Build(ctx, recipe) })
	if err != nil {
		return 0, err
	}
	b.Line().Clear()
	switch t.Verdict {
	case verdict.Healthy:
		b.Say("%.12s: healthy", commit)
		return gitOld, nil
	case verdict.Reproduced:
		b.Say("%.12s: reproduced; the run is %s", commit, t.Run())
		return gitNew, nil
	case verdict.Failed:
		if b.Record.Bare() {
			b.Say("%.12s: failed; the run is %s", commit, t.Run())
			return gitNew, nil
		}
		b.Say("%.12s fails in another way than the record has it, so it is skipped: %s", commit, t.Reason)
		return gitSkip, nil
	}
	b.Say("%.12s is skipped: %s", commit, t.Reason)
	return gitSkip, nil
}
