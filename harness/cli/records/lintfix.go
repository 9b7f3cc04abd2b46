package records

import (
	"errors"
	"fmt"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/sentences/rewrite"
	"nodestorm/reports/wording"
)

// fix brings the steps of features to what they are called now, and the faults of schedules and records. With dryRun it
// prints what it would change.
func fix(e *console.Console, names []string, dryRun bool) error {
	files, err := rewrite.Files(names)
	if err != nil {
		return exit.UsageError(err)
	}
	for _, f := range files {
		if dryRun {
			fmt.Fprint(e.Stdout, f.Diff())
			continue
		}
		if !e.Quiet {
			fmt.Fprintf(e.Stderr, "%s: %s rewritten\n", wording.Clean(f.Name), wording.Counted(len(f.Changes), "step"))
		}
		if err := f.Write(); err != nil {
			return err
		}
	}
	return nil
}

var errDryRun = errors.New("--dry-run is for --fix")
