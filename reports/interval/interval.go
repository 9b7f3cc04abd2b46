// Package interval is what few runs say of a rate.
package interval

import (
	"math"
)

// Wilson is the interval of shares that k of n are compatible with, at 95 %: the score
// interval of Wilson (1927), which is right for few trials and for none or all of them,
// too. Of no trials it is 0 to 1.
func Wilson(k, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.959964 // of a normal distribution, 2.5 % lie above
	p, total := float64(k)/float64(n), float64(n)
	center := p + z*z/(2*total)
	spread := z * math.Sqrt(p*(1-p)/total+z*z/(4*total*total))
	scale := 1 + z*z/total
	return max(0, (center-spread)/scale), min(1, (center+spread)/scale)
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
