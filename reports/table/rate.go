package table

import (
	"fmt"
	"math"
	"strings"

	"nodestorm/reports/interval"
	"nodestorm/reports/wording"
)

// Rate is how often a scenario on a target comes out as expected.
type Rate struct {
	AsExpected int `json:"asExpected"`
	// Runs are those that could decide: inconclusive ones say nothing of the rate.
	Runs         int `json:"runs"`
	Inconclusive int `json:"inconclusive"`
	// Low and High are what shares the runs are compatible with, at 95 %: see interval.Wilson.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Certainty is how likely it is that the outcome that is more frequent here is so
	// always, see interval.Certainty.
	Certainty float64 `json:"certainty"`
}

// RateOf is that of all rows of one scenario and target.
func RateOf(rows []Row, id, target string) (r Rate) {
	for _, row := range rows {
		switch {
		case row.ID != id || row.Target != target || row.Run == "":
		case row.Outcome == "inconclusive":
			r.Inconclusive++
		case row.Outcome == fine:
			r.AsExpected++
			r.Runs++
		default:
			r.Runs++
		}
	}
	r.Low, r.High = interval.Wilson(r.AsExpected, r.Runs)
	r.Certainty = interval.Certainty(r.AsExpected, r.Runs)
	return r
}

// rates writes a line for each scenario and target that was run more than once.
func rates(b *strings.Builder, rows []Row) {
	type cell struct{ id, target string }
	seen := map[cell]bool{}
	begun := false
	for _, row := range rows {
		of := cell{row.ID, row.Target}
		if seen[of] {
			continue
		}
		seen[of] = true
		r := RateOf(rows, row.ID, row.Target)
		if r.Runs+r.Inconclusive < 2 {
			continue
		}
		if !begun {
			b.WriteString("\n")
			begun = true
		}
		fmt.Fprintf(b, "%s on %s: %s\n", wording.Clean(row.ID), wording.Clean(row.Target), r)
	}
}

func (r Rate) String() string {
	text := "no run could decide"
	if r.Runs > 0 {
		text = fmt.Sprintf("as expected in %d of %d runs, a rate of %.0f to %.0f %% (at 95 %%)", r.AsExpected, r.Runs, 100*r.Low, 100*r.High)
		usual := "as expected"
		if 2*r.AsExpected < r.Runs {
			usual = "not as expected"
		}
		text += fmt.Sprintf("; that it usually is %s is %s certain", usual, percent(r.Certainty))
	}
	if r.Inconclusive > 0 {
		text += fmt.Sprintf("; %d more inconclusive", r.Inconclusive)
	}
	return text
}

// percent never rounds up to 100.
func percent(share float64) string {
	return fmt.Sprintf("%.1f %%", min(99.9, math.Floor(1000*share)/10))
}
