// Package replays has the commands that play: records and features on builds, schedules that are
// drawn, and worlds that stay.
package replays

import (
	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
)

// env is what the commands of this package share.
type env struct{ *console.Console }

// Commands are those of the package.
func Commands(c *console.Console) []*cobra.Command {
	e := &env{c}
	return []*cobra.Command{e.run(), e.verify(), e.bisect(), e.history(), e.explore(), e.up(), e.fault()}
}
