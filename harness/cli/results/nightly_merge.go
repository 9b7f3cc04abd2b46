package results

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/night/archive"
	"nodestorm/harness/night/k8sjob"
	"nodestorm/harness/night/shard"
	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/table"
)

// mergeOptions are what merge does with shards.
type mergeOptions struct {
	out, after     string
	kept           archive.Upload
	asJSON, strict bool
}

func newNightlyMerge(e *console.Console) *cobra.Command {
	var o mergeOptions
	c := &cobra.Command{
		Use:   "merge RUNS…",
		Short: "Merge the shards of a verify",
		Long: `Join what "nodestorm verify --shard" left on several machines: the table, index.html,
matrix.json and junit.xml, as if one machine had replayed all. RUNS are the shards' --out,
or folders above some. The runs stay where they are, and the index links to them. Of
s3://BUCKET/PREFIX, where verify --upload kept shards, they are unpacked into --out.

Shards that were split otherwise, had other flags or another nodestorm, or played other
builds under the same names are not joined. One that is missing, or did not come to its
end, is named with all that is missing, and what there is is shown.

With --job, in a pod of Kubernetes, all that waits until a Job of the pod's namespace has
ended, which the pod's service account must be allowed to watch.

Exit status: that of the whole; 1 not as expected outweighs what is missing, which
makes it 3. 2 usage, or they are not parts of one whole.`,
		Example: `  nodestorm nightly merge shards/* --out reports/out/merged
  nodestorm nightly merge s3://nights/2026-11-23 --out reports/out/merged`,
		RunE: func(c *cobra.Command, places []string) error {
			if len(places) == 0 {
				return exit.UsageError(fmt.Errorf("no RUNS are named: %s", c.UseLine()))
			}
			return mergeShards(c.Context(), e, places, o)
		},
	}
	c.Flags().StringVar(&o.out, "out", filepath.Join("reports", "out", "merged"), "`FOLDER` for the index, the matrix and the JUnit XML")
	console.UploadFlag(c, &o.kept)
	c.Flags().StringVar(&o.after, "job", "", "wait for the end of the Kubernetes Job `NAME` before")
	e.OutputFlags(c, &o.asJSON, console.AsWide, console.AsNames)
	c.Flags().BoolVar(&o.strict, "strict", false, "let the exit status be 1 if something was skipped")
	e.CatalogueFlags(c)
	return c
}

// mergeShards joins what shards have left, after the end of a Job if one is named.
func mergeShards(ctx context.Context, e *console.Console, places []string, o mergeOptions) (err error) {
	catalogue, err := e.LoadCatalogue()
	if err != nil {
		return err
	}
	if o.after != "" {
		ended, err := k8sjob.Await(ctx, o.after)
		if err != nil {
			return err
		}
		e.Say("%s", ended)
	}
	if err := o.kept.Check(ctx); err != nil {
		return err
	}
	dirs, err := archive.Fetch(ctx, places, filepath.Join(o.out, "shards"))
	if err != nil {
		return exit.UsageError(err)
	}
	shards, err := shard.FindShards(dirs)
	if err == nil {
		err = shard.Check(shards)
	}
	if err == nil {
		err = shard.Judge(ctx, shards)
	}
	if err == nil {
		o.out, err = console.CheckOut(o.out)
	}
	if err != nil {
		return exit.UsageError(err)
	}
	defer func() { err = o.kept.Save(ctx, o.out, "merged", err) }()
	rows, missing, remarks := shard.Join(shards)
	for _, text := range remarks {
		e.Say("%s", text)
	}
	for _, m := range missing {
		rows = append(rows, table.Row{ID: m.Scenario, Target: m.Target, Verdict: table.Missing, Outcome: table.Missing, Reason: m.Reason})
	}
	concluded := e.Finish(ctx, catalogue, rows, o.out, o.asJSON, o.strict)
	if err := e.Reporter(catalogue).JUnit(ctx, rows, o.out); err != nil {
		e.Say("no %s: %v", run.JUnitFile, err)
	}
	if concluded == nil && len(remarks) > 0 {
		return &exit.Error{Code: exit.Inconclusive}
	}
	return concluded
}
