// Command nodestorm replays documented failures of Kubernetes node autoscalers
// against real builds, in virtual time.
package main

import (
	"os"

	"nodestorm/harness/cli"
)

func main() { os.Exit(cli.Main()) }
