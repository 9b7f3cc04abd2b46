package records

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/run/exit"
	"nodestorm/scenarios"
	"nodestorm/sim/oneline"
)

// shown is one `nodestorm show`.
type shown struct {
	feature, record, run bool
	file, runs           string
}

var _ = Commands.Add(console.Start, newShow)

func newShow(e *console.Console) *cobra.Command {
	var o shown
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show a failure: its record, its feature, and how to replay it",
		Long: `Print a failure as the catalogue has it, built in or your own: the record in YAML, the
feature in Gherkin, the commands that replay it and the pages of its stored runs.

With one of --record, --feature, --file and --run only that is printed, as it is: it can
be the beginning of a failure of your own. A record's twins are in the record's file.`,
		Example: `  nodestorm show karpenter-7515-not-ready-noexecute
  nodestorm show karpenter-7515-not-ready-noexecute --record
  nodestorm show hetzner-3838-server-off --feature > mine.feature`,
		Args: console.Exactly(1),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := e.LoadCatalogue()
			if err != nil {
				return err
			}
			record, err := c.Lookup(args[0])
			if err != nil {
				return exit.UsageError(err)
			}
			return o.print(e, c, record)
		},
		ValidArgsFunction: e.CompleteIDs,
	}
	c.Flags().BoolVar(&o.feature, "feature", false, "print the feature alone")
	c.Flags().BoolVar(&o.record, "record", false, "print the file of the record alone")
	c.Flags().StringVar(&o.file, "file", "", "print a `FILE` alone that the feature's steps name")
	c.Flags().BoolVar(&o.run, "run", false, "print the commands that replay it, and the pages of its runs, alone")
	c.Flags().StringVar(&o.runs, "runs", filepath.Join("reports", "out"), "`FOLDER` with runs, as --out of verify")
	alone := []string{"feature", "record", "file", "run"}
	for i, flag := range alone {
		for _, other := range alone[i+1:] {
			console.MutuallyExclusive(c, flag, other)
		}
	}
	e.CatalogueFlags(c)
	return c
}

// print prints what was asked for, or all of it with headings that are comments in YAML and in Gherkin.
func (o *shown) print(e *console.Console, c *scenarios.Catalogue, record scenarios.Record) error {
	feature, err := fs.ReadFile(c.Features(), record.Feature)
	if err != nil {
		return err
	}
	file, has := c.RecordFile(record.ID)
	switch {
	case o.feature:
		for _, name := range filesOf(c, record) {
			e.Remark("its steps name %s; nodestorm show %s --file %s prints it", name, record.ID, name)
		}
		_, err = e.Stdout.Write(feature)
		return err
	case o.record && !has:
		return exit.UsageError(fmt.Errorf("%s has no record: nothing documented is looked for in its runs; "+
			"--feature prints its feature", record.ID))
	case o.record:
		_, err = e.Stdout.Write(file.Text)
		return err
	case o.file != "":
		return o.printFile(e, c, record)
	case o.run:
		return o.printRun(e, record)
	}
	if has {
		fmt.Fprintf(e.Stdout, "# --- record %s\n%s\n", file.Shown, file.Text)
	}
	fmt.Fprintf(e.Stdout, "# --- feature %s\n%s\n# --- run\n", record.Feature, feature)
	return o.printRun(e, record)
}

// filesOf are the files that the feature's steps name.
func filesOf(c *scenarios.Catalogue, record scenarios.Record) (names []string) {
	feature, _ := fs.ReadFile(c.Features(), record.Feature)
	for line := range strings.Lines(string(feature)) {
		if name, is := scenarios.FileOf(strings.TrimSpace(line)); is && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (o *shown) printFile(e *console.Console, c *scenarios.Catalogue, record scenarios.Record) error {
	names := filesOf(c, record)
	switch {
	case len(names) == 0:
		return exit.UsageError(fmt.Errorf("--file %s: no step of %s names a file", o.file, record.Feature))
	case !slices.Contains(names, o.file):
		return exit.UsageError(fmt.Errorf("--file %s: no step of %s names it (they name %s)", o.file, record.Feature, strings.Join(names, ", ")))
	}
	text, err := fs.ReadFile(c.Features(), path.Join(path.Dir(record.Feature), o.file))
	if err == nil {
		_, err = e.Stdout.Write(text)
	}
	return err
}

// printRun prints the commands that replay it, one for each target, and the pages of runs that there are.
func (o *shown) printRun(e *console.Console, record scenarios.Record) error {
	pages, err := o.pages(record.ID)
	if err != nil {
		return err
	}
	var from []string
	for _, folder := range e.Own.Folders {
		from = append(from, "--catalogue", folder)
	}
	command := func(words ...string) string {
		return oneline.Command(slices.Concat([]string{"nodestorm"}, words, from)...)
	}
	if !record.Bare() {
		fmt.Fprintln(e.Stdout, command("verify", record.ID))
	}
	for _, t := range record.Targets {
		fmt.Fprintf(e.Stdout, "%s  # %s\n", command("run", record.ID, "--target", t.Name), t.Expected)
	}
	if len(record.Targets) == 0 {
		fmt.Fprintf(e.Stdout, "%s --target NAME@VERSION\n", command("run", record.ID))
	}
	for _, page := range pages {
		fmt.Fprintln(e.Stdout, page)
	}
	return nil
}

// pages are those of stored runs in the folder, and in the folders of commands in there, such as verify.
func (o *shown) pages(id string) (pages []string, err error) {
	if strings.ContainsAny(o.runs, `*?[\`) {
		return nil, exit.UsageError(errors.New("--runs: want a folder whose name has none of * ? [ \\"))
	}
	for _, below := range []string{id, filepath.Join("*", id)} {
		found, err := filepath.Glob(filepath.Join(o.runs, below, "*", "report.html"))
		if err != nil {
			return nil, err
		}
		pages = append(pages, found...)
	}
	return pages, nil
}
