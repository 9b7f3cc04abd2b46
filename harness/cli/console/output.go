package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"sigs.k8s.io/yaml"

	"nodestorm/harness/cli/output"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/table"
	"nodestorm/reports/wording"
)

// Forms of -o, beside the table for people that is there without it.
const (
	AsJSON  = "json"
	AsYAML  = "yaml"
	AsNames = "name"
	AsWide  = "wide"
)

// formatFlag is the flag -o of one command.
type formatFlag struct {
	e       *Console
	allowed []string
	machine *bool // whether the result is for programs
}

func (o *formatFlag) String() string { return o.e.Form }

func (o *formatFlag) Type() string { return "format" }

func (o *formatFlag) Set(form string) error {
	if !slices.Contains(o.allowed, form) {
		return fmt.Errorf("%q: want %s; a file to write is named with --out-file, where there is one", form, strings.Join(o.allowed, ", "))
	}
	o.e.Form = form
	*o.machine = form != AsWide
	return nil
}

// OutputFlags adds -o and its short form --json to a command that prints its result for people
// in words or a table, and for programs as json and yaml; more names further forms.
func (e *Console) OutputFlags(c *cobra.Command, asJSON *bool, more ...string) {
	o := &formatFlag{e: e, allowed: append([]string{AsJSON, AsYAML}, more...), machine: asJSON}
	c.Flags().VarP(o, "output", "o", "output `FORMAT`: "+strings.Join(o.allowed, ", "))
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(o.allowed, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().BoolVar(asJSON, "json", false, "print JSON, as -o json")
	Hide(c, "json")
	MutuallyExclusive(c, "json", "output")
}

// FormatFlags adds -o to a command that has formats of its own, under the name --format too,
// and its short form --json.
func (e *Console) FormatFlags(c *cobra.Command, format *string, usual string, formats []string) {
	var asJSON bool
	c.Flags().StringVarP(format, "output", "o", usual, "output `FORMAT`: "+strings.Join(formats, ", "))
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	alias(c, "format", "output", func() {})
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, as -o json")
	Hide(c, "json")
	MutuallyExclusive(c, "json", "output")
	before := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		switch err := before(c, args); {
		case err != nil:
			return err
		case asJSON:
			*format = AsJSON
		case *format != usual && !slices.Contains(formats, *format):
			return exit.UsageError(fmt.Errorf("-o %q: want one of %s; a file to write is named with --out-file", *format,
				strings.Join(formats, ", ")))
		}
		if *format == AsYAML {
			*format, e.Form = AsJSON, AsYAML
		}
		return nil
	}
}

// InYAML is what write writes as JSON in the form that was asked for.
func (e *Console) InYAML(write func(io.Writer) error) func(io.Writer) error {
	if e.Form != AsYAML {
		return write
	}
	return func(w io.Writer) error {
		var text bytes.Buffer
		if err := write(&text); err != nil {
			return err
		}
		converted, err := yaml.JSONToYAML(text.Bytes())
		if err == nil {
			_, err = w.Write(converted)
		}
		return err
	}
}

// MutuallyExclusive makes two flags of one command a usage error.
func MutuallyExclusive(c *cobra.Command, a, b string) {
	before := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed(a) && c.Flags().Changed(b) {
			return exit.UsageError(fmt.Errorf("--%s and --%s exclude each other: give one", a, b))
		}
		if before != nil {
			return before(c, args)
		}
		return nil
	}
}

// JSON prints a result for programs: JSON, or YAML with the same fields.
func (e *Console) JSON(v any) error {
	return e.Program(func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	})
}

// Program prints what write writes as JSON in the form that was asked for.
func (e *Console) Program(write func(io.Writer) error) error {
	switch e.Form {
	case AsNames:
		return exit.UsageError(errors.New("-o name: this has no names; want -o json or -o yaml"))
	}
	return e.InYAML(write)(e.Stdout)
}

// Names prints a line for each.
func (e *Console) Names(names []string) error {
	for _, name := range names {
		if _, err := fmt.Fprintln(e.Stdout, wording.Clean(name)); err != nil {
			return err
		}
	}
	return nil
}

// Columns is how wide the terminal is that w writes to; 0 if it is none.
func Columns(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// columnsElsewhere are those of a page that is written to a file or a pipe.
const columnsElsewhere = 80

// PageColumns is how wide the terminal is, and 80 where there is none: -o wide and -o json have all of a text.
func (e *Console) PageColumns() int {
	// mutant: a list that no terminal shows is as wide as it likes
	return cmp.Or(Columns(e.Stdout), columnsElsewhere)
}

// Style is how tables of replays are written: in colours on a terminal, unless NO_COLOR asks for none.
func (e *Console) Style() table.Style {
	s := table.Style{Width: Columns(e.Stdout), Wide: e.Form == AsWide}
	if s.Colour = s.Width > 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"; s.Wide {
		s.Width = 0
	}
	return s
}

// Table prints rows below a head, on a terminal one line each, see table.Fit: of its width, and
// with the first need columns in any case.
func (e *Console) Table(width, need int, rows [][]string) error {
	w := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	for _, row := range table.Fit(width, need, rows) {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// WordsFlags are -q and -v of all commands.
func (e *Console) WordsFlags(c *cobra.Command) {
	c.PersistentFlags().BoolVarP(&e.Quiet, "quiet", "q", false, "print results and errors only")
	c.PersistentFlags().BoolVarP(&e.Verbose, "verbose", "v", false,
		"print every step and stage, builds and folders of runs")
}

// CheckWords finds what is wrong with -q and -v.
func (e *Console) CheckWords() error {
	if e.Quiet && e.Verbose {
		return exit.UsageError(errors.New("--quiet and --verbose exclude each other: give one"))
	}
	return nil
}

// Remark says what one may do without: with -q nothing is said.
func (e *Console) Remark(format string, args ...any) {
	if !e.Quiet {
		e.Say(format, args...)
	}
}

// Detail says what few want to know: only with -v.
func (e *Console) Detail(format string, args ...any) {
	if e.Verbose {
		e.Say(format, args...)
	}
}

// Say writes a message to standard error. What came from a stored run or a build is
// shown by a terminal, not obeyed.
func (e *Console) Say(format string, args ...any) {
	lines := strings.Split(fmt.Sprintf("nodestorm: "+format, args...), "\n")
	for _, line := range lines {
		fmt.Fprintln(e.Stderr, wording.Clean(strings.ReplaceAll(line, "\t", "    ")))
	}
}

// NewLine is a line for what is under way, on standard error.
func (e *Console) NewLine() supply.Line {
	switch {
	case e.Quiet:
		return output.NewLine(io.Discard)
	case e.Verbose:
		return output.NewPlainLine(e.Stderr)
	}
	return output.NewLine(e.Stderr)
}
