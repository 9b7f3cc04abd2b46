package bench

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"nodestorm/harness/replay"
	"nodestorm/harness/run"
)

// BenchmarkVerdict replays a failure on the release that has it and on the one that has not,
// from nothing to the verdict, worlds included, and says how large its history's records are.
func BenchmarkVerdict(b *testing.B) {
	catalogue, record := recordOf(b, replays[0])
	for _, of := range record.Targets {
		b.Run(of.Name, func(b *testing.B) {
			request := replayOf(b, catalogue, record, of)
			for b.Loop() {
				played, err := replay.Run(context.Background(), request)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if seen := string(played.Verdict); seen != string(of.Expected) {
					b.Fatalf("%s on %s is %s, expected %s: see %s", record.ID, of.Name, seen, of.Expected, played.Dir)
				}
				history, err := os.ReadFile(filepath.Join(played.Dir, run.HistoryFile))
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(history))/float64(bytes.Count(history, []byte("\n"))), "B/record")
				b.StartTimer()
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s-verdict")
		})
	}
}
