// Package alone has the commands that serve one thing without a world, for any client: a cloud, or a
// fault proxy before any API server.
package alone

import "nodestorm/harness/cli/console"

// Commands are those of the package.
var Commands console.Commands
