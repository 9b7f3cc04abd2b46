package comparison

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"nodestorm/reports/story"
	"nodestorm/reports/wording"
)

// Course is how a run went while its workload did: times count from the start of that.
type Course struct {
	Lasts     time.Duration
	Decisions []story.Decision
	Curves    []story.Curve
}

// CourseOf is that of a run whose workload began and ended then, counted from the start of the run.
func CourseOf(s *story.Story, begun, ended time.Duration) *Course {
	c := &Course{Lasts: ended - begun}
	for _, d := range s.Decisions {
		// mutant: what was decided before the workload is compared
		if d.At >= begun && d.At <= ended {
			c.Decisions = append(c.Decisions, story.Decision{At: d.At - begun, What: d.What})
		}
	}
	for _, of := range s.Curves {
		if !slices.Contains(drawn, of.Name) {
			continue
		}
		of.Points = slices.Clone(of.Points)
		for i := range of.Points {
			of.Points[i].At -= begun
		}
		c.Curves = append(c.Curves, of)
	}
	return c
}

// Divergence is where a variant first decides differently from the first one. Runs of one seed play the same workload.
type Divergence struct {
	// Variant is the one that is compared with the first, by its place in the list, from 1 on.
	Variant int `json:"variant"`
	// Pairs is how many pairs of runs were looked at, and Differ how many of them have different decisions.
	Pairs  int `json:"pairs"`
	Differ int `json:"differ"`
	// Seed is the lowest one of those, and Rows are its decisions around the first difference.
	Seed uint64        `json:"seed,omitempty"`
	Rows []DecisionRow `json:"decisions,omitempty"`
}

// DecisionRow are the decisions of both runs at one place in their lists. What is empty where a run has no more.
type DecisionRow struct {
	At   [2]time.Duration `json:"at"` // nanoseconds since the start of the workload
	What [2]string        `json:"what"`
	// First marks the first difference.
	First bool `json:"first,omitempty"`
}

// Cells are those of a row in a table.
func (r DecisionRow) Cells() (cells []string) {
	for n, what := range r.What {
		if what == "" {
			cells = append(cells, "", "–")
			continue
		}
		cells = append(cells, r.At[n].Round(100*time.Millisecond).String(), wording.Clean(what))
	}
	return cells
}

// What is shown around the first difference.
const (
	decisionsBefore = 2
	decisionsAfter  = 4
)

// diverge looks at all pairs of a variant and the first one.
func diverge(first, other Variant, nth int) Divergence {
	d := Divergence{Variant: nth}
	for _, one := range first.Runs {
		i := slices.IndexFunc(other.Runs, func(r Run) bool { return r.Seed == one.Seed })
		if i < 0 || one.Course == nil || other.Runs[i].Course == nil {
			continue
		}
		a, b := one.Course, other.Runs[i].Course
		d.Pairs++
		at := story.FirstDifference(story.Course{Decisions: a.Decisions, End: a.Lasts}, story.Course{Decisions: b.Decisions, End: b.Lasts})
		if at < 0 {
			continue
		}
		d.Differ++
		// mutant: the pair that is shown is the first in the list
		if d.Differ == 1 || one.Seed < d.Seed {
			d.Seed, d.Rows = one.Seed, around(a.Decisions, b.Decisions, at)
		}
	}
	return d
}

// around are the decisions of both lists around a place.
func around(a, b []story.Decision, at int) (rows []DecisionRow) {
	for i := max(0, at-decisionsBefore); i <= at+decisionsAfter && i < max(len(a), len(b)); i++ {
		row := DecisionRow{First: i == at}
		for n, list := range [][]story.Decision{a, b} {
			if i < len(list) {
				row.At[n], row.What[n] = list[i].At, list[i].What
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// Summary says how many pairs decide differently, and where what follows is from.
func (d Divergence) Summary() string {
	switch {
	case d.Pairs == 0:
		return ""
	case d.Differ == 0:
		return fmt.Sprintf("Both decide alike in %s of runs.", wording.Counted(d.Pairs, "pair"))
	}
	return fmt.Sprintf("Both decide differently in %d of %s of runs. With the seed %d they do so first at ≠:", d.Differ,
		wording.Counted(d.Pairs, "pair"), d.Seed)
}

// decisionHead is that of the table of decisions.
var decisionHead = []string{"", "A", "", "B", ""}

// marked are the cells of a row behind its mark.
func (r DecisionRow) marked() []string {
	mark := ""
	if r.First {
		mark = "≠"
	}
	return append([]string{mark}, r.Cells()...)
}

// text writes what differs as a table.
func (d Divergence) text(w io.Writer) error {
	if d.Pairs == 0 {
		return nil
	}
	fmt.Fprintf(w, "\n%s\n", d.Summary())
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range d.Rows {
		fmt.Fprintln(table, strings.TrimRight(strings.Join(r.marked(), "\t"), "\t"))
	}
	return table.Flush()
}

func (d Divergence) markdown(b *strings.Builder) {
	if d.Pairs == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", wording.Markdown(d.Summary()))
	for i, r := range d.Rows {
		if i == 0 {
			fmt.Fprintf(b, "\n| %s |\n|%s\n", strings.Join(decisionHead, " | "), strings.Repeat("---|", len(decisionHead)))
		}
		cells := r.marked()
		for i := range cells {
			cells[i] = wording.Markdown(cells[i])
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
}
