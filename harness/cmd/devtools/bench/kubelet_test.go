package bench

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/world"
	"nodestorm/harness/world/kubelet"
)

// boot starts n machines with real kubelets and waits until they are Ready.
func boot(b *testing.B, w *world.World, n int) {
	b.Helper()
	kubernetes := buildstest.Get(b, builds.Kubernetes)
	machines, err := kubelet.New(context.Background(), w, kubelet.Config{Kubernetes: kubernetes.Bin()})
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		if err := machines.Boot(kubelet.Machine{Name: fmt.Sprintf("kubelet-%d", i)}); err != nil {
			b.Fatal(err)
		}
	}
	until(b, w, n, "kubelets Ready", 50*time.Millisecond, func() (ready int) {
		nodes, err := w.Client().CoreV1().Nodes().List(context.Background(), metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return 0
		}
		for _, node := range nodes.Items {
			for _, c := range node.Status.Conditions {
				if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
					ready++
				}
			}
		}
		return ready
	})
}

// kubelets is what they have used, one by one.
func kubelets(usage map[string]world.Usage) (n int, cpu time.Duration, share int64) {
	for name, u := range usage {
		if strings.HasPrefix(name, "kubelet.") {
			n, cpu, share = n+1, cpu+u.CPU, share+u.Share
		}
	}
	return n, cpu, share
}

func shares(usage map[string]world.Usage) (sum int64) {
	for _, u := range usage {
		sum += u.Share
	}
	return sum
}

// BenchmarkKubelets boots 50 real kubelets at once.
func BenchmarkKubelets(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		w := start(b, world.Config{ClusterOptions: world.ClusterOptions{Kubelets: true}})
		began := time.Now()
		b.StartTimer()
		boot(b, w, 50)
		b.StopTimer()
		b.ReportMetric(time.Since(began).Seconds(), "s-ready/op")
		usage := w.Usage()
		n, cpu, share := kubelets(usage)
		b.ReportMetric(cpu.Seconds()/float64(n), "cpu-s-start/kubelet")
		b.ReportMetric(float64(share)/float64(n)/(1<<20), "MiB/kubelet")
		b.ReportMetric(float64(shares(usage))/(1<<20), "MiB-total")
		_ = w.Stop()
		b.StartTimer()
	}
}

// BenchmarkQuietKubelets lets time pass in a world with three real kubelets.
func BenchmarkQuietKubelets(b *testing.B) {
	const span = 15 * time.Minute
	for b.Loop() {
		b.StopTimer()
		w := start(b, world.Config{ClusterOptions: world.ClusterOptions{Kubelets: true}})
		boot(b, w, 3)
		pass(b, w, 2*time.Minute)
		w.Driver().Restart()
		all, _ := total(w.Usage())
		_, own, _ := kubelets(w.Usage())
		b.StartTimer()
		pass(b, w, span)
		b.StopTimer()
		f := w.Driver().Figures()
		usage := w.Usage()
		allAfter, _ := total(usage)
		n, ownAfter, share := kubelets(usage)
		b.ReportMetric(f.Mean, "x-mean")
		b.ReportMetric(float64(f.Lag.P50)/1e6, "ms-lag-p50")
		b.ReportMetric(float64(f.Lag.P99)/1e6, "ms-lag-p99")
		b.ReportMetric((allAfter-all).Seconds()/f.Virtual.Minutes(), "cpu-s/virtual-min")
		b.ReportMetric((ownAfter-own).Seconds()/f.Virtual.Minutes()/float64(n), "cpu-s/virtual-min/kubelet")
		b.ReportMetric(float64(share)/float64(n)/(1<<20), "MiB/kubelet")
		_ = w.Stop()
		b.StartTimer()
	}
}
