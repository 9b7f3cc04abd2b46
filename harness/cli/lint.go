package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/replay"
	"nodestorm/reports"
	"nodestorm/scenarios"
)

func (e *env) lint() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "lint DIR|FILE.feature…",
		Short: "Find what is wrong with features and records of your own, before anything starts",
		Long: `Find all that is wrong with the features and records in folders: a line each, with the
file, the line, the field, and what is allowed there.

Exit status: 0 nothing is wrong, 1 something is, 2 usage.`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && len(e.own.folders) == 0 {
				return usage(fmt.Errorf("no DIR is named: %s", c.UseLine()))
			}
			own := e.own.folders
			e.own.folders = nil
			catalogue, err := e.catalogue()
			if err != nil {
				return err
			}
			problems := scenarios.Problems{}
			found := 0
			for _, name := range slices.Concat(own, args) {
				folder := replay.ReadFolder(name)
				found += len(folder.Scenarios)
				if wrong := (scenarios.Problems)(nil); errors.As(catalogue.Add(folder), &wrong) {
					problems = append(problems, wrong...)
				}
			}
			switch {
			case asJSON:
				err = e.json(problems)
			case len(problems) == 0:
				fmt.Fprintf(e.stdout, "nothing is wrong with %s\n", counted(found, "scenario"))
			default:
				for line := range strings.SplitSeq(problems.Error(), "\n") {
					fmt.Fprintln(e.stdout, reports.Clean(line))
				}
			}
			if err == nil && len(problems) > 0 {
				return &exit{code: NotAsExpected}
			}
			return err
		},
	}
	e.catalogueFlags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
