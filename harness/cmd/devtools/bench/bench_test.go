// Package bench measures what BENCHMARKS.md says:
//
//	make bench
//
// It asserts nothing: machines are shared and noisy.
package bench

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/world"
	"nodestorm/sim/machine/node"
	"nodestorm/sim/time/lag"
)

// start starts a world and reports how long that took.
func start(b *testing.B, cfg world.Config) *world.World {
	b.Helper()
	kubernetes := buildstest.Get(b, builds.Kubernetes)
	cfg.Out, cfg.Kubernetes, cfg.Seed = b.TempDir(), kubernetes.Bin(), 1
	w, err := world.Start(context.Background(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := w.Stop(); err != nil {
			b.Error(err)
		}
	})
	return w
}

// built is the command, built from this checkout.
func built(b *testing.B) string {
	b.Helper()
	root, err := buildstore.Root()
	if err != nil {
		b.Fatal(err)
	}
	program := filepath.Join(b.TempDir(), "nodestorm")
	build := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-o", program, "./harness/cmd/nodestorm")
	build.Dir = root // of another module than these benchmarks
	if said, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, said)
	}
	return program
}

// pass waits for d of virtual time.
func pass(b *testing.B, w *world.World, d time.Duration) {
	b.Helper()
	select {
	case <-w.Clock().After(d):
	case <-w.Done():
		b.Fatal(w.Err())
	}
}

// until waits, in real time, for n nodes or pods. It counts once every so often.
func until(b *testing.B, w *world.World, n int, what string, every time.Duration, count func() int) {
	b.Helper()
	deadline := time.After(30 * time.Minute)
	for tick := time.NewTicker(every); ; <-tick.C {
		have := count()
		if have >= n {
			return
		}
		select {
		case <-w.Done():
			b.Fatal(w.Err())
		case <-deadline:
			b.Fatalf("%d of %d %s after 30 minutes", have, n, what)
		default:
		}
	}
}

func total(usage map[string]world.Usage) (cpu time.Duration, rss int64) {
	for _, u := range usage {
		cpu += u.CPU
		rss += u.RSS
	}
	return cpu, rss
}

// BenchmarkWorldReady is from nothing to etcd, kube-apiserver,
// kube-controller-manager, kube-scheduler and an empty fleet, all ready.
func BenchmarkWorldReady(b *testing.B) {
	for b.Loop() {
		w := start(b, world.Config{})
		b.StopTimer()
		_ = w.Stop()
		b.StartTimer()
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s-ready/op")
}

// BenchmarkQuiet lets time pass in a world with three nodes.
func BenchmarkQuiet(b *testing.B) {
	for _, span := range []time.Duration{15 * time.Minute, time.Hour} {
		b.Run(span.String(), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				w := start(b, world.Config{})
				quiet(b, w, span)
				b.StartTimer()
			}
		})
	}
}

// quiet lets a span pass in a world with three nodes, and ends it. The timer, which is stopped
// before and after, runs only in between.
func quiet(b *testing.B, w *world.World, span time.Duration) {
	b.Helper()
	for n := range 3 {
		if err := w.Fleet().Boot(node.Spec{Name: fmt.Sprintf("node-%d", n), Profile: node.DefaultProfile()}); err != nil {
			b.Fatal(err)
		}
	}
	pass(b, w, 2*time.Minute)
	w.Driver().Restart()
	start := guests(w.Driver().Figures())
	before, _ := total(w.Usage())
	b.StartTimer()
	pass(b, w, span)
	b.StopTimer()
	f := w.Driver().Figures()
	after, _ := total(w.Usage())
	for name, now := range guests(f) {
		calls := float64(now.Calls - start[name].Calls)
		b.ReportMetric(calls/f.Wall.Seconds(), "told/s-"+name)
		b.ReportMetric(float64((now.Listening-start[name].Listening).Nanoseconds())/1e3/calls, "µs/told-"+name)
	}
	b.ReportMetric(f.Wall.Seconds(), "s-wall")
	b.ReportMetric(f.Mean, "x-mean")
	b.ReportMetric(float64(f.Lag.P50)/1e6, "ms-lag-p50")
	b.ReportMetric(float64(f.Lag.P99)/1e6, "ms-lag-p99")
	b.ReportMetric((after-before).Seconds()/f.Virtual.Minutes(), "cpu-s/virtual-min")
	_ = w.Stop()
}

// guests are the programs whose calls the kernel reports to us, by name.
func guests(f lag.Figures) map[string]lag.Program {
	of := map[string]lag.Program{}
	for _, p := range f.Programs {
		if p.Calls > 0 {
			of[p.Name] = p
		}
	}
	return of
}
