// Package nightly holds a night's runs against those of the nights before: what fails that
// did not, what is mended, what is flaky and how often, what takes longer than it may by
// chance, and what is not run any more.
//
// A night is a matrix whose cells are all of its runs. The package reads and writes
// nothing but what it is given.
package nightly

import (
	"cmp"
	"slices"
	"time"

	"nodestorm/reports/matrix"
)

// Night is one night's runs.
type Night struct {
	// Name is what people call it: a folder, a file, a day.
	Name string
	*matrix.Matrix
}

// pair is a scenario on a target.
type pair struct{ scenario, target string }

// Class is what has become of a scenario on a target.
type Class string

// The classes, in the order of what wants to be looked at.
const (
	NewlyFailing Class = "newly failing" // was as expected when it was last decided, and is not
	Inconclusive Class = "inconclusive"  // was decided last time, and is not
	Gone         Class = "no longer run" // was run in the last night, and was not
	Failing      Class = "still failing" // is not as expected, as when it was last decided
	NewlyHealthy Class = "newly healthy" // is as expected again
	New          Class = "new"           // was never run in these nights
	Steady       Class = "as before"
)

// Outcome is how a pair came out in one night.
type Outcome string

// The outcomes. Mixed is more than one run, some as expected and some not.
const (
	Good    Outcome = "as expected"
	Bad     Outcome = "not as expected"
	Mixed   Outcome = "both"
	Unsure  Outcome = "inconclusive"
	Skipped Outcome = "skipped"
	Absent  Outcome = "not run"
)

// Point is a pair in one night.
type Point struct {
	Night   string    `json:"night"`
	At      time.Time `json:"at"`
	Outcome Outcome   `json:"outcome"`
	// Verdict is that of its last run.
	Verdict string `json:"verdict,omitempty"`
	// Seconds is the median of the runs that were as expected, 0 if there are none;
	// Adjusted the same on a machine as fast as that of all nights.
	Seconds  float64 `json:"seconds,omitempty"`
	Adjusted float64 `json:"adjusted,omitempty"`
}

// Row is a pair in all nights.
type Row struct {
	Scenario string  `json:"scenario"`
	Target   string  `json:"target"`
	Expected string  `json:"expected,omitempty"`
	Verdict  string  `json:"verdict,omitempty"`
	Reason   string  `json:"reason,omitempty"`
	Run      string  `json:"run,omitempty"` // its page, relative to the report
	Class    Class   `json:"class"`
	Points   []Point `json:"points"`
	// Since is the night since when it is so: failing since, mended since.
	Since string `json:"since,omitempty"`
	// Changes are how often the outcome became another from one decided run to the next.
	Changes int `json:"changes"`
	// Unexpected of Decided runs were not as expected, and Low to High is the share that
	// these runs are compatible with (Wilson, 95 %).
	Unexpected int     `json:"unexpected"`
	Decided    int     `json:"decided"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	// Flaky: both kinds of outcome, and soon back again.
	Flaky bool `json:"flaky,omitempty"`
	// Slower is how many times as long as usual it took, if that is more than noise; else 0.
	Slower float64 `json:"slower,omitempty"`
	// Usual are its seconds as of the nights before, Noise how far they scatter (a factor).
	Usual float64 `json:"usual,omitempty"`
	Noise float64 `json:"noise,omitempty"`
}

// Report is a night held against the ones before.
type Report struct {
	Night  string         `json:"night"`
	Made   time.Time      `json:"made"`
	Nights []NightSum     `json:"nights"`
	Rows   []Row          `json:"rows"`
	Counts map[string]int `json:"counts"`
	// Pages are the pages of scenarios by their IDs, relative to the report, and Index is the page that lists them; of a report
	// that is no part of a site there are none.
	Pages map[string]string `json:"-"`
	Index string            `json:"-"`
	// Missing says why nights before it are not there, if they may be somewhere.
	Missing string `json:"missing,omitempty"`
}

// NightSum is a night in a line.
type NightSum struct {
	Name    string    `json:"name"`
	At      time.Time `json:"at"`
	Good    int       `json:"asExpected"`
	Bad     int       `json:"notAsExpected"`
	Unsure  int       `json:"inconclusive"`
	Skipped int       `json:"skipped"`
	Seconds float64   `json:"seconds"`
	Machine float64   `json:"machine"` // how many times as long as usual all of it took
	Commit  string    `json:"commit,omitempty"`
}

// least is how many nights before are needed to know what is usual.
const least = 5

// Compare holds the last of the nights, by when they were, against the others.
func Compare(nights []Night) *Report {
	nights = slices.Clone(nights)
	slices.SortStableFunc(nights, func(a, b Night) int { return a.Made.Compare(b.Made) })
	last := nights[len(nights)-1]
	r := &Report{Night: last.Name, Made: last.Made, Counts: map[string]int{}}
	table := tabulate(nights)
	machines := table.machines()
	for n, night := range nights {
		sum := NightSum{Name: night.Name, At: night.Made, Machine: machines[n]}
		for _, p := range table.pairs {
			switch point := table.points[p][n]; point.Outcome {
			case Good:
				sum.Good++
			case Bad, Mixed:
				sum.Bad++
			case Unsure:
				sum.Unsure++
			case Skipped:
				sum.Skipped++
			}
		}
		for _, c := range night.Cells {
			sum.Seconds += c.WallSeconds
			sum.Commit = cmp.Or(sum.Commit, c.Commit)
		}
		r.Nights = append(r.Nights, sum)
	}
	for _, p := range table.pairs {
		row := table.row(p)
		r.Rows = append(r.Rows, row)
		r.Counts[string(row.Class)]++
		if row.Flaky {
			r.Counts["flaky"]++
		}
		if row.Slower > 0 {
			r.Counts["slower"]++
		}
	}
	slices.SortStableFunc(r.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Class), slices.Index(order, b.Class)), cmp.Compare(b.Slower, a.Slower),
			cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.Target, b.Target))
	})
	return r
}

var order = []Class{NewlyFailing, Inconclusive, Gone, Failing, NewlyHealthy, New, Steady}

// Only are the rows of a class.
func (r *Report) Only(class Class) []Row {
	return slices.DeleteFunc(slices.Clone(r.Rows), func(row Row) bool { return row.Class != class })
}

// Flaky are the rows that are both as expected and not.
func (r *Report) Flaky() []Row {
	return slices.DeleteFunc(slices.Clone(r.Rows), func(row Row) bool { return !row.Flaky })
}

// Slower are the rows that took longer than by chance.
func (r *Report) Slower() []Row {
	return slices.DeleteFunc(slices.Clone(r.Rows), func(row Row) bool { return row.Slower == 0 })
}
