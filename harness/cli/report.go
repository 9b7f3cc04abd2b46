package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/summary"
	"nodestorm/harness/world/process"
	"nodestorm/reports/bundle"
	"nodestorm/reports/formats"
	"nodestorm/reports/page"
	"nodestorm/reports/story"
	"nodestorm/scenarios"
)

// reporter is one way of `nodestorm report` to write runs. Formats but HTML write
// all runs into one text.
type reporter struct {
	*env
	catalogue *scenarios.Catalogue
	to        string // file or folder; empty is the run's folder, or standard output
	hourly    float64
}

func (e *env) report() *cobra.Command {
	r := &reporter{env: e}
	var format string
	var issue, beside bool
	c := &cobra.Command{
		Use:   "report RUN…",
		Short: "Show stored runs to people and to programs",
		Long: `Show stored runs. A RUN is a folder of a run, a folder above some, or an archive
of "nodestorm bundle".

html      one page a run, report.html in its folder: opens from disk, needs no network
junit     JUnit XML             ctrf      Common Test Report Format
cucumber  Cucumber JSON         messages  Cucumber messages, NDJSON
trace     Chrome trace, for ui.perfetto.dev and chrome://tracing
md        a summary in Markdown, as for a GitHub step summary
json      what is known of each run; yaml the same

All but html go to standard output, or to --out.

In a page: drag or swipe to pan, Ctrl and wheel or two fingers to zoom, click anything
for its record and what it is linked to: from a pod to the scale-up or NodeClaim, the
call to the cloud, the instance, the Node. Below are curves on the same axis, the
records and the log lines of the window, and tables of all of it for screen readers
and paper. With --side-by-side the first decision that differs is marked.

What could not be read of a run is named in its report, and on standard error.

Exit status: 0 written, 2 usage, 3 a run could not be told at all.`,
		Example: `  nodestorm report reports/out/karpenter-7515-not-ready-noexecute/karpenter@v1.6.4
  nodestorm report --side-by-side AFFECTED FIXED
  nodestorm report --issue RUN > issue.md
  nodestorm report -o md reports/out >> "$GITHUB_STEP_SUMMARY"`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(fmt.Errorf("no RUN is named: %s", c.UseLine()))
			}
			if issue {
				format = "issue"
			}
			if r.hourly < 0 {
				return usage(fmt.Errorf("--price %g: want euros an hour, 0 or more", r.hourly))
			}
			catalogue, err := e.catalogue()
			if err != nil {
				return err
			}
			r.catalogue = catalogue
			found, done, err := e.runs(c.Context(), args)
			defer done()
			if err != nil {
				return usage(err)
			}
			switch {
			case beside && (format != "html" || len(found) != 2):
				return usage(fmt.Errorf("--side-by-side compares two runs in html, and %d are named", len(found)))
			case beside:
				return r.beside(found[0], found[1])
			case format == "html":
				return r.pages(found)
			}
			return r.write(found, format)
		},
	}
	e.formatFlags(c, &format, "html", append(formatNames(), asYAML))
	e.catalogueFlags(c)
	c.Flags().BoolVar(&issue, "issue", false, "a short text in Markdown for an upstream issue")
	c.Flags().BoolVar(&beside, "side-by-side", false, "two runs of a scenario on one axis")
	c.Flags().StringVar(&r.to, "out", "", "`file` to write, - for standard output")
	c.Flags().Float64Var(&r.hourly, "price", 0, "what a machine costs that does not tell itself, in `euros` an hour")
	return c
}

// bundlePrefix begins the names of folders in which bundles are packed and unpacked.
const bundlePrefix = "nodestorm-bundle-"

// stored is the folder of a run, what the user calls it, and where its page goes by default.
type stored struct{ dir, name, page string }

// says is an error about the run, as the user calls it.
func (s stored) says(err error) string { return strings.ReplaceAll(err.Error(), s.dir, s.name) }

// runs finds the runs that args name: folders of runs, folders above some, and
// bundles, which are unpacked. done removes what was unpacked; it is never nil.
func (e *env) runs(ctx context.Context, args []string) (found []stored, done func(), err error) {
	var unpacked []func() error
	done = func() {
		for _, remove := range unpacked {
			_ = remove()
		}
	}
	for _, arg := range args {
		dir, prefix := arg, ""
		if info, err := os.Stat(arg); err == nil && info.Mode().IsRegular() {
			var remove func() error
			if dir, remove, err = process.Scratch(bundlePrefix); err != nil {
				return nil, done, err
			}
			unpacked = append(unpacked, remove)
			if err := unpackFile(ctx, arg, dir); errors.Is(err, syscall.ENOSPC) {
				return nil, done, fmt.Errorf("%s: %w", arg, err)
			} else if err != nil {
				return nil, done, fmt.Errorf("%s: %w; name the folder of a run, one above it, or an archive of nodestorm bundle", arg, err)
			}
			prefix = strings.TrimSuffix(arg, archiveSuffix) + "-"
		}
		below, err := runsBelow(dir)
		if err != nil {
			if _, statErr := os.Stat(filepath.Join(dir, run.HistoryFile)); statErr != nil {
				return nil, done, err
			}
			below = []string{dir} // its run.json is lost
		}
		for _, dir := range below {
			name, page := dir, filepath.Join(dir, run.ReportFile)
			if prefix != "" {
				name, page = arg+": "+filepath.Base(dir), prefix+filepath.Base(dir)+".html"
			}
			found = append(found, stored{dir, name, page})
		}
	}
	return found, done, nil
}

func unpackFile(ctx context.Context, path, dir string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return bundle.Unpack(ctx, file, dir)
}

// pages writes a page for each run, and prints where they are.
func (r *reporter) pages(found []stored) error {
	if len(found) > 1 && r.to != "" {
		return usage(fmt.Errorf("--out names one file, and there are %d runs; without it each gets its own %s", len(found), run.ReportFile))
	}
	return r.each(found, func(f stored) error {
		path := r.to
		if path == "" {
			path = f.page
		}
		if err := r.page(path, f.dir); err != nil {
			return err
		}
		if path != "-" {
			fmt.Fprintln(r.stdout, path)
		}
		return nil
	})
}

// each does something for every run; those that it cannot be done for are named,
// and make the exit status.
func (r *reporter) each(found []stored, do func(stored) error) error {
	failed := false
	for _, f := range found {
		if err := do(f); err != nil {
			r.say("%s", f.says(withRoom(err)))
			failed = true
		}
	}
	if failed {
		return &exit.Error{Code: Inconclusive}
	}
	return nil
}

// reportMemory is from where on memory is collected more eagerly while a report
// is made: one of a million records must do with 1 GiB.
const reportMemory = 800 << 20

// told is a run as far as it can be read; what cannot is said.
func (r *reporter) told(dir string) (*story.Story, error) {
	told, err := summary.Run(dir, r.catalogue, r.hourly)
	if err == nil {
		for _, problem := range told.Run.Problems {
			r.say("%s: %s", dir, problem)
		}
	}
	return told, err
}

// page writes the page of one run, or of two side by side.
func (r *reporter) page(path string, dirs ...string) error {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(reportMemory))
	var runs []page.Run
	for _, dir := range dirs {
		told, err := r.told(dir)
		if err != nil {
			return err
		}
		logs, done := page.Logs(filepath.Join(dir, run.LogFolder))
		defer done()
		runs = append(runs, page.Run{Story: told, Logs: logs})
	}
	return r.file(path, func(w io.Writer) error { return page.Write(w, runs...) })
}

// beside writes the page of two runs.
func (r *reporter) beside(a, b stored) error {
	path := r.to
	if path == "" {
		path = filepath.Join(filepath.Dir(filepath.Dir(a.page)), filepath.Base(a.dir)+"-beside-"+filepath.Base(b.dir)+".html")
	}
	if err := r.page(path, a.dir, b.dir); err != nil {
		return err
	}
	if path != "-" {
		fmt.Fprintln(r.stdout, path)
	}
	return nil
}

// file writes a file whole or not at all, or standard output for "-".
func (r *reporter) file(path string, write func(io.Writer) error) error {
	if path == "-" {
		return write(r.stdout)
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("writing a report: %w; name a file that can be written with --out", err)
	}
	buffered := bufio.NewWriterSize(temporary, 1<<20)
	err = write(buffered)
	err = errors.Join(err, buffered.Flush(), temporary.Chmod(0o644), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// formatNames are the values of -o.
func formatNames() []string {
	return append([]string{"html"}, slices.DeleteFunc(formats.Names(), func(name string) bool { return name == "issue" })...)
}

// write writes all runs in a format.
func (r *reporter) write(found []stored, format string) error {
	var stories []*story.Story
	failed := r.each(found, func(f stored) error {
		told, err := r.told(f.dir)
		if err != nil {
			return err
		}
		stories = append(stories, told)
		return nil
	})
	path := r.to
	if path == "" {
		path = "-"
	}
	err := r.file(path, r.inYAML(func(w io.Writer) error { return formats.Write(w, format, stories) }))
	return cmp.Or(err, failed)
}
