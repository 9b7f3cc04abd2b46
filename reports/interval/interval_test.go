package interval_test

import (
	"math"
	"testing"

	"nodestorm/reports/interval"
)

// Values of the score interval without continuity correction as in Newcombe (1998), Statistics in Medicine
// 17, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
func TestWilson(t *testing.T) {
	for _, of := range []struct {
		k, n      int
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}, {0, 0, 0, 1}, {5, 5, 0.5655, 1}} {
		low, high := interval.Wilson(of.k, of.n)
		if math.Abs(low-of.low) > 5e-5 || math.Abs(high-of.high) > 5e-5 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", of.k, of.n, low, high, of.low, of.high)
		}
	}
}

func TestCertainty(t *testing.T) {
	for _, tc := range []struct {
		k, n int
		want float64
	}{
		{0, 0, 0.5}, {1, 1, 0.75}, {0, 1, 0.75}, {2, 2, 0.875}, {1, 2, 0.5}, {5, 5, 0.984375}, {6, 6, 0.9921875}, {0, 6, 0.9921875},
		{9, 10, 0.994140625}, {5, 10, 0.5}, {1000, 1000, 1},
	} {
		if got := interval.Certainty(tc.k, tc.n); math.Abs(got-tc.want) > 1e-9 {
			t.Errorf("%d of %d: %v, want %v", tc.k, tc.n, got, tc.want)
		}
	}
}
