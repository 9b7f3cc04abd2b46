package records

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/replay"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
)

func newLint(e *console.Console) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "lint DIR|FILE.feature…",
		Short: "Find what is wrong with features and records of your own, before anything starts",
		Long: `Find all that is wrong with the features and records in folders: a line each, with the
file, the line, the field, and what is allowed there. Other YAML is left alone: a record is
what has the name of a feature beside it, or a record's fields. Of a checkout of nodestorm
its own features and records are looked at.

Exit status: 0 nothing is wrong, 1 something is, 2 usage.`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && len(e.Own.Folders) == 0 {
				return exit.UsageError(fmt.Errorf("no DIR is named: %s", c.UseLine()))
			}
			own := e.Own.Folders
			e.Own.Folders = nil
			catalogue, err := e.LoadCatalogue()
			if err != nil {
				return err
			}
			problems := scenarios.Problems{}
			found, recorded, others := 0, 0, 0
			for _, name := range slices.Concat(own, args) {
				if buildstore.IsRoot(name) {
					checked, wrong := lintCheckout(name)
					found, recorded, problems = found+checked, recorded+checked, append(problems, wrong...)
					continue
				}
				if _, err := os.Stat(name); err != nil {
					return exit.UsageError(fmt.Errorf("%s is not there; name a folder with features and records", name))
				}
				folder := replay.ReadFolder(name)
				others += folder.Others
				for _, s := range folder.Scenarios {
					found++
					if !s.Record.Bare() {
						recorded++
					}
				}
				if wrong := (scenarios.Problems)(nil); errors.As(catalogue.Add(folder.Own), &wrong) {
					problems = append(problems, wrong...)
				}
			}
			switch {
			case asJSON:
				err = e.JSON(problems)
			case len(problems) == 0:
				said := fmt.Sprintf("nothing is wrong with %s, %d with a record", wording.Counted(found, "scenario"), recorded)
				if others > 0 {
					said += fmt.Sprintf("; left alone: %s", wording.Counted(others, "other YAML file"))
				}
				fmt.Fprintln(e.Stdout, said)
			default:
				for line := range strings.SplitSeq(problems.Error(), "\n") {
					fmt.Fprintln(e.Stdout, wording.Clean(line))
				}
			}
			if err == nil && len(problems) > 0 {
				return &exit.Error{Code: exit.NotAsExpected}
			}
			return err
		},
	}
	e.CatalogueFlags(c)
	e.OutputFlags(c, &asJSON)
	return c
}

// lintCheckout looks at the records of a checkout of nodestorm, and at their features.
func lintCheckout(dir string) (checked int, problems scenarios.Problems) {
	catalogue, err := scenarios.LoadCheckout(dir)
	if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			problems = append(problems, scenarios.Problem{File: dir, Text: line})
		}
		return 0, problems
	}
	problems = append(problems, catalogue.Strays()...)
	features := catalogue.Features()
	for _, record := range catalogue.Records() {
		checked++
		if err := (replay.Request{Record: record, Features: features}).CheckSteps(); err != nil {
			problems = append(problems, scenarios.Problem{File: dir, Text: err.Error()})
		}
	}
	return checked, problems
}
