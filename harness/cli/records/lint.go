package records

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/replay"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/wording"
)

var _ = Commands.Add(console.Write, newLint)

func newLint(e *console.Console) *cobra.Command {
	var asJSON, fixes, dryRun bool
	c := &cobra.Command{
		Use:   "lint DIR|FILE.feature…",
		Short: "Check your own features and records, before anything starts",
		Long: `Find what is wrong with the features and records in folders: a line each, with the
file, the line, the field, and what is allowed there. Other YAML is left alone: a record is
what has the name of a feature beside it, or a record's fields. Of a checkout of nodestorm
its own features and records are looked at.

Words, durations and releases that look like a slip of the pen, steps of which nothing
comes where they stand, ranges that overlap, and targets of one side only are found by lint
alone: they keep no scenario from being played. Builds in the store are asked for their
flags: one that none of those knows which a record names is wrong.

With --fix, steps and faults that an older nodestorm called otherwise are rewritten
first. Comments, indentation, tables and quotes stay as they are.

Exit status: 0 nothing is wrong, 1 something is, 2 usage.`,
		Example: "  nodestorm lint failures\n  nodestorm lint mine.feature\n  nodestorm lint --fix --dry-run failures",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && len(e.Own.Folders) == 0 {
				return exit.UsageError(fmt.Errorf("DIR is missing: want %s", c.UseLine()))
			}
			own := e.Own.Folders
			switch {
			case dryRun && !fixes:
				return exit.UsageError(errDryRun)
			case fixes:
				if err := fix(e, slices.Concat(own, args), dryRun); err != nil || dryRun {
					return err
				}
			}
			e.Own.Folders = nil
			catalogue, err := e.LoadCatalogue()
			if err != nil {
				return err
			}
			linted, err := replay.Lint(c.Context(), catalogue, slices.Concat(own, args))
			if err != nil {
				return exit.UsageError(err)
			}
			return printLinted(e, linted, asJSON)
		},
	}
	c.Flags().BoolVar(&fixes, "fix", false, "rewrite steps and faults that are called otherwise now")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "print what --fix would change, as a diff, and change nothing")
	e.CatalogueFlags(c)
	e.OutputFlags(c, &asJSON)
	return c
}

func printLinted(e *console.Console, linted replay.Linted, asJSON bool) (err error) {
	switch {
	case asJSON:
		err = e.JSON(linted.Problems)
	case len(linted.Problems) == 0:
		said := fmt.Sprintf("nothing is wrong with %s, %d with a record", wording.Counted(linted.Scenarios, "scenario"), linted.Recorded)
		if linted.Others > 0 {
			said += fmt.Sprintf("; left alone: %s", wording.Counted(linted.Others, "other YAML file"))
		}
		fmt.Fprintln(e.Stdout, said)
	default:
		for line := range strings.SplitSeq(linted.Problems.Error(), "\n") {
			fmt.Fprintln(e.Stdout, wording.Clean(line))
		}
	}
	if err == nil && len(linted.Problems) > 0 {
		return &exit.Error{Code: exit.NotAsExpected}
	}
	return err
}
