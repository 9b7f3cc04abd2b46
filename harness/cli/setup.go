package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/spf13/cobra"

	"nodestorm/harness/karpenter"
	"nodestorm/harness/kind"
	"nodestorm/harness/process"
	"nodestorm/harness/replay"
	"nodestorm/harness/target"
	"nodestorm/harness/world"
	"nodestorm/scenarios"
	"nodestorm/sim/clock"
)

// onInstances is what features/instances/ is played on.
var onInstances = target.Ref{Name: karpenter.Name, Version: "v1.7.0", Provider: target.Instances}

// needed are Kubernetes, Cluster API, our own parts of clusters, and all targets of
// the catalogue, each once.
func needed() ([]target.Ref, error) {
	c, err := scenarios.Load()
	if err != nil {
		return nil, err
	}
	refs, seen := slices.Concat([]target.Ref{target.Kubernetes}, target.ClusterAPI, target.Parts, []target.Ref{onInstances}), map[target.Ref]bool{}
	for _, r := range c.Records() {
		for _, t := range r.Targets {
			ref, err := target.ParseRef(t.Name)
			if err != nil {
				return nil, err
			}
			if r.Provider() == target.Instances {
				ref.Provider = target.Instances
			}
			if !seen[ref] {
				seen[ref] = true
				refs = append(refs, ref)
			}
		}
	}
	return refs, nil
}

func (e *env) setup() *cobra.Command {
	return &cobra.Command{
		Use:   "setup",
		Short: "Build Kubernetes and all targets of the catalogue that can be had",
		Args:  exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			refs, err := needed()
			if err != nil {
				return usage(err)
			}
			all := func(target.Target) error { return nil }
			_, err = e.ensure(c.Context(), all, func(ref target.Ref, err error) error {
				if ref == target.Kubernetes {
					return usage(err)
				}
				e.say("left out: %v", err)
				return nil
			}, refs...)
			return err
		},
	}
}

func (e *env) doctor() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Tell what is missing, and the command that gets it",
		Long: `Tell what there is and what is missing, and the command that gets it. Not all of it is
needed: a replay takes Kubernetes, its own target, and what its scenario names.

Exit status: 0 all is there, 1 something is missing, 2 usage.`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			refs, err := needed()
			if err != nil {
				return usage(err)
			}
			missing := 0
			check := func(what string, err error) {
				if err == nil {
					fmt.Fprintf(e.stdout, "ok       %s\n", what)
					return
				}
				missing++
				fmt.Fprintf(e.stdout, "missing  %s: %v\n", what, err)
			}
			check("Go toolchain, for building targets", goFound())
			check("virtual time", clock.Auto.Try())
			_, err = target.Root()
			check("checkout of nodestorm, for building its own parts of worlds", err)
			for _, ref := range refs {
				_, err := replay.Find(e.store, ref)
				check(ref.String(), err)
			}
			if assets := os.Getenv(envAssets); assets != "" {
				check(fmt.Sprintf("%s, whose control plane worlds use, in real time", envAssets), checkAssets(assets))
			}
			// No record of the catalogue needs them.
			optional := func(what string, err error) {
				if err != nil {
					fmt.Fprintf(e.stdout, "optional %s: %v\n", what, err)
					return
				}
				check(what, nil)
			}
			err = kind.CheckDocker(c.Context())
			optional("Docker, for nodestorm cluster", err)
			if err == nil {
				optional("node image, for nodestorm cluster", kind.CheckImage(c.Context(), target.Kubernetes.Version))
				optional("inotify instances, for nodestorm cluster", kind.CheckInotify())
			}
			if missing > 0 {
				return &exit{code: NotAsExpected}
			}
			return nil
		},
	}
}

func goFound() error {
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("no go in PATH; install Go 1.26 from your distribution or go.dev")
	}
	return nil
}

func (e *env) clean() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "clean",
		Short: "End and remove what killed commands left behind; with --all remove the store too",
		Long: `End the programs and remove the temporary folders of worlds, proxies, reports and
bundles whose command was killed, in whatever TMPDIR, and clusters that were not ready
yet when it was; and say so. What is in use stays.
With --all the builds in the store are removed as well.`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			swept, used, err := process.Sweep(os.TempDir(), world.FolderPrefix, proxyPrefix, bundlePrefix, imagePrefix, ownImagePrefix)
			for _, s := range swept {
				fmt.Fprintln(e.stdout, s)
			}
			for _, dir := range used {
				fmt.Fprintf(e.stdout, "left %s alone: it is in use\n", dir)
			}
			clusters, failed := kind.Sweep(c.Context())
			for _, name := range clusters {
				fmt.Fprintf(e.stdout, "removed cluster %s\n", name)
			}
			err = errors.Join(err, failed)
			if len(swept)+len(used)+len(clusters) == 0 && err == nil {
				fmt.Fprintln(e.stdout, "nothing was left behind")
			}
			if err != nil || !all {
				return err
			}
			fmt.Fprintln(e.stdout, "removing", e.store.Dir())
			return os.RemoveAll(e.store.Dir())
		},
	}
	c.Flags().BoolVar(&all, "all", false, "remove all builds from the store as well")
	return c
}
