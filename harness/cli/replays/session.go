package replays

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/cli/playing"
	"nodestorm/harness/cloud"
	"nodestorm/harness/replay"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/sentences/scene"
	"nodestorm/scenarios"
)

// session is what the commands share that replay records and schedules: how, and of what.
type session struct {
	playing.Session
	withNames []string // --with
	live      bool     // serve a page of each run
	strict    bool     // what is skipped is not as expected
	shard     console.Shard
}

func newSession(e *console.Console) *session { return &session{Session: playing.Session{Console: e}} }

// addRace adds the flag of the commands that are given a target.
func (s *session) addRace(c *cobra.Command) {
	c.Flags().BoolVar(&s.Race, "race", false, "play the build with Go's race detector (target build --race)")
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

// check finds what is wrong with the flags and the machine before anything slow begins.
func (s *session) check(c *cobra.Command) error {
	if s.Cloud != "" && !slices.Contains(karpenterClouds(), s.Cloud) {
		return exit.UsageError(fmt.Errorf("--cloud %q: want %s", s.Cloud, strings.Join(karpenterClouds(), " or ")))
	}
	if s.live {
		s.Serve = s.serve
	}
	return s.Check(c)
}

// checkParallel finds what is wrong with --parallel before anything starts. sides are the ways in which each is replayed.
func (s *session) checkParallel(sides int) error {
	alone := ""
	switch {
	case sides > 1:
		alone = "a comparison plays one side after the other, and neighbours would be compared as well"
	case s.Cluster == replay.Kind:
		alone = "clusters of kind share one Docker, and real time waits for none of them"
	case s.live:
		alone = "--watch is for one run"
	}
	return s.CheckParallel(alone)
}

// checkInputs reads what the flags name, before anything is got, built or waited for.
func (s *session) checkInputs(ctx context.Context, records []scenarios.Record) error {
	if err := s.TakeParts(ctx, s.withNames); err != nil {
		return err
	}
	return exit.UsageError(s.ReadManifest(records))
}
