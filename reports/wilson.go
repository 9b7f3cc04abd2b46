package reports

import "math"

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
