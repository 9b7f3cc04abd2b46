// Package replays has the commands that play: records and features on builds, schedules that are
// drawn, and worlds that stay.
package replays

import (
	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
)

// Commands are those of the package.
func Commands(e *console.Console) []*cobra.Command {
	return []*cobra.Command{newRun(e), newVerify(e), newBisect(e), newHistory(e), newExplore(e), newUp(e), newFault(e)}
}
