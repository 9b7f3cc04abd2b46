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
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/world"
	"nodestorm/reports"
)

// Exit statuses, see package exit.
const (
	AsExpected    = exit.AsExpected
	NotAsExpected = exit.NotAsExpected
	Usage         = exit.Usage
	Inconclusive  = exit.Inconclusive
	BySignal      = exit.BySignal
)

// usage marks an error as the caller's: status 2.
func usage(err error) error { return exit.UsageError(err) }

// env is what all commands share.
type env struct {
	stdout, stderr io.Writer
	args           []string
	worker         *queue.Worker // if we play for another process
	store          *buildstore.Store
	own            own
	form           string // of -o; empty: for people
	quiet, verbose bool

	supplier *supply.Supplier // see supply
}

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
	e := &env{stdout: stdout, stderr: stderr, args: args, worker: queue.NewWorker(os.Getenv(queue.EnvWorker), stdout)}
	root := e.root()
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
			e.say("interrupted; %s", left)
			return Inconclusive
		}
		e.say("%v; %s", by, left)
		return BySignal + int(by.Signal)
	case hasStatus:
		if status.Err != nil {
			e.say("%v", status.Err)
		}
		return status.Code
	}
	e.say("%v", err)
	return Inconclusive
}

// root is the command with all others below it.
func (e *env) root() *cobra.Command {
	root := group(&cobra.Command{
		Use:           "nodestorm",
		Short:         "Replay documented failures of Kubernetes node autoscalers against real builds, in virtual time",
		Version:       ownVersion().String(),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(*cobra.Command, []string) (err error) {
			if err := e.checkWords(); err != nil {
				return err
			}
			e.store, err = buildstore.Open("")
			return usage(err)
		},
	})
	root.SetFlagErrorFunc(wrongFlag)
	root.AddCommand(e.list(), e.newFailure(), e.draft(), e.lint(), e.sentences(), e.run(), e.verify(), e.merge(), e.bisect(), e.history(), e.explore(), e.up(), e.fault(), e.recheck(), e.report(), e.bundle(), e.matrix(), e.nightly(), e.proxy(), e.cloud(), e.cluster(), e.image(), e.target(), e.pull(), e.setup(), e.doctor(), e.clean(), e.version())
	root.AddCommand(helpTopics()...)
	e.wordsFlags(root)
	return root
}

// group is a command that has only others below it.
func group(c *cobra.Command) *cobra.Command {
	c.SuggestionsMinimumDistance = 2
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return unknown(c, args[0])
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	return c
}

// unknown says that the command has no such command below it.
func unknown(c *cobra.Command, name string) error {
	text := fmt.Sprintf("unknown command %q", c.CommandPath()+" "+name)
	if near := c.SuggestionsFor(name); len(near) > 0 {
		text += fmt.Sprintf(`, did you mean "%s"`, strings.Join(near, `" or "`))
	}
	return usage(fmt.Errorf("%s; %s --help lists all", text, c.CommandPath()))
}

// finishDefaults makes cobra's own commands refuse what they do not know, as ours do.
func finishDefaults(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(c *cobra.Command, args []string) error {
				about, rest, err := c.Root().Find(args)
				if err == nil && len(rest) > 0 {
					err = unknown(about, rest[0])
				}
				return usage(err)
			}
		case "completion":
			group(c)
			for _, shell := range c.Commands() {
				shell.Args = exactly(0)
			}
		}
	}
}

// wrongFlag says what is wrong with a flag, without what Go's parsers say of
// themselves.
func wrongFlag(c *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	var number *strconv.NumError
	switch {
	case errors.As(err, &value) && value.GetFlag().Value.Type() == "bool":
		err = fmt.Errorf("--%s %q: want true or false, or the flag alone", value.GetFlag().Name, value.GetValue())
	case errors.As(err, &value) && errors.As(err, &number):
		least := ""
		if strings.HasPrefix(value.GetFlag().Value.Type(), "uint") {
			least = " from 0"
		}
		err = fmt.Errorf("--%s %q: want a whole number%s that fits 64 bits", value.GetFlag().Name, value.GetValue(), least)
	case errors.As(err, &value):
		err = fmt.Errorf("--%s: %w", value.GetFlag().Name, value.Unwrap())
	}
	return usage(fmt.Errorf("%w; %s --help shows the flags", err, c.CommandPath()))
}

// exactly makes a wrong number of arguments a usage error that shows the usage.
func exactly(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return usage(fmt.Errorf("%d argument(s) given, want %d: %s", len(args), n, c.UseLine()))
		}
		return nil
	}
}

// readFile reads what a user wrote by hand.
func readFile(path string) ([]byte, error) {
	const most = 1 << 20
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("%s has more than 1 MiB", path)
	}
	return text, err
}

// say writes a message to standard error. What came from a stored run or a build is
// shown by a terminal, not obeyed.
func (e *env) say(format string, args ...any) {
	lines := strings.Split(fmt.Sprintf("nodestorm: "+format, args...), "\n")
	for _, line := range lines {
		fmt.Fprintln(e.stderr, reports.Clean(strings.ReplaceAll(line, "\t", "    ")))
	}
}

// counted is "1 run", or "2 runs".
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
