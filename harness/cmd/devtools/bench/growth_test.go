package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"nodestorm/harness/world"
	"nodestorm/sim/machine/node"
)

// sizes are those that an environment variable has, "10 20", or these.
func sizes(b *testing.B, variable string, usual ...int) (list []int) {
	b.Helper()
	for _, text := range strings.Fields(os.Getenv(variable)) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			b.Fatalf("%s=%q: want whole numbers from 1", variable, os.Getenv(variable))
		}
		list = append(list, n)
	}
	if list == nil {
		return usual
	}
	return list
}

// BenchmarkGrowth measures what a world costs with more and more nodes, pods and virtual time:
// make bench-growth, which draws it.
func BenchmarkGrowth(b *testing.B) {
	const span = 5 * time.Minute
	for _, n := range sizes(b, "GROWTH_NODES", 3, 100, 300, 1000) {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			for b.Loop() {
				w := start(b, world.Config{ClientQPS: 1000})
				part(b, w, "ready-cpu-s", func() { bootReady(b, w, n) })
				pass(b, w, time.Minute)
				steady(b, w, span)
				_ = w.Stop()
			}
		})
	}
	for _, n := range sizes(b, "GROWTH_PODS", 100, 1000, 3000, 10_000) {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) {
			for b.Loop() {
				w := start(b, world.Config{ClientQPS: 1000})
				bootReady(b, w, 130) // room for 10,400 of 50m, as deploy makes them
				part(b, w, "running-cpu-s", func() {
					deploy(b, w, n, false)
					until(b, w, n, "pods Ready", time.Second, func() int { return readyPods(b, w.Client()) })
				})
				pass(b, w, time.Minute)
				steady(b, w, span)
				_ = w.Stop()
			}
		})
	}
	for _, n := range sizes(b, "GROWTH_MINUTES", 15, 60, 240) {
		b.Run(fmt.Sprintf("virtual-minutes=%d", n), func(b *testing.B) {
			for b.Loop() {
				w := start(b, world.Config{})
				bootReady(b, w, 3)
				part(b, w, "cpu-s", func() { pass(b, w, time.Duration(n)*time.Minute) })
				_, rss := total(w.Usage())
				b.ReportMetric(float64(rss)/(1<<20), "MiB")
				b.ReportMetric(float64(len(w.History().Since(0))), "records")
				_ = w.Stop()
			}
		})
	}
}

// bootReady boots n nodes and waits until they are Ready.
func bootReady(b *testing.B, w *world.World, n int) {
	b.Helper()
	for _, name := range nodeNames(n) {
		if err := w.Fleet().Boot(node.Spec{Name: name}); err != nil {
			b.Fatal(err)
		}
	}
	awaitNodes(b, w, n)
}

// part reports the processor time of all programs while f runs.
func part(b *testing.B, w *world.World, unit string, f func()) {
	b.Helper()
	before, _ := total(w.Usage())
	f()
	after, _ := total(w.Usage())
	b.ReportMetric((after - before).Seconds(), unit)
}

// steady reports what a virtual minute costs in which nothing happens, and all memory.
func steady(b *testing.B, w *world.World, span time.Duration) {
	b.Helper()
	w.Driver().Restart()
	before, _ := total(w.Usage())
	pass(b, w, span)
	f := w.Driver().Figures()
	after, rss := total(w.Usage())
	b.ReportMetric((after-before).Seconds()/f.Virtual.Minutes(), "cpu-s/virtual-min")
	b.ReportMetric(f.Mean, "x-mean")
	b.ReportMetric(float64(rss)/(1<<20), "MiB")
}
