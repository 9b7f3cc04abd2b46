package comparison_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"nodestorm/reports/comparison"
	"nodestorm/reports/interval"
	"nodestorm/sim/history/measure"
)

// world draws what a run comes to: the seed has a part in it, which both variants share, and each run has its own.
func world(random *rand.Rand, seed uint64, delay float64) measure.Values {
	shared := rand.New(rand.NewPCG(seed, 1))
	v := measure.Values{}
	for _, m := range measure.All() {
		unit := m.Unit
		if unit == measure.Money {
			unit = "EUR"
		}
		v[m.Name] = measure.Value{Unit: unit, Value: 100*shared.Float64() + 5*random.ExpFloat64()}
	}
	for _, name := range []string{measure.PodWaitP50, measure.PodWaitP95, measure.PodWaitMax} {
		of := v[name]
		of.Value += delay
		v[name] = of
	}
	return v
}

func variants(random *rand.Rand, pairs int, delay float64) []comparison.Variant {
	a, b := comparison.Variant{Name: "a"}, comparison.Variant{Name: "b"}
	for seed := range uint64(pairs) {
		a.Runs = append(a.Runs, comparison.Run{Seed: seed, Values: world(random, seed, 0)})
		b.Runs = append(b.Runs, comparison.Run{Seed: seed, Values: world(random, seed, delay)})
	}
	return []comparison.Variant{a, b}
}

// A variant that is compared with itself differs in at most 5 of 100 comparisons, and one with a delay of a minute is found.
func TestTruth(t *testing.T) {
	const comparisons = 400
	random := rand.New(rand.NewPCG(43, 1))
	claimed, perhaps, found := 0, 0, 0
	for range comparisons {
		c := comparison.Compare(variants(random, 10, 0), nil)
		if c.Differs() {
			claimed++
		}
		if slices.ContainsFunc(c.Rows, func(r comparison.Row) bool { return r.Claim == comparison.Perhaps }) {
			perhaps++
		}
		worse := 0
		for _, r := range comparison.Compare(variants(random, 10, 60), nil).Rows {
			if r.Claim == comparison.Worse && strings.HasPrefix(r.Measure, "podWait") {
				worse++
			}
		}
		if worse == 3 {
			found++
		}
	}
	t.Logf("of %d comparisons with itself %d claim a difference, %d see one that is not certain; %d of %d find the delay",
		comparisons, claimed, perhaps, found, comparisons)
	if claimed > comparisons*5/100 {
		t.Errorf("%d of %d comparisons of a variant with itself find a difference", claimed, comparisons)
	}
	if found < comparisons*95/100 {
		t.Errorf("%d of %d find the delay of a minute", found, comparisons)
	}
}

// What a run lacks, what is in two currencies and what does not count is said, and has no number.
func TestAbsent(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	all := variants(random, 8, 0)
	all[1].Runs[2].Values[measure.Cost] = measure.Value{Absent: "the history has no price of big"}
	all[0].Runs[3].Values[measure.NodeHours] = measure.Value{Unit: "x", Value: 1}
	all[1].Runs[7] = comparison.Run{Seed: 7, Why: "timers ran late"}
	c := comparison.Compare(all, nil)
	row := func(name string) comparison.Row {
		return c.Rows[slices.IndexFunc(c.Rows, func(r comparison.Row) bool { return r.Measure == name })]
	}
	if r := row(measure.Cost); r.Absent != "not known of b with the seed 2: the history has no price of big" || r.Claim != comparison.Unknown {
		t.Errorf("%+v", r)
	}
	if r := row(measure.NodeHours); r.Absent != "it is in x and in h" {
		t.Errorf("%+v", r)
	}
	if r := row(measure.Evictions); r.Pairs != 7 || r.Absent != "" {
		t.Errorf("%+v", r)
	}
	var text bytes.Buffer
	if err := c.Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"A is a\nB is b\n", "cost of the cluster: not known of b with the seed 2", "b with the seed 7 does not count: timers ran late",
		"7 pairs of runs, 19 questions.", "want 10 pairs, or fewer measures"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &text)
		}
	}
	none := comparison.Compare([]comparison.Variant{{Name: "a"}, {Name: "b"}}, []string{measure.Cost})
	if none.Decides() || none.Rows[0].Absent != "no pair of runs counts" || !strings.Contains(none.Summary(), "Nothing is compared") {
		t.Errorf("%+v", none)
	}
}

// More of what people pay for is worse, and more of what they use of it is better.
func TestClaims(t *testing.T) {
	for name, want := range map[string]comparison.Claim{
		measure.Cost: comparison.Worse, measure.CPURequested: comparison.Better, measure.NodesRemoved: comparison.More,
	} {
		var all []comparison.Variant
		for of := range 2 {
			v := comparison.Variant{Name: fmt.Sprint(of)}
			for seed := range uint64(6) {
				v.Runs = append(v.Runs, comparison.Run{Seed: seed, Values: measure.Values{name: {Unit: "EUR", Value: float64(of) + float64(seed)}}})
			}
			all = append(all, v)
		}
		c := comparison.Compare(all, []string{name})
		if r := c.Rows[0]; r.Claim != want || r.Difference != 1 || *r.Low != 1 || *r.High != 1 {
			t.Errorf("%s: %+v, want %s", name, r, want)
		}
	}
	for more, want := range map[float64]comparison.Claim{0.2: comparison.Small, -0.2: comparison.Small, 0.3: comparison.Worse, -0.3: comparison.Better} {
		a, b := comparison.Variant{}, comparison.Variant{}
		for seed := range uint64(6) {
			of := func(s float64) measure.Values {
				return measure.Values{measure.PodWaitP95: {Unit: measure.Seconds, Value: s}}
			}
			a.Runs = append(a.Runs, comparison.Run{Seed: seed, Values: of(30)})
			b.Runs = append(b.Runs, comparison.Run{Seed: seed, Values: of(30 + more)})
		}
		if c := comparison.Compare([]comparison.Variant{a, b}, []string{measure.PodWaitP95}); c.Rows[0].Claim != want || c.Differs() == (want == comparison.Small) {
			t.Errorf("%g s more: %+v, want %s", more, c.Rows[0], want)
		}
	}
	few := variants(rand.New(rand.NewPCG(1, 1)), interval.FewestPairs-1, 60)
	for _, r := range comparison.Compare(few, nil).Rows {
		if r.Claim != comparison.Unknown || r.Low != nil {
			t.Errorf("of %d pairs: %+v", r.Pairs, r)
		}
	}
	if few := comparison.Fewest(20); few != 10 || comparison.Fewest(1) != 6 {
		t.Errorf("among twenty questions %d pairs are needed", few)
	}
}
