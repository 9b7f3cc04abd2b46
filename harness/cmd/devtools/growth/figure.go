package main

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// numbered is the name of a benchmark that ends in a number, without processors:
// "Growth/nodes=1000" or "Write/1000000".
var numbered = regexp.MustCompile(`^(.*?)/(?:([^/=]+)=)?([0-9]+)$`)

// point is what a benchmark has measured, the median of its runs.
type point struct{ X, Y float64 }

// figure is what grows: a unit over the number in a benchmark's name.
type figure struct {
	Benchmark, Of, Unit string
	Points              []point // by X, at least two
}

// read reads benchmarks, of which each number may come several times.
func read(in io.Reader) ([]figure, error) {
	type key struct{ benchmark, of, unit string }
	var order []key
	values := map[key]map[float64][]float64{}
	reader := benchfmt.NewReader(in, "standard input")
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.Result:
			name := string(record.Name.Full())
			if base, processors := record.Name.Parts(); len(processors) > 0 && string(processors[len(processors)-1][:1]) == "-" {
				name = string(base)
				for _, part := range processors[:len(processors)-1] {
					name += string(part)
				}
			}
			match := numbered.FindStringSubmatch(name)
			if match == nil {
				continue
			}
			x, err := strconv.ParseFloat(match[3], 64)
			if err != nil {
				return nil, err
			}
			for _, value := range record.Values {
				if value.Unit == "sec/op" { // what is measured has its own unit
					continue
				}
				k := key{match[1], cmp.Or(match[2], "size"), value.Unit}
				if values[k] == nil {
					values[k] = map[float64][]float64{}
					order = append(order, k)
				}
				values[k][x] = append(values[k][x], value.Value)
			}
		case *benchfmt.SyntaxError:
			return nil, record
		}
	}
	if err := reader.Err(); err != nil {
		return nil, err
	}
	var figures []figure
	for _, k := range order {
		f := figure{Benchmark: k.benchmark, Of: k.of, Unit: k.unit}
		for x, ys := range values[k] {
			sample := benchmath.NewSample(ys, &benchmath.DefaultThresholds)
			f.Points = append(f.Points, point{x, benchmath.AssumeNothing.Summary(sample, .95).Center})
		}
		slices.SortFunc(f.Points, func(a, b point) int { return cmp.Compare(a.X, b.X) })
		if len(f.Points) > 1 {
			figures = append(figures, f)
		}
	}
	return figures, nil
}

// slope is by how much the figure grows with one more, from one point to another.
func slope(from, to point) float64 { return (to.Y - from.Y) / (to.X - from.X) }

// Slope is the one from the first point to the last, Last the one from the last but one.
func (f figure) Slope() float64 { return slope(f.Points[0], f.Points[len(f.Points)-1]) }

// Last is the slope at the end.
func (f figure) Last() float64 {
	// mutant: a cost's growth at the end is that of all
	return slope(f.Points[len(f.Points)-2], f.Points[len(f.Points)-1])
}

// writeTable prints the figures, as a table in Markdown.
func writeTable(out io.Writer, figures []figure) error {
	fmt.Fprintln(out, "| over | figure | from | to | slope | slope at the end |\n|---|---|---|---|---|---|")
	for _, f := range figures {
		first, last := f.Points[0], f.Points[len(f.Points)-1]
		if _, err := fmt.Fprintf(out, "| %s | %s | %.4g at %g | %.4g at %g | %.3g | %.3g |\n", f.Of, f.Unit, first.Y, first.X, last.Y, last.X,
			f.Slope(), f.Last()); err != nil {
			return err
		}
	}
	return nil
}
