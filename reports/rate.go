package reports

import (
	"fmt"
	"math"
	"strings"
)

// Rate is how often a scenario on a target comes out as expected.
type Rate struct {
	AsExpected int `json:"asExpected"`
	// Runs are those that could decide: inconclusive ones say nothing of the rate.
	Runs         int `json:"runs"`
	Inconclusive int `json:"inconclusive"`
	// Low and High are what shares the runs are compatible with, at 95 %: see Wilson.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Certainty is how likely it is that the outcome that is more frequent here is so
	// always, see Certainty.
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
	r.Low, r.High = Wilson(r.AsExpected, r.Runs)
	r.Certainty = Certainty(r.AsExpected, r.Runs)
	return r
}

// Certainty is how likely it is that what came more often in k of n runs comes in more
// than half of all, if before the first run every rate was as likely as any other. It
// holds whenever one stops to look: 6 runs of one kind are 99 % certain.
//
// With that, the rate has a beta distribution of k+1 and n-k+1, whose share above a half
// is that of up to k heads in n+1 tosses of a coin.
func Certainty(k, n int) float64 {
	k = max(k, n-k)
	share := 0.0
	// mutant: few runs are certain
	for heads := range k + 1 {
		share += math.Exp(choose(n+1, heads) - float64(n+1)*math.Ln2)
	}
	return min(1, share)
}

// choose is the logarithm of how many ways there are to choose k of n.
func choose(n, k int) float64 {
	of := func(i int) float64 { v, _ := math.Lgamma(float64(i) + 1); return v }
	return of(n) - of(k) - of(n-k)
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
		fmt.Fprintf(b, "%s on %s: %s\n", Clean(row.ID), Clean(row.Target), r)
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
