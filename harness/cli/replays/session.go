package replays

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nodestorm/harness/builds"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/cloud"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/sentences/scene"
	"nodestorm/scenarios"
)

// session is what the commands share that replay: how, and of what.
type session struct {
	*console.Console
	queue.Queue
	kubernetesName string   // --kubernetes, a release or a folder; empty: nodestorm's own
	withNames      []string // --with
	live           bool     // serve a page of each run
	strict         bool     // what is skipped is not as expected
	shard          console.Shard
	parallel       parallelism
}

func (s *session) addFlags(c *cobra.Command) {
	c.Flags().Var(&s.World.Clock, "clock", "`CLOCK` that sets the pace of virtual time: auto, real, or a factor such as 60x")
	_ = c.RegisterFlagCompletionFunc("clock", cobra.FixedCompletions([]string{"auto", "real", "60x"}, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().StringVar(&s.kubernetesName, "kubernetes", "",
		"control plane `VERSION|FOLDER`: a release, built if missing, or programs as they are, such as envtest's; default: "+
			builds.Kubernetes.Version)
	c.Flags().Uint64Var(&s.World.Seed, "seed", 1, "seed `N` of all randomness of the simulated nodes")
	c.Flags().StringVar(&s.Out, "out", filepath.Join("reports", "out"), "`FOLDER` for the runs")
}

// addRace adds the flag of the commands that are given a target.
func (s *session) addRace(c *cobra.Command) {
	c.Flags().BoolVar(&s.Race, "race", false, "play the build with Go's race detector (target build --race)")
}

// addRetry adds the flag of the commands that play a run again which was late.
func (s *session) addRetry(c *cobra.Command) {
	c.Flags().BoolVar(&s.NoRetry, "no-retry", false, "keep a run that a busy machine made late, in place of playing it again")
}

// addManifest adds the flag of the commands that replay.
func (s *session) addManifest(c *cobra.Command) {
	c.Flags().StringVar(&s.Cloud, "cloud", "",
		"simulated `CLOUD` that Karpenter runs on: "+strings.Join(karpenterClouds(), ", ")+"; default: the record's")
	_ = c.RegisterFlagCompletionFunc("cloud", cobra.FixedCompletions(karpenterClouds(), cobra.ShellCompDirectiveNoFileComp))
	c.Flags().StringArrayVar(&s.withNames, "component", nil,
		"replace a component with `NAME@VERSION` of the store: "+strings.Join(scene.Parts, ", "))
	s.RenamedFlag(c, "with", "component")
	c.Flags().StringVar(&s.Manifest, "manifest", "",
		"run Cluster Autoscaler as the Deployment in `FILE`: flags, environment, files, RBAC")
}

// karpenterClouds are those that Karpenter can have, first the one that comes with it.
func karpenterClouds() []string {
	others := slices.DeleteFunc(cloud.NamesFor("karpenter"), func(name string) bool { return name == builds.Kwok })
	return append([]string{builds.Kwok}, others...)
}

// check finds what is wrong with the flags and the machine before anything slow
// begins.
func (s *session) check(c *cobra.Command) error {
	if s.Cloud != "" && !slices.Contains(karpenterClouds(), s.Cloud) {
		return exit.UsageError(fmt.Errorf("--cloud %q: want %s", s.Cloud, strings.Join(karpenterClouds(), " or ")))
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains([]string{"parallel", "quiet", "verbose"}, f.Name) {
			return // a run is the same, whatever plays beside it; it notes what does
		}
		value := f.Value.String()
		if slices.Contains([]string{"out", "manifest", "order", "kubernetes"}, f.Name) {
			value = filepath.Base(value) // where a user keeps files is private
		}
		if f.Name == "catalogue" {
			value = s.baseNames()
		}
		s.Flags = append(s.Flags, "--"+f.Name+"="+value)
	})
	s.Supply, s.Output, s.Args, s.Worker, s.Checkout = s.Supplier(), s.Console, s.Console.Arguments, s.Serving != nil, s.Own.Checkout
	if s.live {
		s.Serve = s.serve
	}
	if err := s.checkKubernetes(c.Context()); err != nil {
		return exit.UsageError(err)
	}
	var err error
	s.Out, err = console.CheckOut(s.Out)
	return exit.UsageError(err)
}

// baseNames are those of the user's catalogues.
func (s *session) baseNames() string {
	var names []string
	for _, folder := range s.Own.Folders {
		names = append(names, filepath.Base(folder))
	}
	return strings.Join(names, string(os.PathListSeparator))
}

// checkInputs reads what the flags name, before anything is got, built or waited for.
func (s *session) checkInputs(ctx context.Context, records []scenarios.Record) error {
	if err := s.TakeParts(ctx, s.withNames); err != nil {
		return err
	}
	return exit.UsageError(s.ReadManifest(records))
}

// open gets the control plane and the targets, and builds what is missing. What
// cannot be had is cannot's to refuse or to do without.
func (s *session) open(
	ctx context.Context, cannot func(builds.Ref, error) error, refs ...builds.Ref,
) (map[builds.Ref]builds.Target, error) {
	return s.Open(ctx, cannot, refs...)
}

// sayBetween prints a message while replays go on.
func (s *session) sayBetween(format string, args ...any) {
	s.Line().Clear()
	s.Say(format, args...)
}
