package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/run"
	"nodestorm/reports"
)

// replays are what BenchmarkParallel plays, each on two releases: one that waits for five
// virtual minutes, one with faults all along, one that is mostly a world's beginning.
var replays = []string{"karpenter-7515-not-ready-noexecute", "karpenter-7515-not-ready-flap", "karpenter-7515-startup-taint-undeclared"}

// played is one verify of all replays.
type played struct {
	wall, work time.Duration // of the command, and what it has kept processors busy
	span       time.Duration // from when the first replay began to the end of the last
	rows       []reports.Row
	traces     []queue.Trace
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
	sampler, err := queue.Sample(200 * time.Millisecond)
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	text, err := cmd.Output()
	p.wall = time.Since(began)
	if other := sampler.Stop(); other != nil {
		b.Fatal(other)
	}
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
		p.traces = append(p.traces, sampler.Trace(r.Started, wall))
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

// BenchmarkParallel plays the same replays one by one and two at a time, three times in turn,
// has the model predict the second from the first, and says what it predicts of sixteen
// processors.
func BenchmarkParallel(b *testing.B) {
	for _, ref := range []string{"karpenter@v1.6.4", "karpenter@v1.7.0"} {
		of, err := builds.ParseRef(ref)
		if err != nil {
			b.Fatal(err)
		}
		buildstest.Get(b, of)
	}
	nodestorm := filepath.Join(b.TempDir(), "nodestorm")
	if said, err := exec.CommandContext(b.Context(), "go", "build", "-o", nodestorm, "../cmd/nodestorm").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, said)
	}
	processors := float64(runtime.GOMAXPROCS(0))
	var one, two, predicted, gained, workOne, workTwo, waits []float64
	var traces []queue.Trace
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
			queue.Scale(alone.traces, alone.work)
			now := queue.Machine{Processors: processors, AtOnce: 2}.Predict(alone.traces)
			one, two = append(one, alone.span.Seconds()), append(two, both.span.Seconds())
			predicted, gained = append(predicted, now.Seconds()), append(gained, alone.span.Seconds()/both.span.Seconds())
			workOne, workTwo = append(workOne, alone.work.Seconds()/float64(len(alone.rows))), append(workTwo, both.work.Seconds()/float64(len(both.rows)))
			for _, trace := range alone.traces {
				waits = append(waits, trace.Waits())
			}
			traces = alone.traces
			fmt.Fprintf(os.Stderr, "round %d: one by one %.1f s (the command %.1f s), two at a time %.1f s (%.1f s), predicted %.1f s; the same verdicts: %v\n",
				round+1, alone.span.Seconds(), alone.wall.Seconds(), both.span.Seconds(), both.wall.Seconds(), now.Seconds(), slices.Equal(alone.seen(), both.seen()))
			for i, row := range both.rows {
				fmt.Fprintf(os.Stderr, "  %s on %s: %s, %.1f s and %.1f s beside another, lag p99 %.0f and %.0f ms, %.1f CPU-s, waits %.0f %% of its time\n", row.ID, row.Target,
					row.Verdict, alone.rows[i].WallSeconds, row.WallSeconds, alone.rows[i].LagP99Ms, row.LagP99Ms, alone.traces[i].Work().Seconds(), 100*alone.traces[i].Waits())
			}
		}
	}
	b.ReportMetric(median(one), "s-one-by-one")
	b.ReportMetric(median(two), "s-two-at-a-time")
	b.ReportMetric(median(predicted), "s-two-predicted")
	b.ReportMetric(median(gained), "x-gained")
	b.ReportMetric(median(workOne), "cpu-s/verdict")
	b.ReportMetric(median(workTwo), "cpu-s/verdict-of-two")
	b.ReportMetric(100*median(waits), "%-waits")
	fmt.Fprintln(os.Stderr, outlook(traces, median(two)/median(predicted))) // a benchmark's own log has ten lines
}

// outlook is what the model says of sixteen processors; off is how much longer than
// predicted two worlds at a time have taken here.
func outlook(traces []queue.Trace, off float64) string {
	const processors, times = 16, 8
	var jobs []queue.Trace
	used, wall := 0.0, 0.0
	for range times {
		jobs = append(jobs, traces...)
	}
	for _, t := range traces {
		used += t.Work().Seconds()
		wall += (time.Duration(len(t.Busy)) * t.Step).Seconds()
	}
	if wall == 0 {
		return "no traces"
	}
	used /= wall
	one := queue.Machine{Processors: processors, AtOnce: 1}.Predict(jobs)
	bears := queue.Load{Processors: processors, Used: used, Idle: processors - used}.AtOnce()
	text := fmt.Sprintf("%d processors, %d replays, each world keeps %.1f busy; one by one %.0f s", processors, len(jobs), used, one.Seconds())
	several := []int{2, 4, 8, 12, 16, bears}
	slices.Sort(several)
	for _, n := range slices.Compact(several) {
		m := queue.Machine{Processors: processors, AtOnce: n}
		took := m.Predict(jobs)
		text += fmt.Sprintf("\n  %2d at a time: %.0f s, %.1fx; %.1fx if it is as far off as here", n, took.Seconds(), one.Seconds()/took.Seconds(), one.Seconds()/took.Seconds()/off)
	}
	work, longest := queue.Machine{Processors: processors}.Bounds(jobs)
	return text + fmt.Sprintf("\n  by default %d; never less than %.0f s, which is the work, and %.0f s, which is the longest replay", bears, work.Seconds(), longest.Seconds())
}
