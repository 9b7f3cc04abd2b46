package clusterapi_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/autoscaler"
	"nodestorm/harness/clusterapi"
	"nodestorm/harness/target"
	"nodestorm/harness/target/targettest"
	"nodestorm/sim/workload"
)

// Discovery by tags, and no right outside of one namespace: the autoscaler looks after
// what its tags name, and after nothing else.
func TestAutoscalerInOneNamespace(t *testing.T) {
	for tags, want := range map[string]int64{
		"clusterapi:namespace=default,clusterName=storm": 2,
		"clusterapi:namespace=default,clusterName=other": 1,
	} {
		t.Run(tags, func(t *testing.T) {
			build := targettest.Get(t, target.Ref{Name: autoscaler.Name, Version: "1.33.0", Provider: "clusterapi"})
			w, a := up(t, "v1.9.5")
			ctx := t.Context()
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			must(a.CreateMachineDeployment(ctx, clusterapi.MachineDeployment{Name: "workers", Replicas: 1, Annotations: clusterapi.Bounds(1, 3)}))
			_, err := a.AwaitRunning(ctx, "workers", 1, 5*time.Minute)
			must(err)
			must(a.Grant(ctx, metav1.NamespaceSystem, autoscaler.Name, clusterapi.NamespacedRights))
			ca, err := autoscaler.Install(ctx, autoscaler.Config{
				World: w, Target: build, Intent: autoscaler.Intent{Provider: "clusterapi", Discovery: []string{tags}},
			})
			must(err)
			_, err = ca.Start(ctx)
			must(err)
			demand := workload.New(w.Client(), w.Clock())
			for _, name := range []string{"a", "b"} { // one machine has room for one
				pod, err := workload.Pod("default", name, workload.Template{CPU: "3"})
				must(err)
				must(demand.Create(ctx, pod))
			}
			select {
			case <-w.Clock().After(2 * time.Minute):
			case <-w.Done():
				t.Fatal(w.Err())
			}
			got, err := a.Replicas(ctx, "workers")
			must(err)
			if got != want {
				t.Errorf("MachineDeployment of %d machines, want %d", got, want)
			}
		})
	}
}
