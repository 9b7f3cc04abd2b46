package results

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/night/bucket"
	"nodestorm/harness/night/nights"
	"nodestorm/harness/night/store"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/stored"
	"nodestorm/reports/nightly"
	"nodestorm/reports/redact"
)

var _ = Commands.Add(console.CI, newNightly)

func newNightly(e *console.Console) *cobra.Command {
	c := console.Group(&cobra.Command{
		Use: "nightly", Short: "Merge shards, compare nights, run nights on Kubernetes",
		Example: "  nodestorm nightly report runs --nights ~/nights --keep",
	})
	c.AddCommand(newNightlyReport(e), newNightlyMerge(e), newNightlyManifest(e))
	return c
}

// nightOptions are where nights are, and what is to be made of one.
type nightOptions struct {
	where, out   string
	last         int
	keep, asJSON bool
}

func newNightlyReport(e *console.Console) *cobra.Command {
	var o nightOptions
	c := &cobra.Command{
		Use:   "report NIGHT… --nights PLACE",
		Short: "Compare a night's results with previous nights",
		Long: `Hold the runs of a night against those of the nights before: newly failing, newly
healthy, flaky with how often, slower than noise can make it, and no longer run. NIGHT
is what verify, its shards or merge left: folders with runs, or with a matrix.json.

PLACE is a folder, or s3://BUCKET/PREFIX of any store that speaks S3, with a file for each
night; --keep adds this one to it, with all of its runs. The store is https://s3.amazonaws.com
or that of ` + bucket.EnvEndpoint + `; credentials are AWS's, from the environment or their file.

A text for a chat goes to standard output, and nightly.html, nightly.md and
nightly.json into --out.

Where a bucket's store refuses or cannot be reached, the report is of this night alone and
says so.

Exit status: 0 nothing new fails, 1 something does, 2 usage, 3 nothing new fails, and
something that was decided is inconclusive or not run any more, or could not be read or
kept.`,
		Example: `  nodestorm nightly report reports/out/merged shards --nights ~/nights --keep
  nodestorm nightly report reports/out/verify --nights s3://ci/nodestorm \
    --last 30`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.UsageError(fmt.Errorf("NIGHT is missing: want %s", c.UseLine()))
			}
			return compareNights(e, c.Context(), args, o)
		},
	}
	c.Flags().StringVar(&o.where, "nights", "", "`PLACE` of the nights before: a folder, or s3://BUCKET/PREFIX")
	c.Flags().StringVar(&o.out, "out", filepath.Join("reports", "out", "nightly"), "`FOLDER` for the page, the text and the JSON")
	c.Flags().IntVar(&o.last, "last", 30, "compare with the last `N` nights")
	c.Flags().BoolVar(&o.keep, "keep", false, "add this night to the place")
	e.OutputFlags(c, &o.asJSON)
	e.CatalogueFlags(c)
	return c
}

// compareNights holds a night against those before.
func compareNights(e *console.Console, ctx context.Context, args []string, o nightOptions) error {
	if o.last < 1 {
		return exit.UsageError(fmt.Errorf("--last %d: want 1 or more", o.last))
	}
	catalogue, err := e.LoadCatalogue()
	if err != nil {
		return err
	}
	place, err := store.Open(o.where)
	if err != nil {
		return exit.UsageError(fmt.Errorf("--nights: %w", err))
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return exit.UsageError(fmt.Errorf("--out: %w; name a folder that can be written", err))
	}
	r := e.Reporter(catalogue)
	night, unread, err := nights.Gather(ctx, args, r, console.Scratch, o.out)
	if err != nil {
		return exit.UsageError(err)
	}
	before, err := nights.LoadPrevious(ctx, place, night, o.last, o.keep, e.Say)
	missing := ""
	switch {
	case ctx.Err() == nil && errors.As(err, new(*bucket.StoreError)):
		// The night took hours, and what is wrong is elsewhere.
		missing = redact.ForHere().Text(err.Error())
		e.Say("--nights: the nights before are missing: %s", missing)
	case err != nil:
		return exit.UsageError(fmt.Errorf("--nights: %w", err))
	}
	if before.Unread || missing != "" {
		unread = &exit.Error{Code: exit.Inconclusive}
	}
	report := nights.Compare(night, before)
	report.Missing = missing
	if err := writeNight(ctx, e, r, report, o); err != nil {
		return err
	}
	fails := report.Counts[string(nightly.NewlyFailing)] > 0
	if o.keep {
		if err := nights.Add(ctx, place, night); err != nil {
			unread = fmt.Errorf("this night is not kept, and the report is there; the same command keeps it later: %w", exit.WithRoom(err))
			if fails {
				e.Say("%v", unread)
			}
		}
	}
	if fails || unread == nil {
		return exitStatus(fails, report.Counts[string(nightly.Inconclusive)]+report.Counts[string(nightly.Gone)] > 0)
	}
	return unread
}

// writeNight writes the report into files, and prints it.
func writeNight(ctx context.Context, e *console.Console, r *stored.Reporter, report *nightly.Report, o nightOptions) error {
	for _, format := range []string{"html", "md", "json"} {
		path := filepath.Join(o.out, "nightly."+format)
		if err := r.File(ctx, path, func(w io.Writer) error { return report.Write(w, format) }); err != nil {
			return err
		}
	}
	var err error
	if o.asJSON {
		err = e.Program(func(w io.Writer) error { return report.Write(w, "json") })
	} else {
		err = report.Write(e.Stdout, "md")
	}
	if err == nil {
		e.Remark("for a browser: %s", filepath.Join(o.out, "nightly.html"))
	}
	return err
}
