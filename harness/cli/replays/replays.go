// Package replays has the commands that play: records and features on builds, schedules that are
// drawn, and worlds that stay.
package replays

import "nodestorm/harness/cli/console"

// Commands are those of the package.
var Commands console.Commands
