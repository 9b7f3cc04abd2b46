package records

import (
	"cmp"
	"context"
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
	"nodestorm/harness/draft/issue"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
	"nodestorm/sim/oneline"
)

// schemaFile is beside what new writes, for editors.
const schemaFile = "record.schema.json"

// newOptions are what a pair is made of, and where it is written.
type newOptions struct {
	dir, system, from string
	control           bool
}

var _ = Commands.Add(console.Write, newFailure)

func newFailure(e *console.Console) *cobra.Command {
	var o newOptions
	c := &cobra.Command{
		Use:   "new ID",
		Short: "Create a feature and a record to start from",
		Long: `Write ID.feature and ID.yaml, with comments, for a failure of your own. --system says what
fails, and each runs as it is on a build that shows it:

` + systemTable() + `

With --control they are a control case: a rule of Karpenter's that must hold, so that the run
is expected to be healthy on the one build that it names.

With --from FILE they are a draft out of the text of an issue, as people paste it: its
versions, flags, logs, YAML and tables of kubectl get. What the text does not say is marked.
FILE is Markdown; - is standard input. No link is followed.

Beside them is record.schema.json, by which editors with yaml-language-server check and
complete the record. The commands that come next are printed.

A file that is there already is left alone.`,
		Example: `  nodestorm new karpenter-late-node --dir failures
  nodestorm new server-goes-off --system hetzner --dir failures
  nodestorm new stays-undisturbed --control --dir failures
  nodestorm new pool-never-scales --from issue.md --dir failures`,
		Args: console.Exactly(1),
		RunE: func(c *cobra.Command, args []string) error { return o.run(e, c, args[0]) },
	}
	c.Flags().StringVar(&o.dir, "dir", ".", "`FOLDER` to write into")
	c.Flags().StringVar(&o.system, "system", systems[0].name, "`SYSTEM` that fails: "+strings.Join(systemNames(), ", "))
	c.Flags().StringVar(&o.from, "from", "", "`FILE` with the text of an issue, to make a draft of")
	c.Flags().BoolVar(&o.control, "control", false, "a rule that must hold on one build, in place of a failure")
	console.MutuallyExclusive(c, "control", "from")
	_ = c.MarkFlagDirname("dir")
	_ = c.MarkFlagFilename("from", "md", "txt")
	_ = c.RegisterFlagCompletionFunc("system", cobra.FixedCompletions(systemNames(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// run writes the pair of a system.
func (o newOptions) run(e *console.Console, c *cobra.Command, id string) error {
	if err := scenarios.CheckID(id); err != nil {
		return exit.UsageError(err)
	}
	at := slices.Index(systemNames(), o.system)
	if at < 0 {
		return exit.UsageError(fmt.Errorf("--system %q: want one of %s", o.system, strings.Join(systemNames(), ", ")))
	}
	if o.from != "" {
		about, _, _ := strings.Cut(systems[at].target, "@")
		if !c.Flags().Changed("system") {
			about = ""
		}
		return o.draft(e, c.Context(), id, about)
	}
	of := systems[at]
	if o.control {
		if of.name != control.of {
			return exit.UsageError(fmt.Errorf("--control is about %s: leave out --system %s, and change the steps", control.of, of.name))
		}
		of = control.skeleton
	}
	feature, record, err := of.files(id)
	if err != nil {
		return err
	}
	return o.write(e, id, feature, record, of.target)
}

// draft writes the pair that the text of an issue makes. about is the program that fails, if that is given.
func (o newOptions) draft(e *console.Console, ctx context.Context, id, about string) error {
	if about != "" && !slices.Contains(issue.Programs(), about) {
		return exit.UsageError(fmt.Errorf("--from makes drafts about %s; leave --from out for --system %s",
			strings.Join(issue.Programs(), ", "), o.system))
	}
	pair, err := issue.Draft(ctx, o.from, id, about)
	if err != nil {
		return exit.UsageError(err)
	}
	if err := runs(pair.Feature); err != nil {
		return fmt.Errorf("the draft is wrong, which is a fault of nodestorm: %w", err)
	}
	if err := o.write(e, id, pair.Feature, pair.Record, pair.Target); err != nil {
		return err
	}
	e.Remark("found: %s %s, %s, %s, %s, %s; %s in the feature on what is not known",
		pair.Autoscaler, cmp.Or(pair.Version, "of a release that is not named"),
		wording.Counted(pair.Pods, "pod"), wording.Counted(pair.Nodes, "node"), wording.Counted(pair.Groups, "group"),
		wording.Counted(pair.Flags, "flag"), wording.Counted(len(pair.Notes), "note"))
	return nil
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
