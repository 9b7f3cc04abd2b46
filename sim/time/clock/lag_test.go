package clock

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"nodestorm/sim/time/clock/overlay"
	"nodestorm/sim/time/lag"
)

func TestLagBuckets(t *testing.T) {
	for b := range overlay.LagBuckets {
		var lower int64
		if b > 0 {
			lower = lagUpper(b - 1)
		}
		for _, late := range []int64{lower, lagUpper(b) - 1} {
			if got := lagBucket(late); got != b {
				t.Errorf("%d ns late is in bucket %d, want %d", late, got, b)
			}
		}
		// From 4 µs on, a bucket's upper bound is at most 25 % above what is in it.
		if lower >= 4<<10 && b < overlay.LagBuckets-1 && lagUpper(b)*4 > lower*5 {
			t.Errorf("bucket %d reaches from %d to %d ns", b, lower, lagUpper(b))
		}
	}
	for late, want := range map[int64]int{-5: 0, 0: 0, forever: overlay.LagBuckets - 1, int64(2 * time.Hour): overlay.LagBuckets - 1} {
		if got := lagBucket(late); got != want {
			t.Errorf("%d ns late is in bucket %d, want %d", late, got, want)
		}
	}
}

func TestLagQuantile(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var h lagHistogram
		var all []int64
		for range 1 + rnd.IntN(500) {
			late := rnd.Int64N(1 << (12 + rnd.IntN(24)))
			all = append(all, late)
			h.add(late)
		}
		slices.Sort(all)
		for _, q := range []float64{0, 0.5, 0.99} {
			exact := all[int(q*float64(len(all)))]
			got := int64(h.quantile(q))
			if got < exact || got > max(exact*5/4+1, lagUpper(lagBucket(exact))) {
				t.Fatalf("quantile %g of %d values is %d, want %d or at most a bucket more", q, len(all), got, exact)
			}
		}
		if f := h.figures(); f.Timers != uint64(len(all)) || f.Max != time.Duration(all[len(all)-1]) {
			t.Fatalf("%+v: want %d timers, max %d", f, len(all), all[len(all)-1])
		}
	}
	if f := (lagHistogram{}).figures(); f != (lag.Spread{}) {
		t.Errorf("nothing measured is %+v", f)
	}
}

func TestLagMinus(t *testing.T) {
	var h lagHistogram
	h.add(int64(time.Second))
	h.add(int64(time.Millisecond))
	earlier := h
	if d := h.minus(earlier).figures(); d != (lag.Spread{}) {
		t.Errorf("nothing since is %+v", d)
	}
	h.add(int64(10 * time.Millisecond))
	h.add(int64(time.Millisecond))
	d := h.minus(earlier).figures()
	if d.Timers != 2 || d.Max < 10*time.Millisecond || d.Max > 12500*time.Microsecond {
		t.Errorf("since: %+v, want 2 timers and a max of 10ms or a bucket more", d)
	}
	// The last bucket has no bound of its own.
	h.add(int64(time.Hour))
	if d := h.minus(earlier).figures(); d.Max != time.Hour {
		t.Errorf("max since is %s, want 1h", d.Max)
	}
	// Merging is adding.
	var both lagHistogram
	both.merge(earlier)
	both.merge(h.minus(earlier))
	if both != h {
		t.Error("an earlier state and what came since don't make the present one")
	}
}
