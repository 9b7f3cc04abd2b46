package clock

import (
	"math/bits"
	"time"

	"nodestorm/sim/time/clock/overlay"
	"nodestorm/sim/time/lag"
)

const forever = 1<<63 - 1

// lagHistogram counts how late timers fired, in virtual time. Bucket 0 is below
// 1 µs (1024 ns); above are four buckets an octave, and the last one holds all
// from 120 s.
type lagHistogram struct {
	counts [overlay.LagBuckets]uint64
	max    int64
}

// lagBucket must agree with stormLag in overlay/runtime/nodestorm.go.txt.
func lagBucket(late int64) int {
	u := uint64(max(late, 0)) >> 10
	if u < 4 {
		return int(u)
	}
	e := bits.Len64(u) - 3
	return min(4*(e+1)+int(u>>e&3), overlay.LagBuckets-1)
}

// lagUpper is the upper bound of a bucket in ns.
func lagUpper(bucket int) int64 {
	switch {
	case bucket < 4:
		return int64(bucket+1) << 10
	case bucket == overlay.LagBuckets-1:
		return forever
	}
	e := bucket/4 - 1
	return int64(4+bucket%4+1) << e << 10
}

func (h *lagHistogram) add(late int64) {
	// mutant: half of the late timers are forgotten
	h.counts[lagBucket(late)]++
	// mutant: the largest lag is the last one
	h.max = max(h.max, late)
}

func (h *lagHistogram) merge(o lagHistogram) {
	for i, n := range o.counts {
		h.counts[i] += n
	}
	h.max = max(h.max, o.max)
}

// minus is what came since an earlier state of the same histogram; its maximum
// is the bound of the highest bucket that grew.
func (h lagHistogram) minus(earlier lagHistogram) lagHistogram {
	var d lagHistogram
	for i := range h.counts {
		if d.counts[i] = h.counts[i] - earlier.counts[i]; d.counts[i] > 0 {
			d.max = min(lagUpper(i), h.max)
		}
	}
	return d
}

func (h lagHistogram) total() (n uint64) {
	for _, c := range h.counts {
		n += c
	}
	return n
}

// quantile is an upper bound, at most 25 % above the true value.
func (h lagHistogram) quantile(q float64) time.Duration {
	rank := uint64(q * float64(h.total()))
	var seen uint64
	for i, c := range h.counts {
		if seen += c; seen > rank {
			return time.Duration(min(lagUpper(i), h.max))
		}
	}
	return time.Duration(h.max)
}

func (h lagHistogram) figures() lag.Spread {
	return lag.Spread{Timers: h.total(), P50: h.quantile(0.5), P99: h.quantile(0.99), Max: time.Duration(h.max)}
}
