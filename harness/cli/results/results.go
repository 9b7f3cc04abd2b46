// Package results has the commands about stored runs: what they have shown, for people and for
// programs, and what many of them have shown together.
package results

import "nodestorm/harness/cli/console"

// Commands are those of the package.
var Commands console.Commands
