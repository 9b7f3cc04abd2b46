package clock

import (
	"strings"
	"testing"
	"time"

	"nodestorm/sim/time/lag"
)

func TestDistorted(t *testing.T) {
	for _, tt := range []struct {
		what string
		fill func(*lagHistogram)
		want bool
	}{
		{"nothing measured", func(*lagHistogram) {}, false},
		{"2 % late by more than the budget", func(h *lagHistogram) {
			for i := range 1000 {
				late := time.Millisecond
				if i < 20 {
					late = lag.Budget + 50*time.Millisecond
				}
				h.add(int64(late))
			}
		}, true},
		{"1 in 1000 late by far more", func(h *lagHistogram) {
			for range 999 {
				h.add(int64(time.Millisecond))
			}
			h.add(int64(time.Minute))
		}, false},
		{"all a bucket within the budget", func(h *lagHistogram) {
			for range 1000 {
				h.add(int64(lag.Budget * 3 / 4))
			}
		}, false},
	} {
		var h lagHistogram
		tt.fill(&h)
		got := lag.Figures{Lag: h.figures()}.Distorted()
		if (got != "") != tt.want {
			t.Errorf("%s (%s): %q", tt.what, h.figures(), got)
		}
		if tt.want && (!strings.Contains(got, lag.Budget.String()) || !strings.Contains(got, "p99")) {
			t.Errorf("%q does not name the budget and the quantile", got)
		}
	}
}
