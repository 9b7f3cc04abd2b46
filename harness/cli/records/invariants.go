package records

import (
	"strings"

	"nodestorm/harness/cli/console"
	"nodestorm/scenarios"
	"nodestorm/sim/history/invariants"
)

// listInvariants names those that judge every run.
func listInvariants(e *console.Console, asJSON bool) error {
	type listed struct {
		invariants.Invariant
		Of []string `json:"of"`
	}
	all := []listed{}
	rows := [][]string{{"INVARIANT", "OF", "WHEN", "WHAT MUST HOLD"}}
	for _, i := range invariants.All() {
		of := scenarios.SubjectsOf(i)
		all = append(all, listed{i, of})
		rows = append(rows, []string{i.Name, strings.Join(of, ", "), i.When, i.Statement})
	}
	if asJSON {
		return e.JSON(all)
	}
	return e.Table(console.Columns(e.Stdout), 1, rows)
}
