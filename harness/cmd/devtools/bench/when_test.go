package bench

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"nodestorm/harness/replay"
	"nodestorm/harness/run"
	"nodestorm/sim/history"
)

// BenchmarkFirstWhen is how long, in real time from the history's beginning, the Givens of a
// record take: the world, the cloud, the target's installation, and the target itself.
func BenchmarkFirstWhen(b *testing.B) {
	for _, id := range []string{replays[0], "hetzner-8013-poll-window", "clusterapi-7872-conflict-forced"} {
		b.Run(id, func(b *testing.B) {
			catalogue, record := recordOf(b, id)
			request := replayOf(b, catalogue, record, record.Targets[0])
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
	history.Scan(file, func(r history.Entry) {
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
