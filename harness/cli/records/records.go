// Package records has the commands about the catalogue of failures, and about the language of
// their features.
package records

import (
	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
)

// Commands are those of the package.
func Commands(e *console.Console) []*cobra.Command {
	return []*cobra.Command{newList(e), newFailure(e), newDraft(e), newLint(e), newSentences(e)}
}
