package comparison_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"nodestorm/reports/comparison"
	"nodestorm/reports/reporttest"
	"nodestorm/sim/history/measure"
)

// runs are six of a variant, with that median of cost and of waiting.
func runs(name string, cost measure.Value, waited float64) (v comparison.Variant) {
	v.Name = name
	for seed := range uint64(7) {
		of := cost
		if of.Absent == "" {
			of.Value += float64(seed) - 3
		}
		v.Runs = append(v.Runs, comparison.Run{Seed: seed, Values: measure.Values{
			measure.Cost: of, measure.PodWaitP95: {Unit: measure.Seconds, Value: waited + float64(seed) - 3}}})
	}
	v.Runs = append(v.Runs, comparison.Run{Seed: 9, Why: "timers ran late"})
	return v
}

func euros(n float64) measure.Value { return measure.Value{Unit: "EUR", Value: n} }

// A variant is on the front if no other costs as little and has pods wait as short. What has no cost is named, and has no dot.
func TestPicture(t *testing.T) {
	c := comparison.Compare([]comparison.Variant{
		runs("cheap", euros(10), 90), runs("fast", euros(40), 20), runs("slow", euros(40), 60), runs("both\x1b<b>", euros(25), 40),
		runs("unknown", measure.Value{Absent: "the history has no price of big"}, 1), runs("dollars", measure.Value{Unit: "USD", Value: 1}, 1),
		{Name: "none", Runs: []comparison.Run{{Seed: 1, Why: "it is inconclusive"}}},
	}, nil)
	p := c.Picture()
	var beaten []string
	for _, d := range p.Dots {
		if d.Beaten {
			beaten = append(beaten, d.Name)
		}
		if d.X < 0 || d.X > p.Width || d.Y < 0 || d.Y > p.Height {
			t.Errorf("%+v is outside", d)
		}
	}
	if len(p.Dots) != 4 || !slices.Equal(beaten, []string{"slow"}) || len(strings.Fields(p.Front)) != 3 {
		t.Errorf("%+v", p)
	}
	cheap, fast := p.Dots[0], p.Dots[1]
	if cheap.X >= fast.X || cheap.Y >= fast.Y || cheap.Cost != "10.00 EUR" || fast.Waited != "20s" || fast.X != p.Width-p.Margin || cheap.Y != p.Margin || p.Most != [2]string{"40.00 EUR", "1m30s"} {
		t.Errorf("%+v, %+v, up to %v", cheap, fast, p.Most)
	}
	want := []string{"unknown is not in the picture: the history has no price of big", "dollars is not in the picture: it is in USD, and others are in EUR",
		"none is not in the picture: none of its runs counts"}
	if !slices.Equal(p.Absent, want) {
		t.Errorf("%q, want %q", p.Absent, want)
	}
	if one := comparison.Compare([]comparison.Variant{runs("a", euros(1), 1), {Name: "b"}}, nil).Picture(); one.Dots != nil || one.Front != "" {
		t.Errorf("of one variant: %+v", one)
	}
	if same := comparison.Compare([]comparison.Variant{runs("a", euros(1), 1), runs("b", euros(1), 1)}, nil).Picture(); len(strings.Fields(same.Front)) != 2 {
		t.Errorf("of two that are alike: %+v", same)
	}
}

// Page and text say the same, and nothing that others wrote is obeyed.
func TestFormats(t *testing.T) {
	c := comparison.Compare([]comparison.Variant{runs("cheap", euros(10), 90), runs("both\x1b<b>", euros(25), 40),
		runs("unknown", measure.Value{Absent: "the history has no price of <b>big"}, 1)}, []string{measure.Cost, measure.PodWaitP95})
	var page bytes.Buffer
	if err := c.Write(&page, "html"); err != nil {
		t.Fatal(err)
	}
	inPage, err := reporttest.HTML(page.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	inText, err := reporttest.Markdown([]byte(c.Markdown()))
	if err != nil {
		t.Fatal(err)
	}
	for _, seen := range []reporttest.Seen{inPage, inText} {
		if !slices.ContainsFunc(seen.Rows, func(row []string) bool {
			return slices.Equal(row, []string{"cost of the cluster", "10.00 EUR", "25.00 EUR", "+15.00 EUR (+15.00 EUR to +15.00 EUR)", "worse, 95.3 % certain"})
		}) {
			t.Errorf("a row is missing among %q", seen.Rows)
		}
		for _, want := range []string{`both\x1b<b>`, "7 pairs of runs, 3 questions.", "the history has no price of <b>big", "cheap with the seed 9 does not count: timers ran late"} {
			if !strings.Contains(seen.Text, want) {
				t.Errorf("%q is missing in %s", want, seen.Text)
			}
		}
		if seen.Elements["b"] > 0 || seen.Elements["script"] > 0 {
			t.Errorf("what others wrote is obeyed: %v", seen.Elements)
		}
	}
	if inPage.Elements["circle"] != 2 || inPage.Elements["polyline"] != 1 {
		t.Errorf("no picture: %v", inPage.Elements)
	}
}
