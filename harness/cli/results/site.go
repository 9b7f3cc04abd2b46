package results

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/night/nights"
	"nodestorm/harness/night/store"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/wording"
	"nodestorm/scenarios"
)

// siteOptions are where the site goes, and what it takes along.
type siteOptions struct {
	out, nights string
	last        int
}

var _ = Commands.Add(console.Results, newSite)

func newSite(e *console.Console) *cobra.Command {
	var o siteOptions
	c := &cobra.Command{
		Use:   "site [RUN…] --out DIR",
		Short: "Write the catalogue as a static site",
		Long: `Write the catalogue as a static site: a page for each failure with its story, its
mechanism, its releases as a bar and the upstream thread; an index that finds failures by
text, system, component and release; and a page of those that the newest releases have.
A browser opens index.html from disk, and any web server serves the folder.

With RUNs (folders of runs, folders above some, archives of "nodestorm bundle") the page of
a failure shows the newest runs of both sides, second by second. Credentials and the names
of this machine and of your user are removed, as "nodestorm bundle" does.
With --nights there is a page of nights: replays by date.

Exit status: 0 written, 2 usage, 3 something could not be read or written.`,
		Example: `  nodestorm site --out site
  nodestorm site reports/out --nights ~/nights --out site`,
		RunE: func(c *cobra.Command, args []string) error { return writeSite(e, c.Context(), args, o) },
	}
	c.Flags().StringVar(&o.out, "out", "", "`DIR` to write, new or empty")
	c.Flags().StringVar(&o.nights, "nights", "", "`PLACE` of nights: a folder, or s3://BUCKET/PREFIX")
	c.Flags().IntVar(&o.last, "last", 30, "`COUNT` of nights to show")
	e.CatalogueFlags(c)
	return c
}

func writeSite(e *console.Console, ctx context.Context, args []string, o siteOptions) error {
	if o.last < 1 {
		return exit.UsageError(fmt.Errorf("--last %d: want 1 or more", o.last))
	}
	if err := emptyFolder(o.out); err != nil {
		return exit.UsageError(err)
	}
	catalogue, err := e.LoadCatalogue()
	if err != nil {
		return err
	}
	page, err := nightsPage(e, ctx, catalogue, o)
	if err != nil {
		return exit.UsageError(fmt.Errorf("--nights: %w", err))
	}
	found, done, err := e.Runs(ctx, args)
	defer done()
	if err != nil {
		return exit.UsageError(err)
	}
	if len(found) > 0 {
		e.Remark("writing the pages of %s: about a second each", wording.Counted(len(found), "run"))
	}
	with, err := e.Reporter(catalogue).Site(ctx, found, page, o.out, console.Scratch)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Stdout, "%s: %s, %d with runs\n", filepath.Join(o.out, "index.html"),
		wording.Counted(len(catalogue.Records()), "failure"), with)
	return nil
}

// emptyFolder makes sure that a folder is there and empty, so that no page of an earlier site stays.
func emptyFolder(dir string) error {
	if dir == "" {
		return fmt.Errorf("--out is missing: name a new folder")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--out: %w; name a folder that can be written", err)
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty; name a new folder, or remove it", dir)
	}
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// nightsPage is the page of the newest night against those before it; nil where none is asked for.
func nightsPage(e *console.Console, ctx context.Context, catalogue *scenarios.Catalogue, o siteOptions) (func(io.Writer) error, error) {
	if o.nights == "" {
		return nil, nil
	}
	place, err := store.Open(o.nights)
	if err != nil {
		return nil, err
	}
	report, err := nights.Newest(ctx, place, o.last, e.Say)
	if err != nil {
		return nil, err
	}
	report.Index, report.Pages = "index.html", map[string]string{}
	for _, r := range catalogue.Records() {
		report.Pages[r.ID] = "failures/" + r.ID + ".html"
	}
	return report.HTML, nil
}
