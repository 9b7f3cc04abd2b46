// Package cli is the nodestorm command: flags in, text or JSON out, and an exit
// status that scripts can rely on. What it does is done by other packages.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/target"
)

// Exit statuses.
const (
	AsExpected    = 0
	NotAsExpected = 1
	Usage         = 2 // nothing was started
	Inconclusive  = 3 // nothing may be concluded
)

// exit is an error with a status of its own. A nil err says nothing more.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// usage marks an error as the caller's: status 2.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &exit{Usage, err}
}

// env is what all commands share.
type env struct {
	stdout, stderr io.Writer
	store          *target.Store
}

// Run runs the command with args (without the program's name) and returns its
// exit status. The end of ctx interrupts it; what it started is gone then.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	e := &env{stdout: stdout, stderr: stderr}
	root := &cobra.Command{
		Use:           "nodestorm",
		Short:         "Replay documented failures of Kubernetes node autoscalers against real builds, in virtual time",
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(*cobra.Command, []string) (err error) {
			e.store, err = target.Open("")
			return err
		},
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs(args)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	root.AddCommand(e.list(), e.run(), e.verify(), e.up(), e.recheck(), e.target(), e.setup(), e.doctor(), e.clean())

	err := root.ExecuteContext(ctx)
	var status *exit
	switch {
	case err == nil:
		return AsExpected
	case errors.As(err, &status):
		if status.err != nil {
			fmt.Fprintln(stderr, "nodestorm:", status.err)
		}
		return status.code
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "nodestorm: interrupted; everything it started has ended")
		return Inconclusive
	}
	fmt.Fprintln(stderr, "nodestorm:", err)
	// cobra's own complaints about words it doesn't know have no type.
	if strings.HasPrefix(err.Error(), "unknown command") {
		return Usage
	}
	return Inconclusive
}

// exactly makes a wrong number of arguments a usage error that shows the usage.
func exactly(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return usage(fmt.Errorf("%s takes %d argument(s), not %d; usage: %s", c.CommandPath(), n, len(args), c.UseLine()))
		}
		return nil
	}
}

func (e *env) json(v any) error {
	enc := json.NewEncoder(e.stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
