package comparison

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"nodestorm/reports/wording"
	"nodestorm/sim/history/measure"
)

// Side is a variant beside the first, A and B in texts.
type Side struct {
	A, B string
	// Rows have a difference, and Absent have none.
	Rows, Absent []Row
	Divergence
}

// Sides are those of all variants but the first.
func (c Comparison) Sides() (all []Side) {
	for nth, v := range c.Variants[1:] {
		s := Side{A: wording.Clean(c.Variants[0].Name), B: wording.Clean(v.Name), Divergence: c.Divergences[nth]}
		for _, r := range c.Rows {
			switch {
			case r.Variant != nth+1:
			case r.Absent != "":
				s.Absent = append(s.Absent, r)
			default:
				s.Rows = append(s.Rows, r)
			}
		}
		all = append(all, s)
	}
	return all
}

// head is that of the table of a side.
var head = []string{"measure", "A", "B", "B - A (95 %)", "B is"}

// Cells are those of a row in that table.
func (r Row) Cells() []string {
	return []string{r.Words, r.text(r.First), r.text(r.Other), r.interval(), r.verdict()}
}

// Reason says why there is no difference.
func (r Row) Reason() string { return r.Words + ": " + wording.Clean(r.Absent) }

// Text writes the comparison as a table for each variant beside the first.
func (c Comparison) Text(w io.Writer) error {
	for _, s := range c.Sides() {
		fmt.Fprintf(w, "A is %s\nB is %s\n\n", s.A, s.B)
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for i, r := range s.Rows {
			if i == 0 {
				fmt.Fprintln(table, strings.ToUpper(strings.Join(head, "\t")))
			}
			fmt.Fprintln(table, strings.Join(r.Cells(), "\t"))
		}
		if err := table.Flush(); err != nil {
			return err
		}
		for _, r := range s.Absent {
			fmt.Fprintln(w, r.Reason())
		}
		if err := s.Divergence.text(w); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	for _, line := range c.Discarded() {
		fmt.Fprintln(w, line)
	}
	_, err := fmt.Fprintln(w, c.Summary())
	return err
}

// Markdown is a text for an issue.
func (c Comparison) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", wording.Markdown(c.Summary()))
	for _, s := range c.Sides() {
		fmt.Fprintf(&b, "\nA is %s, B is %s.\n", wording.MarkdownName(s.A), wording.MarkdownName(s.B))
		for i, r := range s.Rows {
			if i == 0 {
				fmt.Fprintf(&b, "\n| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(r.Cells(), " | "))
		}
		for _, r := range s.Absent {
			fmt.Fprintf(&b, "\n- %s", wording.Markdown(r.Reason()))
		}
		b.WriteString("\n")
		s.Divergence.markdown(&b)
	}
	for _, line := range c.Discarded() {
		fmt.Fprintf(&b, "\n- %s", wording.Markdown(line))
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
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

func (r Row) text(number float64) string { return inUnit(r.Unit, number) }

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
