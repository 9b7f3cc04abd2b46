package records

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/cli/explain"
	"nodestorm/harness/run/exit"
	"nodestorm/scenarios"
	"nodestorm/sim/oneline"
)

// schemaFile is beside what new writes, for editors.
const schemaFile = "record.schema.json"

// newOptions are what a pair is made of, and where it is written.
type newOptions struct{ dir, system string }

var _ = Commands.Add(console.Write, newFailure)

func newFailure(e *console.Console) *cobra.Command {
	var o newOptions
	c := &cobra.Command{
		Use:   "new ID",
		Short: "Create a feature and a record to start from",
		Long: `Write ID.feature and ID.yaml, with comments, for a failure of your own. --system says what
fails, and each runs as it is on a build that shows it:

` + systemTable() + `

Beside them is record.schema.json, by which editors with yaml-language-server check and
complete the record. The commands that come next are printed.

A file that is there already is left alone.`,
		Example: `  nodestorm new karpenter-late-node --dir failures
  nodestorm new server-goes-off --system hetzner --dir failures`,
		Args: console.Exactly(1),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(e, args[0]) },
	}
	c.Flags().StringVar(&o.dir, "dir", ".", "`FOLDER` to write into")
	c.Flags().StringVar(&o.system, "system", systems[0].name, "`SYSTEM` that fails: "+strings.Join(systemNames(), ", "))
	_ = c.MarkFlagDirname("dir")
	_ = c.RegisterFlagCompletionFunc("system", cobra.FixedCompletions(systemNames(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// run writes the pair of a system.
func (o newOptions) run(e *console.Console, id string) error {
	if err := scenarios.CheckID(id); err != nil {
		return exit.UsageError(err)
	}
	at := slices.Index(systemNames(), o.system)
	if at < 0 {
		return exit.UsageError(fmt.Errorf("--system %q: want one of %s", o.system, strings.Join(systemNames(), ", ")))
	}
	feature, record, err := systems[at].files(id)
	if err != nil {
		return err
	}
	return o.write(e, id, feature, record, systems[at].target)
}

// write writes a pair, with the schema beside it, and prints what comes next.
func (o newOptions) write(e *console.Console, id, feature, record, target string) error {
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return exit.UsageError(fmt.Errorf("--dir: %w; name a folder that can be written", err))
	}
	files := []struct{ path, text string }{{filepath.Join(o.dir, id+".feature"), feature}, {filepath.Join(o.dir, id+".yaml"), record}}
	for _, f := range files {
		if !notThere(f.path) {
			return exit.UsageError(fmt.Errorf("%s is there already; take another ID, or another --dir", f.path))
		}
	}
	for _, f := range files {
		if err := os.WriteFile(f.path, []byte(f.text), 0o644); err != nil {
			return err
		}
		fmt.Fprintln(e.Stdout, f.path)
	}
	schema, err := explain.Text("record")
	if err != nil {
		return err
	}
	if path := filepath.Join(o.dir, schemaFile); notThere(path) {
		if err := os.WriteFile(path, schema, 0o644); err != nil {
			return err
		}
	}
	e.Remark("next:\n  %s\n  %s\n  %s", oneline.Command("nodestorm", "lint", o.dir),
		oneline.Command("nodestorm", "run", id, "--catalogue", o.dir, "--target", target),
		oneline.Command("nodestorm", "report", filepath.Join("reports", "out", id)))
	return nil
}

// notThere reports whether there is nothing of a name.
func notThere(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}
