// Package cli is the nodestorm command: flags in, text or JSON out, and an exit
// status that scripts can rely on. What it does is done by other packages.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/alone"
	"nodestorm/harness/cli/comparing"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/cli/records"
	"nodestorm/harness/cli/replays"
	"nodestorm/harness/cli/results"
	"nodestorm/harness/cli/supplies"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/world"
	"nodestorm/reports/wording"
)

// Exit statuses, see package exit.
const (
	AsExpected    = exit.AsExpected
	NotAsExpected = exit.NotAsExpected
	Usage         = exit.Usage
	Inconclusive  = exit.Inconclusive
	BySignal      = exit.BySignal
)

// Main is Run for a process of its own, which Ctrl-C, SIGTERM and SIGHUP interrupt.
func Main() int {
	ctx, stop := interruptible()
	defer stop()
	return Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// interruption is the cause of a context that a signal has ended.
type interruption struct{ syscall.Signal }

func (i interruption) Error() string { return "interrupted by " + unix.SignalName(i.Signal) }

func (i interruption) Is(err error) bool { return err == context.Canceled }

// again is from when on a second signal is another one: timeout(1) and terminals send
// one and the same to us and to our group.
const again = time.Second

// interruptible is a context that the first signal ends. A second ends us at once;
// what we started ends all the same.
func interruptible() (context.Context, func()) {
	signals := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	came := make(chan os.Signal, 1)
	signal.Notify(came, signals...)
	go func() {
		select {
		case s := <-came:
			cancel(interruption{s.(syscall.Signal)})
			time.AfterFunc(again, func() { signal.Stop(came) })
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(came)
		cancel(nil)
	}
}

// Run runs the command with args (without the program's name) and returns its
// exit status. The end of ctx interrupts it; what it started is gone then.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	e := &console.Console{Stdout: stdout, Stderr: stderr, Serving: queue.NewWorker(os.Getenv(queue.EnvWorker), stdout)}
	args = e.Current(args)
	e.Arguments = args
	root := newRoot(e)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs(args)
	finishDefaults(root)

	err := exit.WithRoom(root.ExecuteContext(ctx))
	var status *exit.Error
	var stuck *world.StopError
	hasStatus := errors.As(err, &status)
	switch {
	case err == nil:
		return AsExpected
	case ctx.Err() != nil && (!hasStatus || !status.Awaited):
		left := "everything it started has ended"
		if errors.As(err, &stuck) {
			left = stuck.Error()
		}
		by := interruption{}
		if !errors.As(context.Cause(ctx), &by) {
			e.Say("interrupted; %s", left)
			return Inconclusive
		}
		e.Say("%v; %s", by, left)
		return BySignal + int(by.Signal)
	case hasStatus:
		if status.Err != nil {
			e.Say("%v", status.Err)
		}
		return status.Code
	}
	e.Say("%v", err)
	return Inconclusive
}

// newRoot is the command with all others below it.
func newRoot(e *console.Console) *cobra.Command {
	root := console.Group(&cobra.Command{
		Use:           "nodestorm",
		Short:         "Replay documented failures of Kubernetes node autoscalers in virtual time",
		Version:       ownVersion().String(),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(*cobra.Command, []string) (err error) {
			if err := e.CheckWords(); err != nil {
				return err
			}
			e.SayRenamed()
			e.Store, err = buildstore.Open("")
			return exit.UsageError(err)
		},
	})
	root.SetFlagErrorFunc(console.WrongFlag)
	root.AddCommand(newVersion(e))
	for _, h := range console.Headings {
		root.AddGroup(&cobra.Group{ID: string(h), Title: string(h) + ":"})
	}
	for _, commands := range []*console.Commands{
		&records.Commands, &replays.Commands, &comparing.Commands, &results.Commands, &supplies.Commands, &alone.Commands,
	} {
		commands.AddTo(root, e)
	}
	root.AddCommand(helpTopics()...)
	e.WordsFlags(root)
	root.SetUsageTemplate(strings.NewReplacer(
		".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", helpWidth), "for more information about a command", "for details",
		`(or .IsAvailableCommand (eq .Name "help"))`, ".IsAvailableCommand", // the last line of help names --help
	).Replace(root.UsageTemplate()))
	root.SetHelpFunc(wrapped(root.HelpFunc()))
	return root
}

// helpWidth is that of help, in columns.
const helpWidth = 80

// wrapped shows help with its paragraphs no wider than helpWidth.
func wrapped(help func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(c *cobra.Command, args []string) {
		was := c.Long
		defer func() { c.Long = was }()
		if c.Runnable() { // topics are files, and stay as they are
			c.Long = wording.Wrap(c.Long, helpWidth)
		}
		help(c, args)
	}
}

// finishDefaults makes cobra's own commands refuse what they do not know, as ours do.
func finishDefaults(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	root.InitDefaultVersionFlag()
	console.Hide(root, "version") // there is a command of this name
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(c *cobra.Command, args []string) error {
				about, rest, err := c.Root().Find(args)
				if err == nil && len(rest) > 0 {
					err = console.Unknown(about, rest[0])
				}
				return exit.UsageError(err)
			}
		case "completion":
			console.Group(c)
			for _, shell := range c.Commands() {
				shell.Args = console.Exactly(0)
			}
		}
	}
}
