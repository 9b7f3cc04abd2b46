// Package supplies has the commands about what replays need: builds, images, real clusters, and what
// of the machine there is.
package supplies

import (
	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
)

// Commands are those of the package.
func Commands(e *console.Console) []*cobra.Command {
	return []*cobra.Command{newTarget(e), newPull(e), newSetup(e), newClean(e), newDoctor(e), newImage(e), newCluster(e)}
}
