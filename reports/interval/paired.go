package interval

import (
	"cmp"
	"math"
	"slices"
)

// Paired is what pairs of runs say of a difference.
type Paired struct {
	// Estimate is the difference: the median of all averages of two of the pairs' differences (Hodges and Lehmann, 1963).
	Estimate float64
	// Low and High are its interval at 95 %. They are infinite where there are too few pairs for one.
	Low, High float64
	// P is how often at least as much would be seen if there were no difference, 0 to 1.
	P float64
}

// FewestPairs is how many pairs there are at least for an interval at 95 %.
const FewestPairs = 6

// SignedRank is what the differences of pairs say, by the signed ranks of Wilcoxon (1945). Its P is exact for any number of
// pairs, and asks one thing of them: without a difference, each is as likely to be above zero as to be as far below.
func SignedRank(differences []float64) Paired {
	averages := make([]float64, 0, len(differences)*(len(differences)+1)/2)
	for i, d := range differences {
		for _, other := range differences[i:] {
			averages = append(averages, d/2+other/2)
		}
	}
	if len(averages) == 0 {
		return Paired{Low: math.Inf(-1), High: math.Inf(1), P: 1}
	}
	slices.Sort(averages)
	p := Paired{Estimate: Median(averages), Low: math.Inf(-1), High: math.Inf(1), P: significance(differences)}
	if outside := outside(len(differences)); outside > 0 {
		p.Low, p.High = averages[outside-1], averages[len(averages)-outside]
	}
	return p
}

// outside is which average from each end bounds the interval at 95 %: zero if there are too few for one.
func outside(n int) (k int) {
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	sums, below := sums(ranks), 0.0
	// mutant: an interval is narrower than it says
	for k < len(sums) && 2*(below+sums[k]) <= 0.05 {
		below += sums[k]
		k++
	}
	return k
}

// significance is the P of the differences, of which those that are zero say nothing.
func significance(differences []float64) float64 {
	some := slices.DeleteFunc(slices.Clone(differences), func(d float64) bool { return d == 0 })
	slices.SortFunc(some, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	ranks, above, total := make([]int, len(some)), 0, 0
	for i := 0; i < len(some); {
		j := i
		for j < len(some) && math.Abs(some[j]) == math.Abs(some[i]) {
			j++
		}
		for of := i; of < j; of++ {
			ranks[of] = i + 1 + j // twice the average of those that are equal, so that it is whole
			if some[of] > 0 {
				above += ranks[of]
			}
			total += ranks[of]
		}
		i = j
	}
	extreme, share := min(above, total-above), 0.0
	for sum, of := range sums(ranks) {
		if sum <= extreme {
			share += of
		}
	}
	return min(1, 2*share)
}

// sums are the shares of all ways to choose some of the ranks that have each sum.
func sums(ranks []int) []float64 {
	shares := []float64{1}
	for _, rank := range ranks {
		next := make([]float64, len(shares)+rank)
		for sum, share := range shares {
			next[sum] += share / 2
			next[sum+rank] += share / 2
		}
		shares = next
	}
	return shares
}

// Median is that of numbers in their order, NaN of none.
func Median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
}

// Holm are the P of several questions, each as large as it has to be for the least of them to be wrong as often as it says
// (Holm, 1979): who looks at twenty finds one below 5 % by chance.
func Holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	adjusted, least := make([]float64, len(ps)), 0.0
	for i, of := range order {
		// mutant: who asks often finds something
		least = max(least, min(1, float64(len(ps)-i)*ps[of]))
		adjusted[of] = least
	}
	return adjusted
}
