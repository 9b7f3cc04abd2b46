package interval_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"nodestorm/reports/interval"
)

// Darwin's maize, as Fisher (1935) has it: the differences of 15 pairs of plants, in eighths of an inch, whose P by signed
// ranks is 0.041. None are equal, so that all 2^15 ways of signs can be counted as well, see countedP.
var maize = []float64{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48}

func TestSignedRank(t *testing.T) {
	got := interval.SignedRank(maize)
	if want := countedP(maize); math.Abs(got.P-want) > 1e-12 || math.Abs(got.P-0.04126) > 1e-5 {
		t.Errorf("P is %v, want %v and 0.04126", got.P, want)
	}
	if got.Estimate != 25 || got.Low != 4 || got.High != 41.5 { // the 26th average from each end, as tables have it for 15 pairs
		t.Errorf("the difference is %+v, want 25 (4 to 41.5)", got)
	}
	for n, bounded := range map[int]bool{0: false, 1: false, 5: false, 6: true, 7: true, 40: true} {
		all := make([]float64, n)
		for i := range all {
			all[i] = float64(i + 1)
		}
		if got := interval.SignedRank(all); !math.IsInf(got.Low, 0) != bounded || n == 6 && (got.Low != 1 || got.High != 6) {
			t.Errorf("of %d pairs the interval is %v to %v", n, got.Low, got.High)
		}
		if want := min(1, math.Pow(2, float64(1-n))); math.Abs(interval.SignedRank(all).P-want) > 1e-12 {
			t.Errorf("of %d pairs that all are above zero P is %v, want %v", n, interval.SignedRank(all).P, want)
		}
	}
	for _, none := range [][]float64{{0, 0, 0, 0, 0, 0, 0}, {1, -1, 2, -2, 0, 0}} {
		if got := interval.SignedRank(none); got.P != 1 || got.Estimate != 0 {
			t.Errorf("%v: %+v, want no difference", none, got)
		}
	}
	ties := []float64{1, 1, 1, 2, 2, -1, 3, 0, 3, -2}
	if got, want := interval.SignedRank(ties).P, countedP(ties); math.Abs(got-want) > 1e-12 {
		t.Errorf("with ties P is %v, want %v", got, want)
	}
}

// countedP counts all ways in which the signs can fall.
func countedP(differences []float64) float64 {
	some := slices.DeleteFunc(slices.Clone(differences), func(d float64) bool { return d == 0 })
	rank := func(i int) (r float64) {
		for _, other := range some {
			if math.Abs(other) < math.Abs(some[i]) {
				r++
			} else if math.Abs(other) == math.Abs(some[i]) {
				r += 0.5
			}
		}
		return r + 0.5
	}
	off := func(above func(int) bool) float64 {
		var up, all float64
		for i := range some {
			if above(i) {
				up += rank(i)
			}
			all += rank(i)
		}
		return math.Abs(up - all/2)
	}
	seen, count := off(func(i int) bool { return some[i] > 0 }), 0
	for signs := range 1 << len(some) {
		if off(func(i int) bool { return signs>>i&1 == 1 }) >= seen {
			count++
		}
	}
	return float64(count) / math.Pow(2, float64(len(some)))
}

// Without a difference one is found in at most 5 of 100, alone and among twenty questions; and the interval has the true
// difference in at least 95 of 100, whatever the differences are like.
func TestFalseClaims(t *testing.T) {
	const rounds, most = 400, 0.05 + 0.033 // three standard errors more
	random := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() float64{
		"normal": random.NormFloat64,
		"skewed": func() float64 { return random.ExpFloat64() - random.ExpFloat64() },
		"counts": func() float64 { return float64(random.IntN(4) - random.IntN(4)) },
		"rare": func() float64 {
			return math.Trunc(random.ExpFloat64()*random.ExpFloat64()) - math.Trunc(random.ExpFloat64()*random.ExpFloat64())
		},
	} {
		for _, pairs := range []int{6, 15} {
			alone, among, missed := 0, 0, 0
			for range rounds {
				var ps []float64
				for range 20 {
					differences := make([]float64, pairs)
					for i := range differences {
						differences[i] = draw()
					}
					p := interval.SignedRank(differences)
					ps = append(ps, p.P)
					if p.Low > 0 || p.High < 0 {
						missed++
					}
				}
				if ps[0] <= 0.05 {
					alone++
				}
				if slices.Min(interval.Holm(ps)) <= 0.05 {
					among++
				}
			}
			for what, share := range map[string]float64{
				"alone": float64(alone) / rounds, "among twenty": float64(among) / rounds, "by the interval": float64(missed) / rounds / 20,
			} {
				if share > most {
					t.Errorf("%s, %d pairs, %s: %.1f %% of no differences are found", name, pairs, what, 100*share)
				}
			}
		}
	}
}

func TestHolm(t *testing.T) {
	got := interval.Holm([]float64{0.01, 0.04, 0.03, 0.005, 0.9})
	for i, want := range []float64{0.04, 0.09, 0.09, 0.025, 0.9} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("got %v; the %dth ought to be %v", got, i+1, want)
		}
	}
}
