// Command nodestorm replays documented failures of Kubernetes node autoscalers
// against real builds, in virtual time.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"nodestorm/harness/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
