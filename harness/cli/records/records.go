// Package records has the commands about the catalogue of failures, and about the language of
// their features.
package records

import "nodestorm/harness/cli/console"

// Commands are those of the package.
var Commands console.Commands
