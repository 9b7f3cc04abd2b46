// Package supplies has the commands about what replays need: builds, images, real clusters, and what
// of the machine there is.
package supplies

import "nodestorm/harness/cli/console"

// Commands are those of the package.
var Commands console.Commands
