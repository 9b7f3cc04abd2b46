package comparison_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/reports/comparison"
	"nodestorm/reports/reporttest"
	"nodestorm/reports/story"
)

// course is one of ten minutes: a decision each minute, and Nodes that come with them.
func course(decisions ...string) *comparison.Course {
	s := &story.Story{Decisions: []story.Decision{{At: time.Second, What: "create NodeClaim 0"}}}
	nodes := story.Curve{Name: story.NodesAll, Points: []story.Point{{At: 0, Value: 1}}}
	for i, what := range decisions {
		at := 10*time.Minute + time.Duration(i)*time.Minute
		s.Decisions = append(s.Decisions, story.Decision{At: at, What: what})
		nodes.Points = append(nodes.Points, story.Point{At: at, Value: float64(i + 2)})
	}
	s.Curves = []story.Curve{{Name: story.Lag, Points: []story.Point{{At: 0, Value: 1000}}}, nodes}
	return comparison.CourseOf(s, 10*time.Minute, 20*time.Minute)
}

func variant(name string, courses ...*comparison.Course) comparison.Variant {
	v := comparison.Variant{Name: name}
	for i, c := range courses {
		v.Runs = append(v.Runs, comparison.Run{Seed: uint64(len(courses) - i), Course: c})
	}
	return v
}

// Of the pairs that decide differently the one with the lowest seed is shown, with what was decided before and after.
func TestDivergence(t *testing.T) {
	same := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}
	other := slices.Clone(same)
	other[3] = "x\x1b"
	c := comparison.Compare([]comparison.Variant{
		variant("A", course(same...), course(same...), course(same...), nil),
		variant("other", course("y"), course(other...), course(same...), course("z")),
		variant("alike", course(same...), course(same...)), variant("none"),
	}, nil)
	d := c.Divergences[0]
	if d.Variant != 1 || d.Pairs != 3 || d.Differ != 2 || d.Seed != 3 {
		t.Errorf("%+v", d)
	}
	if want := "Both decide differently in 2 of 3 pairs of runs. With the seed 3 they do so first at ≠:"; d.Summary() != want {
		t.Errorf("%q, want %q", d.Summary(), want)
	}
	var rows []string
	for _, r := range d.Rows {
		rows = append(rows, strings.Join(r.Cells(), " "))
		if r.First != (r.What[0] == "d") {
			t.Errorf("the first difference: %+v", r)
		}
	}
	if want := []string{`1m0s b 1m0s b`, `2m0s c 2m0s c`, `3m0s d 3m0s x\x1b`, "4m0s e 4m0s e", "5m0s f 5m0s f", "6m0s g 6m0s g", "7m0s h 7m0s h"}; !slices.Equal(rows, want) {
		t.Errorf("%q, want %q", rows, want)
	}
	if text := c.Divergences[1].Summary(); text != "Both decide alike in 1 pair of runs." {
		t.Error(text)
	}
	if none := c.Divergences[2]; none.Pairs != 0 || none.Summary() != "" || none.Rows != nil {
		t.Errorf("%+v", none)
	}
	if short := comparison.Compare([]comparison.Variant{variant("A", course(same...)), variant("B", course("q"))}, nil).Divergences[0]; !slices.Equal(
		short.Rows[1].Cells(), []string{"1m0s", "b", "", "–"}) || !short.Rows[0].First {
		t.Errorf("of a shorter list: %+v", short.Rows)
	}
	for _, format := range []string{"html", "md", "text"} {
		var text bytes.Buffer
		if format == "text" {
			if err := c.Text(&text); err != nil {
				t.Fatal(err)
			}
			if want := "≠  3m0s  d  3m0s  x\\x1b\n"; !strings.Contains(text.String(), want) {
				t.Errorf("%q is missing in\n%s", want, &text)
			}
			continue
		}
		if err := c.Write(&text, format); err != nil {
			t.Fatal(err)
		}
		seen, err := map[string]func([]byte) (reporttest.Seen, error){"html": reporttest.HTML, "md": reporttest.Markdown}[format](text.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(seen.Rows, func(row []string) bool { return slices.Equal(row, []string{"≠", "3m0s", "d", "3m0s", `x\x1b`}) }) {
			t.Errorf("%s: the first difference is missing among %q", format, seen.Rows)
		}
	}
}

// The curves of all variants have one scale; a run without a course has none, and what is not about machines or pods is not drawn.
func TestCurves(t *testing.T) {
	c := comparison.Compare([]comparison.Variant{variant("one", course("a"), course("a", "b"), course("a", "b", "c")), variant("none", nil),
		variant("four", course("a", "b", "c", "d"))}, nil)
	curves := c.Curves()
	if len(curves) != 1 || curves[0].Name != "Nodes" || curves[0].Most != "5" || curves[0].Lasts != "10m0s" || len(curves[0].Strips) != 2 {
		t.Fatalf("%+v", curves)
	}
	ends := func(points string) string { return points[strings.LastIndex(strings.TrimSpace(points), " ")+1:] }
	one, four := curves[0].Strips[0], curves[0].Strips[1]
	if one.Number != 1 || four.Number != 3 || ends(one.Median) != "560,29.2 " || ends(four.Median) != "560,2.0 " {
		t.Errorf("%q and %q end the lines of %d and %d", ends(one.Median), ends(four.Median), one.Number, four.Number)
	}
	for _, want := range []string{"560,15.6 ", "560,42.8 ", "0,42.8 "} { // the most and the least at the end, and where all begin
		if !strings.Contains(one.Range, want) {
			t.Errorf("%q is missing in %s", want, one.Range)
		}
	}
	var page bytes.Buffer
	if err := c.HTML(&page); err != nil {
		t.Fatal(err)
	}
	if seen, err := reporttest.HTML(page.Bytes()); err != nil || seen.Elements["polygon"] != 2 || !strings.Contains(seen.Text, "Nodes, up to 5") {
		t.Errorf("%v, %v", err, seen.Elements)
	}
}
