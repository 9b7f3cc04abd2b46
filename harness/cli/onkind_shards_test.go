package cli_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/cli"
	"nodestorm/harness/k8sjob"
	"nodestorm/harness/kind"
	"nodestorm/harness/run"
	"nodestorm/harness/target"
)

// BenchmarkKindShards is the wall time of a night of four replays as a Job of 1, 2 and 4 shards,
// all at once, on three nodes that are this one machine; and what it would be if each shard had
// a machine of its own: as long as the longest shard's replays took when they played alone, and
// what else the Job of one shard took.
func BenchmarkKindShards(b *testing.B) {
	if err := cmp.Or(kind.CheckDocker(b.Context()), kind.CheckImage(b.Context(), target.Kubernetes.Version)); err != nil {
		b.Skip(err)
	}
	n := newNight(b)
	n.ok(n.cluster.Load(n.image))
	for b.Loop() {
		alone, rest := map[string]time.Duration{}, time.Duration(0)
		for _, shards := range []int{1, 2, 4} {
			name := fmt.Sprintf("shards-%d", shards)
			code, manifest, stderr := nodestorm(b, append([]string{"nightly", "manifest", "--image", nightImage, "--name", name, "--claim", "nights",
				"--shards", fmt.Sprint(shards), "--at-once", fmt.Sprint(shards), "--cpu", "500m", "--memory", "3Gi", "--scratch", "3Gi", "--retries", "4", "--deadline", "1h"}, nightIDs...)...)
			if code != cli.AsExpected {
				b.Fatal(stderr)
			}
			n.apply(manifest)
			if told, err := k8sjob.Wait(n.ctx, n.client, "default", name); err != nil {
				b.Fatal(told, err, n.says())
			}
			job, err := n.client.BatchV1().Jobs("default").Get(n.ctx, name, metav1.GetOptions{})
			n.ok(err)
			if job.Status.CompletionTime == nil {
				b.Fatalf("%s has failed: %+v%s", name, job.Status, n.says())
			}
			took := job.Status.CompletionTime.Sub(job.Status.StartTime.Time)
			longest := time.Duration(0)
			for i := range shards {
				own := time.Duration(0)
				for replay, wall := range n.walls(name, i) {
					if shards == 1 {
						alone[replay] = wall
					}
					own += alone[replay]
				}
				longest = max(longest, own)
			}
			if shards == 1 {
				rest = took - longest
			}
			b.ReportMetric(took.Seconds(), fmt.Sprintf("s/%d-shards", shards))
			b.ReportMetric((rest + longest).Seconds(), fmt.Sprintf("s/%d-machines", shards))
			b.ReportMetric(float64(tries(job)), fmt.Sprintf("tries/%d-shards", shards))
		}
	}
}

// tries are how many pods of a Job have ended.
func tries(job *batchv1.Job) int32 { return job.Status.Succeeded + job.Status.Failed }

// walls are how long a shard's replays took, by record and target.
func (n *night) walls(name string, shard int) map[string]time.Duration {
	n.t.Helper()
	files, err := filepath.Glob(filepath.Join(n.shared, name, fmt.Sprintf("shard-%d", shard), "*", "*", "run.json"))
	n.ok(err)
	walls := map[string]time.Duration{}
	for _, file := range files {
		r, err := run.Load(filepath.Dir(file))
		n.ok(err)
		walls[r.Scenario+" "+r.Target.Ref.String()] = r.Took()
	}
	return walls
}
