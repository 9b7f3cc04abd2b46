// Command nodestorm replays documented failures of Kubernetes node autoscalers
// against real builds, in virtual time.
package main

import (
	"fmt"
	"os"

	"nodestorm/harness/cli"
	"nodestorm/harness/process"
)

func main() {
	if err := process.Launch(os.Args); err != nil {
		fmt.Fprintln(os.Stderr, "nodestorm:", err)
		os.Exit(cli.Inconclusive)
	}
	os.Exit(cli.Main())
}
