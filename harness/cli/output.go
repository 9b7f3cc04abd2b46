package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
	"sigs.k8s.io/yaml"

	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/output"
	"nodestorm/harness/replay/supply"
	"nodestorm/reports"
)

// Forms of -o, beside the table for people that is there without it.
const (
	asJSONForm = "json"
	asYAML     = "yaml"
	asNames    = "name"
	asWide     = "wide"
)

// formatFlag is the flag -o of one command.
type formatFlag struct {
	e       *env
	allowed []string
	machine *bool // whether the result is for programs
}

func (o *formatFlag) String() string { return o.e.form }

func (o *formatFlag) Type() string { return "format" }

func (o *formatFlag) Set(form string) error {
	if !slices.Contains(o.allowed, form) {
		return fmt.Errorf("%q: want %s; a file to write is named with --out, where there is one", form, strings.Join(o.allowed, ", "))
	}
	o.e.form = form
	*o.machine = form != asWide
	return nil
}

// outputFlags adds -o and its short form --json to a command that tells people its
// result in words or a table, and programs as json and yaml; more names further forms.
func (e *env) outputFlags(c *cobra.Command, asJSON *bool, more ...string) {
	o := &formatFlag{e: e, allowed: append([]string{asJSONForm, asYAML}, more...), machine: asJSON}
	c.Flags().VarP(o, "output", "o", "`FORMAT` of what is printed: "+strings.Join(o.allowed, ", "))
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(o.allowed, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().BoolVar(asJSON, "json", false, "print JSON, as -o json")
	alone(c, "json", "output")
}

// formatFlags adds -o to a command that has formats of its own, under the name --format too,
// and its short form --json.
func (e *env) formatFlags(c *cobra.Command, format *string, usual string, formats []string) {
	var asJSON bool
	c.Flags().StringVarP(format, "output", "o", usual, "`FORMAT`, also --format: "+strings.Join(formats, ", "))
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "format" {
			name = "output"
		}
		return pflag.NormalizedName(name)
	})
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, as -o json")
	alone(c, "json", "output")
	before := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		switch err := before(c, args); {
		case err != nil:
			return err
		case asJSON:
			*format = asJSONForm
		case *format != usual && !slices.Contains(formats, *format):
			return usage(fmt.Errorf("-o %q: want one of %s; a file to write is named with --out", *format, strings.Join(formats, ", ")))
		}
		if *format == asYAML {
			*format, e.form = asJSONForm, asYAML
		}
		return nil
	}
}

// inYAML is what write writes as JSON in the form that was asked for.
func (e *env) inYAML(write func(io.Writer) error) func(io.Writer) error {
	if e.form != asYAML {
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

// alone makes two flags of one command a usage error.
func alone(c *cobra.Command, a, b string) {
	before := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed(a) && c.Flags().Changed(b) {
			return usage(fmt.Errorf("--%s and --%s exclude each other: give one", a, b))
		}
		if before != nil {
			return before(c, args)
		}
		return nil
	}
}

// json prints a result for programs: JSON, or YAML with the same fields.
func (e *env) json(v any) error {
	return e.program(func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	})
}

// program prints what write writes as JSON in the form that was asked for.
func (e *env) program(write func(io.Writer) error) error {
	switch e.form {
	case asNames:
		return usage(errors.New("-o name: this has no names; want -o json or -o yaml"))
	}
	return e.inYAML(write)(e.stdout)
}

// names prints a line for each.
func (e *env) names(names []string) error {
	for _, name := range names {
		if _, err := fmt.Fprintln(e.stdout, reports.Clean(name)); err != nil {
			return err
		}
	}
	return nil
}

// columns is how wide the terminal is that w writes to; 0 if it is none.
func columns(w io.Writer) int {
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

// table prints rows below a head, on a terminal one line each, see reports.Fit: of its width, and
// with the first need columns in any case.
func (e *env) table(width, need int, rows [][]string) error {
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for _, row := range reports.Fit(width, need, rows) {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// wordsFlags are -q and -v of all commands.
func (e *env) wordsFlags(c *cobra.Command) {
	c.PersistentFlags().BoolVarP(&e.quiet, "quiet", "q", false, "say less: no progress and no remarks, only results and what is wrong")
	c.PersistentFlags().BoolVarP(&e.verbose, "verbose", "v", false, "say more: a line for each step and each stage, which builds are used, where runs are kept")
}

// checkWords finds what is wrong with -q and -v.
func (e *env) checkWords() error {
	if e.quiet && e.verbose {
		return usage(errors.New("--quiet and --verbose exclude each other: give one"))
	}
	return nil
}

// remark says what one may do without: with -q nothing is said.
func (e *env) remark(format string, args ...any) {
	if !e.quiet {
		e.say(format, args...)
	}
}

// detail says what few want to know: only with -v.
func (e *env) detail(format string, args ...any) {
	if e.verbose {
		e.say(format, args...)
	}
}

// Say is say for engines, as are the next ones.
func (e *env) Say(format string, args ...any) { e.say(format, args...) }

// Remark is remark.
func (e *env) Remark(format string, args ...any) { e.remark(format, args...) }

// Detail is detail.
func (e *env) Detail(format string, args ...any) { e.detail(format, args...) }

// NewLine is newStatus.
func (e *env) NewLine() supply.Line { return e.newStatus() }

// newStatus shows what is under way on standard error.
func (e *env) newStatus() *output.Line {
	switch {
	case e.quiet:
		return output.NewLine(io.Discard)
	case e.verbose:
		return output.NewPlainLine(e.stderr)
	}
	return output.NewLine(e.stderr)
}

// supply gets builds for all commands: see registriesOfEnvironment for what the store lacks.
func (e *env) supply() *supply.Supplier {
	if e.supplier == nil {
		e.supplier = &supply.Supplier{Store: e.store, Registries: registriesOfEnvironment(), Output: e}
	}
	return e.supplier
}

// registriesOfEnvironment are where all commands look for what the store lacks.
func registriesOfEnvironment() buildstore.Registries {
	return buildstore.Registries{From: os.Getenv(buildstore.EnvFrom), Mirror: os.Getenv(buildstore.EnvMirror)}
}
