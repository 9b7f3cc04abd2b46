// Package results has the commands about stored runs: what they have shown, for people and for
// programs, and what many of them have shown together.
package results

import (
	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
)

// Commands are those of the package.
func Commands(e *console.Console) []*cobra.Command {
	return []*cobra.Command{newRecheck(e), newReport(e), newBundle(e), newMatrix(e), newMerge(e), newNightly(e)}
}
