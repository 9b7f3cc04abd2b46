// Command growth reads what benchmarks have printed whose names end in a number, such as
// Growth/nodes=1000 or Write/1000000, and says how their figures grow with it:
//
//	go test ./bench -run '^$' -bench Growth -benchtime 1x | go run ./growth -out growth.html
//
// It prints a table in Markdown (the slope from the smallest to the largest number, and from the
// last but one to the largest; where the second is much more than the first, it grows faster than
// linearly) and draws a page with a plot of each figure. Exit status: 0, 2 nothing was read.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", "reports/out/growth.html", "the `file` for the plots")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *out); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(2)
	}
}

func run(in io.Reader, table io.Writer, page string) error {
	figures, err := read(in)
	if err != nil {
		return err
	}
	if len(figures) == 0 {
		return errors.New("no benchmark has printed figures for two numbers in its name, such as Growth/nodes=1000")
	}
	if err := writeTable(table, figures); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(page), 0o755); err != nil {
		return err
	}
	file, err := os.Create(page)
	if err != nil {
		return err
	}
	if err := errors.Join(plots.Execute(file, figures), file.Close()); err != nil {
		return fmt.Errorf("drawing %s: %w", page, err)
	}
	_, err = fmt.Fprintf(table, "\n%s\n", page)
	return err
}
