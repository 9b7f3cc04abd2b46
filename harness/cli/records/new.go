package records

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/run/exit"
	"nodestorm/scenarios"
	"nodestorm/sim/oneline"
)

// What nodestorm new writes: a feature and a record for each system, of which SCENARIO-ID
// becomes the ID.
//
//go:embed new
var examples embed.FS

// exampleSystems are those that new has an example of, the one first that is written if none is named.
var exampleSystems = []string{"karpenter", "hetzner", "clusterapi"}

// exampleTargets are builds on which each example shows its failure.
var exampleTargets = map[string]string{
	"karpenter": "karpenter@v1.6.4", "hetzner": "cluster-autoscaler@1.33.0", "clusterapi": "cluster-autoscaler@1.36.1",
}

var _ = Commands.Add(console.Write, newFailure)

func newFailure(e *console.Console) *cobra.Command {
	var dir, system string
	c := &cobra.Command{
		Use:   "new ID",
		Short: "Create a feature and a record to start from",
		Long: `Write ID.feature and ID.yaml, with comments, for a failure of your own. --system says what
fails, and each runs as it is on a build that shows it:

  karpenter   Karpenter                            karpenter@v1.6.4
  hetzner     Cluster Autoscaler on Hetzner Cloud  cluster-autoscaler@1.33.0
  clusterapi  Cluster Autoscaler on Cluster API    cluster-autoscaler@1.36.1

It prints the commands that come next.

A file that is there already is left alone.`,
		Example: `  nodestorm new karpenter-late-node --dir failures
  nodestorm new server-goes-off --system hetzner --dir failures`,
		Args: console.Exactly(1),
		RunE: func(_ *cobra.Command, args []string) error {
			id := args[0]
			if err := scenarios.CheckID(id); err != nil {
				return exit.UsageError(err)
			}
			if !slices.Contains(exampleSystems, system) {
				return exit.UsageError(fmt.Errorf("--system %q: want one of %s", system, strings.Join(exampleSystems, ", ")))
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return exit.UsageError(fmt.Errorf("--dir: %w; name a folder that can be written", err))
			}
			kinds := []string{".feature", ".yaml"}
			for _, kind := range kinds {
				path := filepath.Join(dir, id+kind)
				if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
					return exit.UsageError(fmt.Errorf("%s is there already; take another ID, or another --dir", path))
				}
			}
			for _, kind := range kinds {
				text, err := examples.ReadFile("new/" + system + kind)
				if err != nil {
					return err
				}
				path := filepath.Join(dir, id+kind)
				if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "SCENARIO-ID", id)), 0o644); err != nil {
					return err
				}
				fmt.Fprintln(e.Stdout, path)
			}
			e.Remark("next:\n  %s\n  %s\n  %s", oneline.Command("nodestorm", "lint", dir),
				oneline.Command("nodestorm", "run", id, "--catalogue", dir, "--target", exampleTargets[system]),
				oneline.Command("nodestorm", "report", filepath.Join("reports", "out", id)))
			return nil
		},
	}
	c.Flags().StringVar(&dir, "dir", ".", "`FOLDER` to write into")
	c.Flags().StringVar(&system, "system", exampleSystems[0], "`SYSTEM` that fails: "+strings.Join(exampleSystems, ", "))
	_ = c.MarkFlagDirname("dir")
	_ = c.RegisterFlagCompletionFunc("system", cobra.FixedCompletions(exampleSystems, cobra.ShellCompDirectiveNoFileComp))
	return c
}
