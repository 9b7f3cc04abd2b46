// Command nodestorm replays documented failures of Kubernetes node autoscalers
// against real builds, in virtual time.
package main

import (
	"os"

	"nodestorm/harness/cli"
	"nodestorm/harness/cmd/nodestorm/envtestfolder"
)

func main() {
	envtestfolder.Remove()
	os.Exit(cli.Main())
}
