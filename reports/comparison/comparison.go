// Package comparison says which of several variants is better, and how certain that is: of measures of paired runs, which
// begin with the same draws. It is pure, and knows of no file: runs that are played and runs that are stored are compared
// alike. It makes up nothing: a measure that a run lacks has no difference, but a reason.
package comparison

import (
	"fmt"
	"math"
	"slices"

	"nodestorm/reports/interval"
	"nodestorm/reports/wording"
	"nodestorm/sim/history/measure"
	"nodestorm/sim/time/lag"
)

// Certain is how sure a claim is at least.
const Certain = 0.95

// Run is what one run of a variant came to.
type Run struct {
	// Seed is what the run draws from: runs of the same one are a pair.
	Seed uint64 `json:"seed"`
	Dir  string `json:"run,omitempty"`
	// Values are its measures; nil where it does not count.
	Values measure.Values `json:"measures,omitempty"`
	// Why is why it does not count, empty if it does.
	Why string `json:"why,omitempty"`
	// Course is how it went, nil where it does not count.
	Course *Course `json:"-"`
}

// Variant is one of those that are compared.
type Variant struct {
	Name string `json:"name"`
	// Swept are the values that sweeps have set, in the order of the sweeps.
	Swept []Setting `json:"swept,omitempty"`
	Runs  []Run     `json:"runs"`
}

// Comparison is that of variants with the first of them.
type Comparison struct {
	// Workload is what they played; empty if that is not known.
	Workload string    `json:"workload,omitempty"`
	Variants []Variant `json:"variants"`
	Rows     []Row     `json:"rows"`
	// Divergences are where variants decide differently from the first, one for each of the others.
	Divergences []Divergence `json:"divergences"`
	// Questions is how many differences were looked at: the claims allow for so many.
	Questions int `json:"questions"`
}

// Row is a measure of a variant, beside that of the first one.
type Row struct {
	Measure string       `json:"measure"`
	Words   string       `json:"words"`
	Unit    measure.Unit `json:"unit,omitempty"`
	// Variant is the one that is compared with the first, by its place in the list, from 1 on.
	Variant int `json:"variant"`
	// Pairs is how many pairs of runs count.
	Pairs int `json:"pairs"`
	// Absent is why there is no difference to state, empty if there is one.
	Absent string `json:"absent,omitempty"`
	// First and Other are the medians of both, of the pairs that count.
	First float64 `json:"first"`
	Other float64 `json:"other"`
	// Difference is how much more the other has, Low and High its interval at 95 %; both are missing where there are too few pairs.
	Difference float64  `json:"difference"`
	Low        *float64 `json:"low,omitempty"`
	High       *float64 `json:"high,omitempty"`
	// Alone is how often at least as much would be seen by chance if this were the only question, Among among all of them.
	Alone float64 `json:"alone"`
	Among float64 `json:"among"`
	// Claim is what can be said.
	Claim Claim `json:"claim"`
}

// Claim is what can be said of a difference.
type Claim string

// The claims. Unknown is what too few pairs say, Small what is less than the clock of a run that counts may be late, and
// Perhaps says that it would be certain if nothing else had been looked at.
const (
	None    Claim = "no difference seen"
	Small   Claim = "too small to say"
	Perhaps Claim = "perhaps"
	Better  Claim = "better"
	Worse   Claim = "worse"
	More    Claim = "more"
	Less    Claim = "less"
	Unknown Claim = "not known"
)

// timed are the measures that one timer can have been late for: a machine that is busier is later, and always in one
// direction.
var timed = []string{
	measure.PodWaitP50, measure.PodWaitP95, measure.PodWaitP99, measure.PodWaitMax, measure.FirstPodBound, measure.LastPodBound,
}

// higher are the measures of which more is better, neither those of which neither is. Of all others, less is.
var (
	higher  = []string{measure.CPURequested, measure.MemoryRequested}
	neither = []string{measure.NodesRemoved}
)

// Certain reports whether the row's difference is certain.
func (r Row) Certain() bool {
	return r.Absent == "" && slices.Contains([]Claim{Better, Worse, More, Less}, r.Claim)
}

// Between are the rows that compare the variant of the one name with the first, which has the other name.
func (c Comparison) Between(first, other string) (rows []Row, has bool) {
	if len(c.Variants) == 0 || c.Variants[0].Name != first {
		return nil, false
	}
	for _, r := range c.Rows {
		if r.Variant > 0 && r.Variant < len(c.Variants) && c.Variants[r.Variant].Name == other {
			rows = append(rows, r)
		}
	}
	return rows, len(rows) > 0
}

// Compare compares the measures of that name of all variants with those of the first; without names, all that there are.
func Compare(variants []Variant, names []string) Comparison {
	c := Comparison{Variants: variants}
	for _, m := range measure.All() {
		if len(names) > 0 && !slices.Contains(names, m.Name) {
			continue
		}
		for i := range variants[1:] {
			c.Rows = append(c.Rows, compare(m, variants[0], variants[i+1], i+1))
		}
	}
	for i := range variants[1:] {
		c.Divergences = append(c.Divergences, diverge(variants[0], variants[i+1], i+1))
	}
	var ps []float64
	for _, r := range c.Rows {
		if r.Absent == "" {
			ps = append(ps, r.Alone)
		}
	}
	c.Questions = len(ps)
	among := interval.Holm(ps)
	for i := range c.Rows {
		if r := &c.Rows[i]; r.Absent == "" {
			r.Among, among = among[0], among[1:]
			r.Claim = r.claim()
		}
	}
	return c
}

// compare is a row without what the others say of it.
func compare(m measure.Measure, first, other Variant, nth int) Row {
	r := Row{Measure: m.Name, Words: m.Words, Variant: nth, Claim: Unknown}
	var ones, others, differences []float64
	for _, one := range first.Runs {
		i := slices.IndexFunc(other.Runs, func(r Run) bool { return r.Seed == one.Seed })
		if i < 0 || one.Values == nil || other.Runs[i].Values == nil {
			continue
		}
		a, b := one.Values[m.Name], other.Runs[i].Values[m.Name]
		for _, of := range []struct {
			measure.Value
			name string
		}{{a, first.Name}, {b, other.Name}} {
			// mutant: a run that lacks a measure has none of it
			if of.Absent != "" {
				r.Absent = fmt.Sprintf("not known of %s with the seed %d: %s", of.name, one.Seed, of.Absent)
				return r
			}
		}
		if r.Unit = a.Unit; a.Unit != b.Unit || r.Unit == "" {
			r.Absent = fmt.Sprintf("it is in %s and in %s", a.Unit, b.Unit)
			return r
		}
		ones, others, differences = append(ones, a.Value), append(others, b.Value), append(differences, b.Value-a.Value)
	}
	if r.Pairs = len(differences); r.Pairs == 0 {
		r.Absent = "no pair of runs counts"
		return r
	}
	slices.Sort(ones)
	slices.Sort(others)
	paired := interval.SignedRank(differences)
	r.First, r.Other, r.Difference, r.Alone = interval.Median(ones), interval.Median(others), paired.Estimate, paired.P
	if !math.IsInf(paired.Low, 0) {
		r.Low, r.High = &paired.Low, &paired.High
	}
	return r
}

// claim is what can be said of a row that is not absent.
func (r Row) claim() Claim {
	switch {
	// mutant: too few pairs see no difference
	case r.Pairs < interval.FewestPairs:
		return Unknown
	case r.Alone > 1-Certain || r.Difference == 0:
		return None
	// mutant: what late timers do is a difference
	case slices.Contains(timed, r.Measure) && math.Abs(r.Difference) < lag.Budget.Seconds():
		return Small
	// mutant: what is seen by chance among many is a difference
	case r.Among > 1-Certain:
		return Perhaps
	case slices.Contains(neither, r.Measure) && r.Difference > 0:
		return More
	case slices.Contains(neither, r.Measure):
		return Less
	case slices.Contains(higher, r.Measure) == (r.Difference > 0):
		return Better
	}
	return Worse
}

// Differs reports whether any difference is certain.
func (c Comparison) Differs() bool {
	return slices.ContainsFunc(c.Rows, Row.Certain)
}

// Decides reports whether anything could be decided: a pair of runs counts.
func (c Comparison) Decides() bool { return c.Questions > 0 }

// Fewest is how many pairs there have to be for a difference to be certain at all among so many questions.
func Fewest(questions int) int {
	pairs := interval.FewestPairs
	for float64(questions)*math.Pow(2, float64(1-pairs)) > 1-Certain {
		pairs++
	}
	return pairs
}

// verdict is the claim in words.
func (r Row) verdict() string {
	switch r.Claim {
	case None, Unknown:
		return string(r.Claim)
	case Small:
		return fmt.Sprintf("%s: timers may be %s late", Small, lag.Budget)
	case Perhaps:
		return fmt.Sprintf("perhaps %s: alone %.1f %%", r.direction(), 100*(1-r.Alone))
	}
	return fmt.Sprintf("%s, %.1f %% certain", r.Claim, math.Min(99.9, 100*(1-r.Among)))
}

func (r Row) direction() string {
	if r.Difference > 0 {
		return "more"
	}
	return "less"
}

// Discarded says which runs do not count, and why.
func (c Comparison) Discarded() (lines []string) {
	for _, v := range c.Variants {
		for _, r := range v.Runs {
			if r.Why != "" {
				lines = append(lines, fmt.Sprintf("%s with the seed %d does not count: %s", wording.Clean(v.Name), r.Seed, wording.Clean(r.Why)))
			}
		}
	}
	return lines
}
