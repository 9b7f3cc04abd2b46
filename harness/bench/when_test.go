package bench

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"nodestorm/harness/replay"
	"nodestorm/harness/run"
	"nodestorm/harness/target"
	"nodestorm/harness/target/targettest"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
)

// BenchmarkFirstWhen is how long, in real time from the history's beginning, the Givens of a
// record take: the world, the cloud, the target's installation, and the target itself.
func BenchmarkFirstWhen(b *testing.B) {
	catalogue, err := scenarios.Load()
	if err != nil {
		b.Fatal(err)
	}
	for _, id := range []string{replays[0], "hetzner-8013-poll-window", "clusterapi-7872-conflict-forced"} {
		b.Run(id, func(b *testing.B) {
			record, err := catalogue.Lookup(id)
			if err != nil {
				b.Fatal(err)
			}
			ref, err := target.ParseRef(record.Targets[0].Name)
			if err != nil {
				b.Fatal(err)
			}
			request := replay.Request{Record: record, Features: catalogue.Features(), Kubernetes: targettest.Get(b, target.Kubernetes), Target: targettest.Get(b, ref), Seed: 1, Out: b.TempDir()}
			for b.Loop() {
				played, err := replay.Run(context.Background(), request)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(givensTook(b, filepath.Join(played.Dir, run.HistoryFile)).Seconds(), "s-first-when")
			}
		})
	}
}

// givensTook is when the last step before the first When had passed.
func givensTook(b *testing.B, path string) (took time.Duration) {
	b.Helper()
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	asked := false
	history.Scan(file, func(r history.Record) {
		step, ok := history.OutcomeOf(r)
		if !ok || asked {
			return
		}
		if asked = step.Role == history.When; !asked {
			took = r.Real
		}
	})
	return took
}
