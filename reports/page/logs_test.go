package page

import (
	"testing"
	"time"
)

// Lines are placed by what they say, wherever the page is made.
func TestLineTime(t *testing.T) {
	kolkata := time.FixedZone("Asia/Kolkata", 5*3600+1800)
	before := time.Local
	time.Local = kolkata
	t.Cleanup(func() { time.Local = before })
	epoch := time.Date(2026, 12, 31, 23, 59, 0, 0, time.UTC)
	for line, want := range map[string]time.Duration{
		"I1231 23:59:01.500000       1 static_autoscaler.go:287] Starting main loop":             1500 * time.Millisecond,
		"E0101 00:00:00.000000       1 x.go:1] over New Year":                                    time.Minute,
		`{"level":"info","ts":"2026-12-31T23:59:02.250000Z","caller":"etcdmain/etcd.go:64"}`:     2250 * time.Millisecond,
		`{"level":"info","ts":"2027-01-01T05:29:02.250000+0530","caller":"etcdmain/etcd.go:64"}`: 2250 * time.Millisecond,
		`{"level":"INFO","time":"2026-12-31T23:59:03.125Z","logger":"controller"}`:               3125 * time.Millisecond,
		`{"level":"INFO","time":"2027-01-01T05:29:03.125+0530","logger":"controller"}`:           3125 * time.Millisecond,
		`{"level":"INFO","time":"2026-12-31T15:59:03.125-0800","logger":"controller"}`:           3125 * time.Millisecond,
		`{"time":"2027-01-01T05:29:04.5+05:30","level":"INFO","msg":"slog"}`:                     4500 * time.Millisecond,
		`{"ts":1798761545,"msg":"zap's default, seconds since 1970"}`:                            5 * time.Second,
	} {
		for _, zone := range []*time.Location{time.UTC, kolkata} {
			if got, ok := lineTime(line, epoch.In(zone)); !ok || got != want {
				t.Errorf("%s is at %s (%t), want %s", line, got, ok, want)
			}
		}
	}
	for _, line := range []string{"panic: no time", "", "{}", `{"ts":"yesterday"}`, `{"time":"2026-12-31 23:59:03"}`, "I9999 23:59:01.500000 1 x.go:1] no such day"} {
		if at, ok := lineTime(line, epoch); ok {
			t.Errorf("%s is at %s, want none", line, at)
		}
	}
}
