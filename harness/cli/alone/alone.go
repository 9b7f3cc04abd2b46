// Package alone has the commands that serve one thing without a world, for any client: a cloud, or a
// fault proxy before any API server.
package alone

import (
	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
)

// Commands are those of the package.
func Commands(e *console.Console) []*cobra.Command {
	return []*cobra.Command{newCloud(e), newProxy(e)}
}
