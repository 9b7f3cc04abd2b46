package lag

import (
	"strings"
	"testing"
	"time"
)

// Each program is judged by itself, whatever the others' timers say.
func TestDistortedProgram(t *testing.T) {
	lag := func(timers uint64, p99, most time.Duration) Spread {
		return Spread{Timers: timers, P99: p99, Max: most}
	}
	quiet := Program{Name: "etcd", Lag: lag(60000, 201*time.Millisecond, Longest)}
	for _, tt := range []struct {
		what string
		p    Program
		want string // of the reason; empty: undistorted
	}{
		{"all within their budgets", Program{Name: "karpenter", Lag: lag(fewest, Budget, Longest), Stopped: Longest, Disk: Longest}, ""},
		{"one timer too late", Program{Name: "karpenter", Lag: lag(1, Longest+time.Millisecond, 19900*time.Millisecond)}, "karpenter: a timer 19.9s late (at most 2s)"},
		{"one timer of a kubelet", Program{Name: "kubelet.a", Lag: lag(1, time.Minute, time.Minute)}, "kubelet.a: a timer 1m0s late (at most 2s)"},
		{"p99", Program{Name: "kubelet.a", Lag: lag(fewest, Budget+time.Millisecond, time.Second)}, "kubelet.a: timers 251ms late at p99 (at most 250ms)"},
		{"p99 of too few", Program{Name: "kubelet.a", Lag: lag(fewest-1, time.Second, time.Second)}, ""},
		{"stopped, without a timer", Program{Name: "karpenter", Stopped: 20 * time.Second}, "karpenter: stopped for 20s (at most 2s)"},
		{"behind a disk, without a timer", Program{Name: "nodestorm", Disk: 3 * time.Second}, "nodestorm: waited 3s for a disk (at most 2s)"},
	} {
		got := Figures{Programs: []Program{quiet, tt.p}}.Distorted()
		if (got != "") != (tt.want != "") || !strings.Contains(got, tt.want) || strings.Contains(got, "etcd") {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
	}
	// The worst is named first, and no more than can be read.
	var many []Program
	for i := range 20 {
		many = append(many, Program{Name: "p", Stopped: Longest + time.Duration(i)*time.Second})
	}
	got := Figures{Programs: many}.Distorted()
	if !strings.HasPrefix(got, "the clock was distorted: p: stopped for 21s (") || strings.Count(got, "stopped for") != maxNamed || !strings.Contains(got, "; 14 programs more, ") {
		t.Errorf("of 19 that are late: %q", got)
	}
}
