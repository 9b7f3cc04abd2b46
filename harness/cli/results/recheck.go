package results

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/stored"
	"nodestorm/reports/wording"
)

// recheckOptions are what is looked for in stored runs, and how it is shown.
type recheckOptions struct{ asJSON, timeline, cross, invariants bool }

var _ = Commands.Add(console.Results, newRecheck)

func newRecheck(e *console.Console) *cobra.Command {
	var o recheckOptions
	c := &cobra.Command{
		Use:   "recheck DIR…",
		Short: "Judge stored runs again, without running anything",
		Long: `Judge the run in a folder, all runs below it, or those of a bundle, again. What
differs from the judgement of then is listed.

What Cluster Autoscaler's own log and events say of scale-ups, back-offs and
deletions is held against the history, both ways. A run in which either lacks what the
other has is inconclusive, unless that is the documented failure.

Exit status: 0 as the catalogue expects, 1 not as expected, 2 usage, 3 inconclusive.`,
		Example: `  nodestorm recheck reports/out
  nodestorm recheck nodestorm-karpenter.tar.gz`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.UsageError(fmt.Errorf("DIR is missing: want %s", c.UseLine()))
			}
			return o.run(c.Context(), e, args)
		},
	}
	e.OutputFlags(c, &o.asJSON, console.AsWide, console.AsNames)
	c.Flags().BoolVar(&o.cross, "cross", false,
		"look for the symptom of every record in the runs of all other scenarios: one that is there is too loose, unless its record names "+
			"the scenario as kin and the run fails")
	c.Flags().BoolVar(&o.invariants, "invariants", false,
		"count as a table which runs break the invariants of every run; an alarm is a broken one in a run that was healthy without it")
	c.MarkFlagsMutuallyExclusive("cross", "invariants")
	e.CatalogueFlags(c)
	c.Flags().BoolVar(&o.timeline, "timeline", false, "print each run's history")
	_ = c.Flags().MarkDeprecated("timeline", "nodestorm report -o text prints it")
	console.Hide(c, "cross", "invariants") // they are for who works on the catalogue
	c.MarkFlagsMutuallyExclusive("timeline", "json")
	c.MarkFlagsMutuallyExclusive("timeline", "output")
	return c
}

func (o recheckOptions) run(ctx context.Context, e *console.Console, args []string) error {
	run.LimitMemory()
	catalogue, err := e.LoadCatalogue()
	if err != nil {
		return err
	}
	found, done, err := e.Runs(ctx, args)
	defer done()
	switch {
	case err != nil:
		return exit.UsageError(err)
	case o.invariants:
		return tallyInvariants(ctx, e, found, o.asJSON)
	case o.cross:
		c, err := stored.Cross(ctx, found, catalogue, e.Say, foreign(e, o.asJSON))
		if err != nil {
			return err
		}
		return crossed(e, c, len(catalogue.Records()), o.asJSON)
	}
	var history io.Writer
	if o.timeline {
		history = e.Stdout
	}
	again, err := stored.Recheck(ctx, found, catalogue, e.Say, history)
	if err != nil {
		return err
	}
	return concludeAgain(e, again, o.asJSON)
}

// concludeAgain prints what came of judging runs again.
func concludeAgain(e *console.Console, again *stored.Rejudgement, asJSON bool) error {
	if len(again.Rows) == 0 {
		return &exit.Error{Code: exit.Usage}
	}
	err := e.Conclude(again.Rows, asJSON, false)
	if all := again.Judged + again.AsRecorded; all > 0 && !asJSON {
		fmt.Fprintf(e.Stdout, "%d of %d Thens were judged again by the histories, %d are taken as recorded\n", again.Judged, all,
			again.AsRecorded)
	}
	if again.Logs > 0 && !asJSON {
		fmt.Fprintf(e.Stdout, "the targets' own logs have, of %s: %s\n", wording.Counted(again.Logs, "run"), again.OwnLogs)
	}
	if err == nil && len(again.Unjudged) > 0 {
		return &exit.Error{Code: exit.Inconclusive}
	}
	return err
}

// foreign prints a symptom in the run of another scenario, for people.
func foreign(e *console.Console, asJSON bool) func(text string) {
	return func(text string) {
		if !asJSON {
			fmt.Fprintf(e.Stdout, "%s\n\n", wording.Clean(text))
		}
	}
}

// crossed prints what came of looking for symptoms in the runs of other scenarios.
func crossed(e *console.Console, c stored.Crossed, symptoms int, asJSON bool) error {
	if asJSON {
		if err := e.JSON(c.Foreign); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(e.Stdout, "%s, %s: %s\n", wording.Counted(c.Judged, "run"), wording.Counted(symptoms, "symptom"),
			wording.Counted(len(c.Foreign), "symptom")+" of another scenario")
	}
	return exitStatus(len(c.Foreign) > 0, c.Unsure > 0)
}

// tallyInvariants prints which invariants stored runs break.
func tallyInvariants(ctx context.Context, e *console.Console, found []stored.Run, asJSON bool) error {
	all, unread, err := stored.TallyInvariants(ctx, found, e.Say)
	if err != nil {
		return err
	}
	if asJSON {
		if err := e.JSON(all); err != nil {
			return err
		}
	} else {
		all.Show(e.Stdout)
	}
	return exitStatus(all.Alarm(), unread > 0)
}

// exitStatus is the exit status of what is as expected unless it is wrong, or unsure.
func exitStatus(wrong, unsure bool) error {
	switch {
	case wrong:
		return &exit.Error{Code: exit.NotAsExpected}
	case unsure:
		return &exit.Error{Code: exit.Inconclusive}
	}
	return nil
}
