package bench

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"nodestorm/harness/replay"
	"nodestorm/harness/run"
	"nodestorm/harness/target"
	"nodestorm/harness/target/targettest"
	"nodestorm/scenarios"
)

// BenchmarkVerdict replays a failure on the release that has it and on the one that has not,
// from nothing to the verdict, worlds included, and says how large its history's records are.
func BenchmarkVerdict(b *testing.B) {
	catalogue, err := scenarios.Load()
	if err != nil {
		b.Fatal(err)
	}
	record, err := catalogue.Lookup(replays[0])
	if err != nil {
		b.Fatal(err)
	}
	kubernetes := targettest.Get(b, target.Kubernetes)
	for _, of := range record.Targets {
		b.Run(of.Name, func(b *testing.B) {
			ref, err := target.ParseRef(of.Name)
			if err != nil {
				b.Fatal(err)
			}
			request := replay.Request{Record: record, Features: catalogue.Features(), Kubernetes: kubernetes, Target: targettest.Get(b, ref), Seed: 1, Out: b.TempDir()}
			for b.Loop() {
				played, err := replay.Run(context.Background(), request)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if seen := string(played.Verdict); seen != string(of.Expected) {
					b.Fatalf("%s on %s is %s, expected %s: see %s", record.ID, ref, seen, of.Expected, played.Dir)
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
