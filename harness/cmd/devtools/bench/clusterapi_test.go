package bench

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/program/clusterapi"
	"nodestorm/harness/program/clusterautoscaler"
	"nodestorm/harness/world"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/workload"
)

// bring brings a Cluster API release up in a world, with these arguments in addition to its own.
func bring(b *testing.B, w *world.World, args ...string) *clusterapi.ClusterAPI {
	b.Helper()
	a, err := clusterapi.Start(context.Background(), clusterapi.Config{
		World: w, Target: buildstest.Get(b, builds.Ref{Name: clusterapi.Name, Version: "v1.9.5"}), Seed: 1, Args: args,
	})
	if err != nil {
		b.Fatal(err)
	}
	return a
}

// BenchmarkMachines is from nothing to 50 MachineDeployments whose 500 Machines are
// Running with a node, with the flags of those who have that many: more calls a second,
// and more machines at once.
func BenchmarkMachines(b *testing.B) {
	const deployments, each = 50, 10
	for b.Loop() {
		began := time.Now()
		w := start(b, world.Config{ClientQPS: 200})
		a := bring(b, w, "--kube-api-qps=200", "--kube-api-burst=400", "--clustercache-client-qps=200", "--clustercache-client-burst=400", "--machine-concurrency=50")
		b.ReportMetric(time.Since(began).Seconds(), "s-ready")
		ctx := context.Background()
		for n := range deployments {
			if err := a.CreateMachineDeployment(ctx, clusterapi.MachineDeployment{Name: fmt.Sprintf("md-%d", n), Replicas: each}); err != nil {
				b.Fatal(err)
			}
		}
		for n := range deployments {
			if _, err := a.AwaitRunning(ctx, fmt.Sprintf("md-%d", n), each, time.Hour); err != nil {
				b.Fatal(err)
			}
		}
		f := w.Driver().Figures()
		b.ReportMetric(time.Since(began).Seconds(), "s-machines-running")
		b.ReportMetric(f.Virtual.Seconds(), "s-virtual")
		b.ReportMetric(float64(f.Lag.P99)/1e6, "ms-lag-p99")
		cpu, rss := total(w.Usage())
		b.ReportMetric(cpu.Seconds(), "cpu-s")
		b.ReportMetric(float64(rss)/(1<<20), "MiB")
		_ = w.Stop()
	}
}

// BenchmarkUnforcedConflict measures how often a Cluster Autoscaler that updates the scale
// of a MachineDeployment meets a write of Cluster API's own controllers: 200 scale-ups
// of one, 20 s apart, so that it changes all the time, and nothing but real programs.
func BenchmarkUnforcedConflict(b *testing.B) {
	const tries, apart = 200, 20 * time.Second
	for b.Loop() {
		w := start(b, world.Config{})
		a, ctx := bring(b, w), context.Background()
		err := a.CreateMachineDeployment(ctx, clusterapi.MachineDeployment{Name: "workers", Replicas: 1, Annotations: clusterapi.Bounds(1, 2*tries)})
		if err == nil {
			_, err = a.AwaitRunning(ctx, "workers", 1, time.Hour)
		}
		if err == nil {
			err = a.Grant(ctx, metav1.NamespaceSystem, clusterautoscaler.Name, clusterapi.ExampleRights)
		}
		if err != nil {
			b.Fatal(err)
		}
		ca, err := clusterautoscaler.Install(ctx, clusterautoscaler.Config{
			World: w, Target: buildstest.Get(b, builds.Ref{Name: clusterautoscaler.Name, Version: "1.32.5", Provider: "clusterapi"}),
			Intent: clusterautoscaler.Intent{Provider: "clusterapi", Backoff: time.Second},
		})
		if err == nil {
			err = ca.Start(ctx)
		}
		if err != nil {
			b.Fatal(err)
		}
		demand, made, conflicts := workload.New(w.Client()), 0, 0
		for pods := 0; made < tries && pods < 2*tries; pods++ {
			pod, err := workload.Pod("default", fmt.Sprintf("pod-%d", pods), workload.Template{CPU: "3"})
			if err == nil {
				err = demand.Create(ctx, pod)
			}
			if err != nil {
				b.Fatal(err)
			}
			pass(b, w, apart)
			made, conflicts = writes(w.History().Events())
		}
		f := w.Driver().Figures()
		b.ReportMetric(float64(made), "tries")
		b.ReportMetric(float64(conflicts), "conflicts")
		b.ReportMetric(f.Virtual.Minutes(), "min-virtual")
		b.ReportMetric(f.Wall.Seconds(), "s-wall")
		b.ReportMetric(float64(f.Lag.P99)/1e6, "ms-lag-p99")
		_ = w.Stop()
	}
}

// writes counts the autoscaler's writes to scales, and those that met a conflict.
func writes(events []history.Entry) (made, conflicts int) {
	events = slices.DeleteFunc(events, func(r history.Entry) bool {
		return r.Source != history.API || r.Actor != clusterautoscaler.Name || r.Object.Resource != "machinedeployments" || r.Detail["subresource"] != "scale"
	})
	for _, r := range events {
		if r.Code == 409 {
			conflicts++
		}
	}
	return len(events), conflicts
}
