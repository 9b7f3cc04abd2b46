package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/run"
	"nodestorm/reports/table"
)

// replays are what BenchmarkParallel plays, each on two releases: one that waits for five
// virtual minutes, one with faults all along, one that is mostly a world's beginning.
var replays = []string{"karpenter-7515-not-ready-noexecute", "karpenter-7515-not-ready-flap", "karpenter-7515-startup-taint-undeclared"}

// played is one verify of all replays.
type played struct {
	wall, work time.Duration // of the command, and what it has kept processors busy
	span       time.Duration // from when the first replay began to the end of the last
	rows       []table.Row
}

// seen are the verdicts, in order.
func (p played) seen() (list []string) {
	for _, row := range p.rows {
		list = append(list, row.ID+" "+row.Target+" "+row.Verdict)
	}
	return list
}

// playAll runs nodestorm as a user does, with so many worlds at a time.
func playAll(b *testing.B, nodestorm string, atATime int) (p played) {
	b.Helper()
	args := append([]string{"verify", "--json", "--parallel", strconv.Itoa(atATime), "--out", b.TempDir()}, replays...)
	ctx, cancel := context.WithTimeout(b.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, nodestorm, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	began := time.Now()
	text, err := cmd.Output()
	p.wall = time.Since(began)
	if json.Unmarshal(text, &p.rows) != nil || len(p.rows) == 0 {
		b.Fatalf("%v: %v, %s", cmd.Args, err, text)
	}
	p.work = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	var first, last time.Time
	for _, row := range p.rows {
		r, err := run.Load(row.Run)
		if err != nil {
			b.Fatal(err)
		}
		wall := time.Duration(row.WallSeconds * float64(time.Second))
		if first.IsZero() || r.Started.Before(first) {
			first = r.Started
		}
		if end := r.Started.Add(wall); end.After(last) {
			last = end
		}
	}
	p.span = last.Sub(first)
	return p
}

// median of a few.
func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// BenchmarkParallel plays the same replays one by one and two at a time, three times in turn.
func BenchmarkParallel(b *testing.B) {
	for _, ref := range []string{"karpenter@v1.6.4", "karpenter@v1.7.0"} {
		of, err := builds.ParseRef(ref)
		if err != nil {
			b.Fatal(err)
		}
		buildstest.Get(b, of)
	}
	nodestorm := built(b)
	var one, two, gained, workOne, workTwo []float64
	for b.Loop() {
		for round := range 3 {
			order := []int{1, 2}
			if round%2 == 1 {
				slices.Reverse(order)
			}
			by := map[int]played{}
			for _, n := range order {
				by[n] = playAll(b, nodestorm, n)
			}
			alone, both := by[1], by[2]
			one, two = append(one, alone.span.Seconds()), append(two, both.span.Seconds())
			gained = append(gained, alone.span.Seconds()/both.span.Seconds())
			workOne, workTwo = append(workOne, alone.work.Seconds()/float64(len(alone.rows))), append(workTwo, both.work.Seconds()/float64(len(both.rows)))
			fmt.Fprintf(os.Stderr, "round %d: one by one %.1f s (the command %.1f s), two at a time %.1f s (%.1f s); the same verdicts: %v\n",
				round+1, alone.span.Seconds(), alone.wall.Seconds(), both.span.Seconds(), both.wall.Seconds(), slices.Equal(alone.seen(), both.seen()))
			for i, row := range both.rows {
				fmt.Fprintf(os.Stderr, "  %s on %s: %s, %.1f s and %.1f s beside another, lag p99 %.0f and %.0f ms\n", row.ID, row.Target,
					row.Verdict, alone.rows[i].WallSeconds, row.WallSeconds, alone.rows[i].LagP99Ms, row.LagP99Ms)
			}
		}
	}
	b.ReportMetric(median(one), "s-one-by-one")
	b.ReportMetric(median(two), "s-two-at-a-time")
	b.ReportMetric(median(gained), "x-gained")
	b.ReportMetric(median(workOne), "cpu-s/verdict")
	b.ReportMetric(median(workTwo), "cpu-s/verdict-of-two")
}
