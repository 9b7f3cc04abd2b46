package results

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/stored"
	"nodestorm/reports/formats"
	"nodestorm/reports/story"
)

// reportOptions are how runs are shown, and where.
type reportOptions struct {
	format, to    string
	hourly        float64
	issue, beside bool
}

var _ = Commands.Add(console.Start, newReport)

func newReport(e *console.Console) *cobra.Command {
	var o reportOptions
	c := &cobra.Command{
		Use:   "report RUN…",
		Short: "Show stored runs as pages, tables and files for CI",
		Long: `Show stored runs. A RUN is a folder of a run, a folder above some, or an archive
of "nodestorm bundle".

  html      one page a run, report.html in its folder, which needs no network
  text      the verdict with its reason; the history, a line for each event in
            virtual time (with -v those of the clock, too); what it came to:
            cost, waits of pods, evictions, nodes launched and removed
  md        a summary in Markdown, as for a GitHub step summary
  json      what is known of each run, with its measures; yaml: the same
  junit     JUnit XML
  ctrf      Common Test Report Format
  cucumber  Cucumber JSON
  messages  Cucumber messages, NDJSON
  trace     Chrome trace, for ui.perfetto.dev and chrome://tracing

All but html go to standard output, or to --out-file.

In a page: drag or swipe to pan, Ctrl and wheel or two fingers to zoom, click anything
for its record and what it is linked to: from a pod to the scale-up or NodeClaim, the
call to the cloud, the instance, the Node. Below are curves on the same axis, the
records and the log lines of the window, and tables of all of it for screen readers
and paper. With --side-by-side the first decision that differs is marked.

What could not be read of a run is named in its report, and on standard error.
A run that was discarded, since it was played again, is left out unless it is named.

Exit status: 0 written, 2 usage, 3 a run could not be read at all.`,
		Example: `  nodestorm report \
    reports/out/karpenter-7515-not-ready-noexecute/karpenter@v1.6.4
  nodestorm report -o text RUN
  nodestorm report --side-by-side AFFECTED FIXED
  nodestorm report --issue RUN > issue.md
  nodestorm report -o md reports/out >> "$GITHUB_STEP_SUMMARY"`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.UsageError(fmt.Errorf("RUN is missing: want %s", c.UseLine()))
			}
			return o.run(c.Context(), e, args)
		},
	}
	e.FormatFlags(c, &o.format, "html", append(formatNames(), console.AsYAML))
	e.CatalogueFlags(c)
	c.Flags().BoolVar(&o.issue, "issue", false, "a short text in Markdown for an upstream issue")
	c.Flags().BoolVar(&o.beside, "side-by-side", false, "two runs of a scenario on one axis")
	c.Flags().StringVar(&o.to, "out-file", "", "`FILE` to write, - for standard output")
	e.RenamedFlag(c, "out", "out-file")
	c.Flags().Float64Var(&o.hourly, "price", 0, "price in `EUR` an hour, such as 0.05, of machines whose cloud has none")
	return c
}

func (o reportOptions) run(ctx context.Context, e *console.Console, args []string) error {
	if o.issue {
		o.format = "issue"
	}
	if o.hourly < 0 {
		return exit.UsageError(fmt.Errorf("--price %g: want euros an hour, 0 or more", o.hourly))
	}
	catalogue, err := e.LoadCatalogue()
	if err != nil {
		return err
	}
	r := e.Reporter(catalogue)
	r.Hourly = o.hourly
	found, done, err := e.Runs(ctx, args)
	defer done()
	switch {
	case err != nil:
		return exit.UsageError(err)
	case o.beside && (o.format != "html" || len(found) != 2):
		return exit.UsageError(fmt.Errorf("--side-by-side compares two runs in html, and %d are named", len(found)))
	case o.beside:
		return sideBySide(ctx, r, found[0], found[1], o.to)
	case o.format == "html":
		return pages(ctx, r, found, o.to)
	case o.format == asText:
		return r.File(ctx, cmp.Or(o.to, "-"), func(w io.Writer) error {
			return r.ForEach(ctx, found, func(f stored.Run) error { return r.Timeline(ctx, w, f) })
		})
	}
	return write(ctx, e, r, found, o.format, o.to)
}

// pages writes a page for each run, and prints where they are.
func pages(ctx context.Context, r *stored.Reporter, found []stored.Run, to string) error {
	if len(found) > 1 && to != "" {
		return exit.UsageError(fmt.Errorf("--out-file names one file, and there are %d runs; without it each gets its own %s", len(found),
			run.ReportFile))
	}
	return r.ForEach(ctx, found, func(f stored.Run) error { return printPage(ctx, r, cmp.Or(to, f.Page), f.Dir) })
}

// sideBySide writes the page of two runs.
func sideBySide(ctx context.Context, r *stored.Reporter, a, b stored.Run, to string) error {
	usual := filepath.Join(filepath.Dir(filepath.Dir(a.Page)), filepath.Base(a.Dir)+"-beside-"+filepath.Base(b.Dir)+".html")
	return printPage(ctx, r, cmp.Or(to, usual), a.Dir, b.Dir)
}

// printPage writes one, and prints where it is.
func printPage(ctx context.Context, r *stored.Reporter, path string, dirs ...string) error {
	err := r.Page(ctx, path, dirs...)
	if err == nil && path != "-" {
		fmt.Fprintln(r.Stdout, path)
	}
	return err
}

// asText is the value of -o for the history as text.
const asText = "text"

// formatNames are the values of -o.
func formatNames() []string {
	return append([]string{"html", asText}, slices.DeleteFunc(formats.Names(), func(name string) bool { return name == "issue" })...)
}

// write writes all runs in a format.
func write(ctx context.Context, e *console.Console, r *stored.Reporter, found []stored.Run, format, to string) error {
	var stories []*story.Story
	failed := r.ForEach(ctx, found, func(f stored.Run) error {
		s, err := r.Story(ctx, f.Dir)
		if err == nil {
			stories = append(stories, s)
		}
		return err
	})
	err := r.File(ctx, cmp.Or(to, "-"), e.InYAML(func(w io.Writer) error { return formats.Write(w, format, stories) }))
	return cmp.Or(err, failed)
}
