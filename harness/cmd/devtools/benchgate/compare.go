package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// figure is one of a benchmark's.
type figure struct{ benchmark, unit string }

// side is one of the two that are compared, and what was measured of it.
type side struct {
	name     string
	root     string   // of its module
	programs []string // its benchmarks, one for each suite
	order    []figure
	values   map[figure][]float64
}

// add reads what a run of benchmarks has printed. An older commit may not have some of them.
func (s *side) add(printed string) error {
	if strings.Contains(printed, "--- SKIP") {
		return errors.New("a benchmark was skipped: what it needs is missing; make setup gets it")
	}
	if s.values == nil {
		s.values = map[figure][]float64{}
	}
	reader := benchfmt.NewReader(strings.NewReader(printed), s.name)
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.Result:
			for _, value := range record.Values {
				f := figure{record.Name.String(), value.Unit}
				if f.unit == "sec/op" { // what is measured has its own unit
					continue
				}
				if _, known := s.values[f]; !known {
					s.order = append(s.order, f)
				}
				s.values[f] = append(s.values[f], value.Value)
			}
		case *benchfmt.SyntaxError:
			return record
		}
	}
	return reader.Err()
}

const (
	// alpha is how probable it may be that two equal sides seem to differ. Of five and
	// five values all of one side must be above all of the other then.
	alpha = .01
	// least is the part of a figure that a difference must have to be reported.
	least = .05
)

// more has the figures that are the better the higher they are: how many times as fast as
// real time virtual time passes. Of all others less is better.
func (f figure) more() bool {
	// mutant: a higher factor is worse
	return strings.HasPrefix(f.unit, "x-")
}

// compare prints a table of all figures that both sides have, and counts those that are worse
// after than before, beyond noise.
func compare(before, after *side, out io.Writer) (worse int, err error) {
	if len(before.order) == 0 && before.programs != nil || len(after.order) == 0 {
		return 0, errors.New("no benchmark has run, so nothing is compared")
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "BENCHMARK\tFIGURE\t%s\t%s\tCHANGE\t\n", strings.ToUpper(before.name), strings.ToUpper(after.name))
	thresholds := benchmath.Thresholds{CompareAlpha: alpha}
	for _, f := range after.order {
		if before.values[f] == nil {
			fmt.Fprintf(table, "%s\t%s\t-\t\t\tnew\n", f.benchmark, f.unit)
			continue
		}
		old, now := benchmath.NewSample(before.values[f], &thresholds), benchmath.NewSample(after.values[f], &thresholds)
		was, is := benchmath.AssumeNothing.Summary(old, .95).Center, benchmath.AssumeNothing.Summary(now, .95).Center
		compared := benchmath.AssumeNothing.Compare(old, now)
		change := compared.FormatDelta(was, is)
		mark := ""
		// mutant: noise is worse
		if compared.P <= alpha && (is > was*(1+least) && !f.more() || is < was*(1-least) && f.more()) {
			mark = "worse"
			worse++
		}
		fmt.Fprintf(table, "%s\t%s\t%.4g\t%.4g\t%s (%s)\t%s\n", f.benchmark, f.unit, was, is, change, compared, mark)
	}
	return worse, table.Flush()
}
