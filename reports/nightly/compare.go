package nightly

import (
	"cmp"
	"math"
	"slices"

	"nodestorm/reports/interval"
	"nodestorm/reports/matrix"
)

// table has a point for each pair and night, in the order of the nights.
type table struct {
	nights []Night
	pairs  []pair
	cells  map[pair][][]matrix.Cell // by night
	points map[pair][]Point
}

func tabulate(nights []Night) *table {
	t := &table{nights: nights, cells: map[pair][][]matrix.Cell{}, points: map[pair][]Point{}}
	skipped := map[pair]map[int]bool{}
	know := func(p pair) {
		if t.cells[p] == nil {
			t.cells[p], skipped[p] = make([][]matrix.Cell, len(nights)), map[int]bool{}
			t.pairs = append(t.pairs, p)
		}
	}
	for n, night := range nights {
		for _, c := range night.Cells {
			p := pair{c.Scenario, c.Target}
			know(p)
			t.cells[p][n] = append(t.cells[p][n], c)
		}
		for _, s := range night.Matrix.Skipped {
			p := pair{s.Scenario, s.Target}
			know(p)
			skipped[p][n] = true
		}
	}
	slices.SortFunc(t.pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.scenario, b.scenario), cmp.Compare(a.target, b.target))
	})
	for _, p := range t.pairs {
		for n, night := range nights {
			cells := t.cells[p][n]
			slices.SortStableFunc(cells, func(a, b matrix.Cell) int { return a.Started.Compare(b.Started) })
			point := pointOf(cells)
			if point.Outcome == Absent && skipped[p][n] {
				point.Outcome = Skipped
			}
			point.Night, point.At = night.Name, night.Made
			t.points[p] = append(t.points[p], point)
		}
	}
	return t
}

func asExpected(c matrix.Cell) bool { return c.Outcome == "expected" }

func pointOf(cells []matrix.Cell) Point {
	point := Point{Outcome: Absent}
	good, bad := 0, 0
	var seconds []float64
	for _, c := range cells {
		point.Verdict = c.Verdict
		switch {
		case !c.Decided():
		case asExpected(c):
			good++
			if c.WallSeconds > 0 && !math.IsInf(c.WallSeconds, 0) {
				seconds = append(seconds, c.WallSeconds)
			}
		default:
			bad++
		}
	}
	switch {
	case good > 0 && bad > 0:
		point.Outcome = Mixed
	case good > 0:
		point.Outcome = Good
	case bad > 0:
		point.Outcome = Bad
	case len(cells) > 0:
		point.Outcome = Unsure
	}
	point.Seconds = median(seconds)
	return point
}

// machines are how many times as long as usual each night took: the median over what was
// run of its time there to its median of all nights. A machine that is slower, or busier, makes
// all of a night slower, and nothing of it is any scenario's doing.
func (t *table) machines() []float64 {
	usual := map[pair]float64{}
	for _, p := range t.pairs {
		var all []float64
		for _, point := range t.points[p] {
			if point.Seconds > 0 {
				all = append(all, point.Seconds)
			}
		}
		usual[p] = median(all)
	}
	factors := make([]float64, len(t.nights))
	for n := range t.nights {
		var ratios []float64
		for _, p := range t.pairs {
			if s := t.points[p][n].Seconds; s > 0 {
				ratios = append(ratios, s/usual[p])
			}
		}
		if factors[n] = median(ratios); factors[n] == 0 {
			factors[n] = 1
		}
	}
	for _, p := range t.pairs {
		for n := range t.nights {
			// mutant: a slow machine makes all slower
			t.points[p][n].Adjusted = t.points[p][n].Seconds / factors[n]
		}
	}
	return factors
}

func (t *table) row(p pair) Row {
	points := t.points[p]
	last := len(points) - 1
	now := points[last]
	row := Row{Scenario: p.scenario, Target: p.target, Points: points}
	for n := last; n >= 0 && row.Expected == "" && row.Verdict == ""; n-- {
		if cells := t.cells[p][n]; len(cells) > 0 {
			c := cells[len(cells)-1]
			row.Expected = c.Expected
			if n == last {
				row.Verdict, row.Reason, row.Run = c.Verdict, c.Reason, c.Run
			}
			break
		}
	}
	for _, c := range t.cells[p][last] { // the one to look at
		if c.Decided() && !asExpected(c) {
			row.Verdict, row.Reason, row.Run = c.Verdict, c.Reason, c.Run
		}
	}
	t.count(p, &row)
	row.Class, row.Since = class(points)
	if now.Outcome == Skipped {
		row.Reason = t.whySkipped(p)
	}
	slower(&row, points)
	return row
}

func (t *table) whySkipped(p pair) string {
	for _, s := range t.nights[len(t.nights)-1].Matrix.Skipped {
		if s.Scenario == p.scenario && s.Target == p.target {
			return s.Reason
		}
	}
	return ""
}

// blink is how many runs alike, between two others, are flaky: what was broken for longer
// and then mended is not.
const blink = 3

// count counts the pair's runs, each by itself, in the order in which they were.
func (t *table) count(p pair, row *Row) {
	var before *bool
	streak := 0 // of runs that came out alike
	for _, cells := range t.cells[p] {
		for _, c := range cells {
			if !c.Decided() {
				continue
			}
			good := asExpected(c)
			row.Decided++
			if !good {
				row.Unexpected++
			}
			if before != nil && *before != good {
				row.Flaky = row.Flaky || row.Changes > 0 && streak <= blink
				row.Changes++
				streak = 0
			}
			before = &good
			streak++
		}
	}
	row.Low, row.High = interval.Wilson(row.Unexpected, row.Decided)
}

// class says what has become of a pair, and since when it is so.
func class(points []Point) (Class, string) {
	last := len(points) - 1
	now := points[last]
	before := Absent // the last that was decided
	ever, inLast := false, false
	for _, point := range points[:last] {
		if point.Outcome == Good || point.Outcome == Bad || point.Outcome == Mixed {
			before = point.Outcome
		}
		ran := point.Outcome != Absent && point.Outcome != Skipped
		ever, inLast = ever || ran, ran
	}
	since := func(is func(Outcome) bool) string {
		from := now.Night
		for _, point := range slices.Backward(points[:last]) {
			switch {
			case is(point.Outcome):
				from = point.Night
			case point.Outcome == Good || point.Outcome == Bad || point.Outcome == Mixed:
				return from
			}
		}
		return from
	}
	fails := func(o Outcome) bool { return o == Bad || o == Mixed }
	switch {
	case now.Outcome == Absent || now.Outcome == Skipped:
		if inLast {
			return Gone, now.Night
		}
		return Steady, ""
	case !ever && !fails(now.Outcome):
		return New, now.Night
	case now.Outcome == Unsure && (before == Good || before == Bad || before == Mixed) && !unsureBefore(points):
		return Inconclusive, now.Night
	case fails(now.Outcome) && (before == Good || before == Absent):
		return NewlyFailing, now.Night
	case fails(now.Outcome):
		return Failing, since(fails)
	case now.Outcome == Good && fails(before):
		return NewlyHealthy, now.Night
	}
	return Steady, ""
}

// unsureBefore reports whether the night before did not decide either.
func unsureBefore(points []Point) bool {
	return len(points) > 1 && points[len(points)-2].Outcome == Unsure
}

// Slower is what took longer than its usual time by more than
const (
	scatter     = 4.5  // times the usual scatter of the nights before,
	leastFactor = 1.25 // this factor,
	leastTime   = 2    // and so many seconds.
)

// slower reports whether the last night's time is more than noise. Times are as of one
// machine, and compared as logarithms: half and twice as long are equally far. The scatter is
// that of the median of distances to the median, which a single odd night does not widen.
func slower(row *Row, points []Point) {
	var before []float64
	for _, point := range points[:len(points)-1] {
		if point.Adjusted > 0 {
			before = append(before, math.Log(point.Adjusted))
		}
	}
	now := points[len(points)-1].Adjusted
	if len(before) < least {
		return
	}
	usual := median(before)
	var distances []float64
	for _, b := range before {
		distances = append(distances, math.Abs(b-usual))
	}
	sigma := 1.4826 * median(distances) // as of a normal distribution
	row.Usual, row.Noise = math.Exp(usual), math.Exp(sigma)
	if now <= 0 {
		return
	}
	distance := math.Log(now) - usual
	// mutant: what scatters is slower
	if distance > scatter*sigma && distance > math.Log(leastFactor) && now-row.Usual > leastTime {
		row.Slower = math.Exp(distance)
	}
}

// median is 0 of nothing.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}
