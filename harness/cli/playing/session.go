// Package playing has what all commands share that play something on a build: the flags that say how, what is wrong with
// them, and the queue that plays.
package playing

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nodestorm/harness/builds"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/world/memory"
)

// Session is one command that plays.
type Session struct {
	*console.Console
	queue.Queue
	KubernetesName string // --kubernetes, a release or a folder; empty: nodestorm's own
	parallel       atOnce
}

// AddFlags adds the flags of all commands that play.
func (s *Session) AddFlags(c *cobra.Command) {
	c.Flags().Var(&s.World.Clock, "clock", "`CLOCK` that sets the pace of virtual time: auto, real, or a factor such as 60x")
	_ = c.RegisterFlagCompletionFunc("clock", cobra.FixedCompletions([]string{"auto", "real", "60x"}, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().StringVar(&s.KubernetesName, "kubernetes", "",
		"control plane `VERSION|FOLDER`: a release, built if missing, or programs as they are, such as envtest's; default: "+
			builds.Kubernetes.Version)
	c.Flags().Uint64Var(&s.World.Seed, "seed", 1, "seed `N` of all randomness of the simulated nodes")
	c.Flags().StringVar(&s.Out, "out", filepath.Join("reports", "out"), "`FOLDER` for the runs")
}

// AddRetry adds the flag of the commands that play a run again which was late.
func (s *Session) AddRetry(c *cobra.Command) {
	c.Flags().BoolVar(&s.NoRetry, "no-retry", false, "keep a run that a busy machine made late, in place of playing it again")
}

// CheckAtOnce reports whether so many worlds can play at a time here.
func CheckAtOnce(n int) error {
	if n > queue.Most {
		return exit.UsageError(fmt.Errorf("--parallel %d: want at most %d, as each world needs ports of its own; --shard i/N "+
			"splits among machines", n, queue.Most))
	}
	free, err := memory.Free()
	if n > 1 && err == nil && int64(n) > free/memory.World {
		return exit.UsageError(fmt.Errorf("--parallel %d: a world takes about %d GiB of memory, and what is free (%.1f GiB) is enough for %d",
			n, memory.World>>30, float64(free)/(1<<30), max(1, free/memory.World)))
	}
	return nil
}

// AddDryRun adds the flag of the commands that say what they would do.
func AddDryRun(c *cobra.Command, dry *bool) {
	c.Flags().BoolVarP(dry, "dry-run", "n", false, "print what would be got and played, and how long it takes")
}

// Check finds what is wrong with the flags and the machine before anything slow begins.
func (s *Session) Check(c *cobra.Command) error {
	c.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains([]string{"parallel", "quiet", "verbose", "variant"}, f.Name) {
			return // a run is the same, whatever plays beside it; it notes what does, and its feature what a variant has
		}
		value := f.Value.String()
		if slices.Contains([]string{"out", "manifest", "order", "kubernetes", "given"}, f.Name) {
			value = filepath.Base(value) // where a user keeps files is private
		}
		if f.Name == "catalogue" {
			value = s.baseNames()
		}
		s.Flags = append(s.Flags, "--"+f.Name+"="+value)
	})
	s.Supply, s.Output, s.Args, s.Worker, s.Checkout = s.Supplier(), s.Console, s.Console.Arguments, s.Serving != nil, s.Own.Checkout
	if err := s.CheckKubernetes(c.Context()); err != nil {
		return exit.UsageError(err)
	}
	var err error
	s.Out, err = console.CheckOut(s.Out)
	return exit.UsageError(err)
}

// baseNames are those of the user's catalogues.
func (s *Session) baseNames() string {
	var names []string
	for _, folder := range s.Own.Folders {
		names = append(names, filepath.Base(folder))
	}
	return strings.Join(names, string(os.PathListSeparator))
}

// SayBetween prints a message while replays go on.
func (s *Session) SayBetween(format string, args ...any) {
	s.Line().Clear()
	s.Say(format, args...)
}
