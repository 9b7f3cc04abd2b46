package main

import (
	"fmt"
	"strings"
	"testing"
)

// measured is a side on which a benchmark has printed these values, one a run.
func measured(t *testing.T, unit string, values ...float64) *side {
	t.Helper()
	s := &side{name: "s"}
	for _, value := range values {
		if err := s.add(fmt.Sprintf("BenchmarkX-2 \t 1\t 5 ns/op\t %g %s\nPASS", value, unit)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestCompare(t *testing.T) {
	tests := map[string]struct {
		unit          string
		before, after []float64
		worse         int
		says          string
	}{
		"the same":                  {"s-ready/op", []float64{2, 2.1, 2.2, 2.3, 2.4}, []float64{2.05, 2.15, 2.2, 2.25, 2.35}, 0, "~"},
		"slower":                    {"s-ready/op", []float64{2, 2.1, 2.2, 2.3, 2.4}, []float64{2.5, 2.6, 2.7, 2.8, 2.9}, 1, "+22.73%"},
		"faster":                    {"s-ready/op", []float64{2.5, 2.6, 2.7, 2.8, 2.9}, []float64{2, 2.1, 2.2, 2.3, 2.4}, 0, "-18.52%"},
		"slower, but by too little": {"s-ready/op", []float64{2, 2.001, 2.002, 2.003, 2.004}, []float64{2.01, 2.011, 2.012, 2.013, 2.014}, 0, "+0.50%"},
		"slower once, and else not": {"s-ready/op", []float64{2, 2.1, 2.2, 2.3, 2.4}, []float64{2.05, 2.15, 2.2, 2.25, 29}, 0, "~"},
		"slower, within the noise":  {"s-ready/op", []float64{2, 2.1, 2.2, 2.5, 2.9}, []float64{2.05, 2.3, 2.4, 2.6, 2.95}, 0, "~"},
		"a lower factor":            {"x-mean", []float64{190, 191, 192, 193, 194}, []float64{150, 151, 152, 153, 154}, 1, "-20.83%"},
		"a higher factor":           {"x-mean", []float64{150, 151, 152, 153, 154}, []float64{190, 191, 192, 193, 194}, 0, "+26.32%"},
		"exact, and larger":         {"B/record", []float64{300, 300, 300, 300, 300}, []float64{400, 400, 400, 400, 400}, 1, "+33.33%"},
		"exact, and equal":          {"B/record", []float64{300, 300, 300, 300, 300}, []float64{300, 300, 300, 300, 300}, 0, "~"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			worse, err := compare(measured(t, test.unit, test.before...), measured(t, test.unit, test.after...), &out)
			if err != nil || worse != test.worse || !strings.Contains(out.String(), test.says) || strings.Contains(out.String(), "worse") != (worse > 0) {
				t.Errorf("%d worse, want %d; want %q in\n%s(%v)", worse, test.worse, test.says, &out, err)
			}
		})
	}
}

func TestNew(t *testing.T) {
	var out strings.Builder
	worse, err := compare(&side{name: "before"}, measured(t, "s-verdict", 1, 2, 3, 4, 5), &out)
	if err != nil || worse != 0 || !strings.Contains(out.String(), "new") {
		t.Errorf("%d worse, %v:\n%s", worse, err, &out)
	}
}

func TestNothingMeasured(t *testing.T) {
	if err := new(side).add("--- SKIP: BenchmarkVerdict\nPASS\n"); err == nil || !strings.Contains(err.Error(), "make setup") {
		t.Errorf("%v", err)
	}
}

func TestNothingRun(t *testing.T) {
	if _, err := compare(&side{name: "before"}, &side{name: "after"}, new(strings.Builder)); err == nil {
		t.Error("nothing is as good as before")
	}
}
