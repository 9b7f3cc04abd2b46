package bench

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"nodestorm/harness/world"
)

// BenchmarkControlPlane lets a quarter of an hour pass in a world with three nodes, by turns on
// a control plane that was built with the clock and on that of the folder $CONTROL_PLANE, whose
// programs are guests of the world's time.
func BenchmarkControlPlane(b *testing.B) {
	guests := os.Getenv("CONTROL_PLANE")
	if guests == "" {
		b.Skip("CONTROL_PLANE names no folder with a control plane that was built without the clock")
	}
	guests, err := filepath.Abs(guests)
	if err != nil {
		b.Fatal(err)
	}
	for _, of := range []struct{ name, folder string }{{"overlay", ""}, {"guests", guests}} {
		b.Run(of.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				began := time.Now()
				w := start(b, world.Config{ControlPlane: of.folder})
				b.ReportMetric(time.Since(began).Seconds(), "s-ready")
				quiet(b, w, 15*time.Minute)
				b.StartTimer()
			}
		})
	}
}
