package records

import (
	"fmt"
	"strings"

	"nodestorm/harness/cli/console"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
	"nodestorm/sim/history/invariants"
)

// indent stands before what is said of an invariant.
const indent = "    "

// listInvariants names those that judge every run.
func listInvariants(e *console.Console, asJSON bool) error {
	type listed struct {
		invariants.Invariant
		Of []string `json:"of"`
	}
	all := []listed{}
	for _, i := range invariants.All() {
		of := scenarios.SubjectsOf(i)
		all = append(all, listed{i, of})
	}
	if asJSON {
		return e.JSON(all)
	}
	for n, i := range all {
		if n > 0 {
			fmt.Fprintln(e.Stdout)
		}
		fmt.Fprintln(e.Stdout, i.Name)
		for _, text := range []string{i.Statement + ".", "When: " + i.When + ".", "Of: " + strings.Join(i.Of, ", ") + "."} {
			wrapped := wording.Wrap(text, e.PageColumns()-len(indent))
			if _, err := fmt.Fprintln(e.Stdout, indent+strings.ReplaceAll(wrapped, "\n", "\n"+indent)); err != nil {
				return err
			}
		}
	}
	return nil
}
