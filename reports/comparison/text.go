package comparison

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"nodestorm/reports/wording"
	"nodestorm/sim/history/measure"
)

// Write writes the comparison as a table for each variant beside the first.
func (c Comparison) Write(w io.Writer) error {
	for nth, v := range c.Variants[1:] {
		fmt.Fprintf(w, "A is %s\nB is %s\n\n", c.Variants[0].Name, v.Name)
		rows := slices.DeleteFunc(slices.Clone(c.Rows), func(r Row) bool { return r.Variant != nth+1 })
		if err := writeTable(w, rows); err != nil {
			return err
		}
		for _, r := range rows {
			if r.Absent != "" {
				fmt.Fprintf(w, "%s: %s\n", r.Words, wording.Clean(r.Absent))
			}
		}
		fmt.Fprintln(w)
	}
	for _, line := range c.discarded() {
		fmt.Fprintln(w, line)
	}
	_, err := fmt.Fprintln(w, c.Summary())
	return err
}

// writeTable writes the rows that have a difference.
func writeTable(w io.Writer, rows []Row) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, r := range slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Absent != "" }) {
		if i == 0 {
			fmt.Fprintln(table, "MEASURE\tA\tB\tB - A (95 %)\tB IS")
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", r.Words, r.text(r.First), r.text(r.Other), r.interval(), r.verdict())
	}
	return table.Flush()
}

// Summary says in a sentence what the comparison is worth.
func (c Comparison) Summary() string {
	if !c.Decides() {
		return "Nothing is compared: no pair of runs counts."
	}
	pairs := 0
	for _, r := range c.Rows {
		pairs = max(pairs, r.Pairs)
	}
	text := fmt.Sprintf("%s of runs, %s. ", wording.Counted(pairs, "pair"), wording.Counted(c.Questions, "question"))
	if c.Differs() {
		text += "What is certain allows for all questions: if nothing differed, any would be claimed in at most 5 of 100 comparisons."
	} else {
		text += "No difference is certain."
	}
	if least := Fewest(c.Questions); pairs < least {
		text += fmt.Sprintf(" None can be with so few: want %d pairs, or fewer measures.", least)
	}
	return text
}

// interval is the difference with its interval.
func (r Row) interval() string {
	if r.Low == nil {
		return fmt.Sprintf("%s (too few pairs)", r.signed(r.Difference))
	}
	return fmt.Sprintf("%s (%s to %s)", r.signed(r.Difference), r.signed(*r.Low), r.signed(*r.High))
}

func (r Row) text(number float64) string { return measure.Value{Unit: r.Unit, Value: number}.String() }

// signed is a number with its sign. Between two counts there are halves.
func (r Row) signed(number float64) string {
	text := r.text(math.Abs(number))
	if half := math.Abs(number); r.Unit == measure.Count && half != math.Trunc(half) {
		text = fmt.Sprintf("%.1f", half)
	}
	switch {
	case text == r.text(0): // it rounds to that
		return text
	case number < 0:
		return "-" + text
	}
	return "+" + text
}
