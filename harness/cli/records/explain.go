package records

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/cli/explain"
	"nodestorm/harness/run/exit"
)

var _ = Commands.Add(console.Write, newExplain)

func newExplain(e *console.Console) *cobra.Command {
	var deep, schema bool
	c := &cobra.Command{
		Use:   "explain [KIND[.FIELD…]]",
		Short: "Explain the fields of records, statements, faults and other files",
		Long: `Print what a field of a file is for: its type, whether it is required, how it is written,
the values that are allowed, an example, and the fields below it. The name of a field alone
finds it wherever it is; duration, time, range, quantity, amount and values are forms of
values.

With --schema the whole is printed as JSON Schema (2020-12), for an editor: a file that
begins with
  # yaml-language-server: $schema=record.schema.json
is checked and completed in editors with yaml-language-server.`,
		Example: `  nodestorm explain record
  nodestorm explain record.symptom.sequence
  nodestorm explain within
  nodestorm explain duration
  nodestorm explain record --recursive
  nodestorm explain --schema > record.schema.json`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return exit.UsageError(fmt.Errorf("one path is explained at a time, and there are %d: %s", len(args), strings.Join(args, " ")))
			}
			if len(args) == 0 && !schema {
				return listKinds(e)
			}
			path := strings.Join(append(args, "record")[:1], "")
			if !schema {
				return exit.UsageError(explain.Explain(e.Stdout, path, deep))
			}
			f, err := explain.Find(path)
			if err != nil {
				return exit.UsageError(err)
			}
			if strings.Contains(f.Path, ".") {
				return exit.UsageError(fmt.Errorf("--schema is of a whole file: want one of %s", strings.Join(explain.Kinds, ", ")))
			}
			text, err := explain.Text(f.Path)
			if err == nil {
				_, err = e.Stdout.Write(text)
			}
			return err
		},
		ValidArgsFunction: completePath,
	}
	c.Flags().BoolVar(&deep, "recursive", false, "name all fields below it")
	c.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of the files of a kind")
	console.MutuallyExclusive(c, "recursive", "schema")
	return c
}

// listKinds prints what there is to explain.
func listKinds(e *console.Console) error {
	rows := [][]string{{"KIND", "WHAT IT IS"}}
	for _, kind := range explain.Kinds {
		f, err := explain.Find(kind)
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(f.Description(), ". ")
		rows = append(rows, []string{kind, strings.TrimSuffix(first, ".") + "."})
	}
	return e.Table(console.Columns(e.Stdout), 1, rows)
}

// completePath offers the fields of what is written so far.
func completePath(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	path, _, below := cutLast(begun)
	if !below {
		return slices.Clone(explain.Kinds), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	f, err := explain.Find(path)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var offer []string
	for _, name := range f.Names() {
		offer = append(offer, f.Path+"."+name)
	}
	return offer, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// cutLast cuts a path at its last dot.
func cutLast(path string) (before, after string, found bool) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return path, "", false
	}
	return path[:i], path[i+1:], true
}
