package seed_test

import (
	"testing"
	"time"

	"nodestorm/sim/time/seed"
)

func TestStream(t *testing.T) {
	first := seed.Stream(1, "join", "a").Uint64()
	if again := seed.Stream(1, "join", "a").Uint64(); again != first {
		t.Error("the same seed and names give other numbers")
	}
	for name, other := range map[string]uint64{
		"seed":           seed.Stream(2, "join", "a").Uint64(),
		"name":           seed.Stream(1, "join", "b").Uint64(),
		"division":       seed.Stream(1, "joina").Uint64(),
		"other division": seed.Stream(1, "joi", "na").Uint64(),
	} {
		if other == first {
			t.Errorf("another %s gives the same number", name)
		}
	}
}

func TestAround(t *testing.T) {
	r := seed.Stream(1)
	low, high := time.Hour, time.Duration(0)
	for range 1000 {
		d := seed.Vary(r, time.Minute, 0.2)
		low, high = min(low, d), max(high, d)
	}
	if low < 48*time.Second || low > 49*time.Second || high > 72*time.Second || high < 71*time.Second {
		t.Errorf("%s to %s, want 48s to 72s", low, high)
	}
}
