package results

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/stored"
	"nodestorm/harness/run/verdict"
	"nodestorm/reports/matrix"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
)

// matrixOptions are what matrix is to show, and where.
type matrixOptions struct {
	format, to, since string
	keep              matrix.Filter
	track             bool
}

var _ = Commands.Add(console.Results, newMatrix)

func newMatrix(e *console.Console) *cobra.Command {
	var o matrixOptions
	c := &cobra.Command{
		Use:   "matrix RUN…",
		Short: "Show scenarios × targets of stored runs",
		Long: `Show the newest run of each scenario and target: verdict, expectation, wall time
and a link. --since lists what has changed since the matrix in a file.

Exit status: 0 written, 2 usage, 3 something could not be read or noted, or nothing is
what is asked for.`,
		Example: `  nodestorm matrix reports/out
  nodestorm matrix reports/out --out-file matrix.html
  nodestorm matrix reports/out -o md --since last.json
  nodestorm matrix reports/out --provider hetzner --status regression -o json`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && !o.track {
				return exit.UsageError(fmt.Errorf("RUN is missing: want %s", c.UseLine()))
			}
			return showMatrix(e, c.Context(), args, o)
		},
	}
	e.FormatFlags(c, &o.format, "", []string{"html", "md", "json", "yaml"})
	c.Flags().StringVar(&o.to, "out-file", "", "`FILE` to write, as HTML unless -o says otherwise; without it a table is printed")
	e.RenamedFlag(c, "out", "out-file")
	c.Flags().StringVar(&o.since, "since", "", "list what has changed since the last matrix, a JSON `FILE`")
	c.Flags().StringVar(&o.keep.System, "system", "", "only failures of this `SYSTEM`: "+strings.Join(scenarios.Systems, ", "))
	c.Flags().StringVar(&o.keep.Provider, "provider", "", "only autoscalers built with this cloud `PROVIDER`: hetzner, clusterapi…")
	c.Flags().StringVar(&o.keep.Target, "target", "", "only targets with `TEXT` in their names")
	c.Flags().StringVar(&o.keep.Status, "status", "",
		"only this `STATUS`: a verdict or outcome, such as reproduced or regression")
	e.CatalogueFlags(c)
	c.Flags().BoolVar(&o.track, "track-record", false,
		"note the runs in "+stored.VerifiedFile+", and write the tables of scenarios/README.md and README.md; runs of uncommitted changes or "+
			"with a manifest, an order or programs of your own are left out")
	console.Hide(c, "track-record") // it is for a checkout of nodestorm
	return c
}

func showMatrix(e *console.Console, ctx context.Context, args []string, o matrixOptions) error {
	if o.track && o.keep != (matrix.Filter{}) {
		return exit.UsageError(errors.New("--track-record notes all runs: leave out what filters them"))
	}
	catalogue, err := e.LoadCatalogue()
	if err != nil {
		return err
	}
	if err := checkFilter(o.keep, catalogue); err != nil {
		return exit.UsageError(err)
	}
	found, done, err := e.Runs(ctx, args)
	defer done()
	if err != nil {
		return exit.UsageError(err)
	}
	r := e.Reporter(catalogue)
	cells, unread := r.Cells(ctx, found, filepath.Dir(o.to))
	if ctx.Err() != nil {
		return unread
	}
	if o.track {
		root, err := buildstore.Root()
		if err != nil {
			return exit.UsageError(err)
		}
		return cmp.Or(r.TrackRecord(root, cells), unread)
	}
	m, err := r.Matrix(ctx, cells, o.keep, o.since)
	if err != nil {
		return exit.UsageError(err)
	}
	if len(m.Cells) == 0 && unread == nil {
		e.Say("none of the %s is what is asked for", wording.Counted(len(cells), "run"))
		unread = &exit.Error{Code: exit.Inconclusive}
	}
	if o.format == "" && o.to == "" {
		return cmp.Or(tellMatrix(e, m), unread)
	}
	write := func(w io.Writer) error { return m.Write(w, cmp.Or(o.format, "html")) }
	return cmp.Or(r.File(ctx, cmp.Or(o.to, "-"), e.InYAML(write)), unread)
}

// tellMatrix prints a line for each run.
func tellMatrix(e *console.Console, m *matrix.Matrix) error {
	rows := [][]string{{"SCENARIO", "TARGET", "VERDICT", "EXPECTED", "WALL", "REASON"}}
	for _, c := range m.Cells {
		rows = append(rows, []string{
			wording.Clean(c.Scenario), wording.Clean(c.Target), wording.Clean(cmp.Or(c.Verdict, "-")), wording.Clean(cmp.Or(c.Expected, "-")),
			fmt.Sprintf("%.1fs", c.WallSeconds), wording.Clean(c.Reason),
		})
	}
	if len(m.Cells) > 0 {
		if err := e.Table(console.Columns(e.Stdout), 3, rows); err != nil {
			return err
		}
		fmt.Fprintln(e.Stdout)
	}
	fmt.Fprintln(e.Stdout, m.Sum())
	for _, skip := range m.Skipped {
		fmt.Fprintf(e.Stdout, "skipped: %s on %s: %s\n", wording.Clean(skip.Scenario), wording.Clean(skip.Target), wording.Clean(skip.Reason))
	}
	for _, change := range m.Changes {
		fmt.Fprintf(e.Stdout, "since the last matrix: %s\n", wording.Clean(change))
	}
	return nil
}

// checkFilter makes sure that runs can have what the filter asks for. What targets there
// are only the runs know.
func checkFilter(keep matrix.Filter, catalogue *scenarios.Catalogue) error {
	providers := map[string]bool{}
	for _, r := range catalogue.Records() {
		if p := r.Provider(); p != "" {
			providers[p] = true
		}
	}
	for _, of := range []struct {
		flag, value string
		allowed     []string
	}{
		{"system", keep.System, scenarios.Systems},
		{"provider", keep.Provider, slices.Sorted(maps.Keys(providers))},
		{"status", keep.Status, verdict.Statuses()},
	} {
		if of.value != "" && !slices.Contains(of.allowed, of.value) {
			return fmt.Errorf("--%s %q: want one of %s", of.flag, of.value, strings.Join(of.allowed, ", "))
		}
	}
	return nil
}
