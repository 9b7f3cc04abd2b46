package clusterapi_test

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/program/clusterapi"
	"nodestorm/harness/program/clusterautoscaler"
	"nodestorm/harness/world"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/workload"
)

// build is the Cluster Autoscaler of these tests.
func build(t *testing.T) builds.Target {
	t.Helper()
	return buildstest.Get(t, builds.Ref{Name: clusterautoscaler.Name, Version: "1.33.0", Provider: "clusterapi"})
}

// run starts an autoscaler that looks after what tags name, and demand for as many
// machines as there are names: each has room for one of the pods. From the record that
// it returns on, all pods are there.
func run(t *testing.T, w *world.World, a *clusterapi.ClusterAPI, build builds.Target, tags string, names ...string) history.Entry {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(a.Grant(ctx, metav1.NamespaceSystem, clusterautoscaler.Name, clusterapi.NamespacedRights))
	ca, err := clusterautoscaler.Install(ctx, clusterautoscaler.Config{
		World: w, Target: build, Intent: clusterautoscaler.Intent{Provider: "clusterapi", Discovery: []string{tags}}, Management: a.Management(),
	})
	must(err)
	must(ca.Start(ctx))
	demand := workload.New(w.Client())
	for _, name := range names {
		pod, err := workload.Pod("default", name, workload.Template{CPU: "3"})
		must(err)
		must(demand.Create(ctx, pod))
	}
	last, err := w.History().WaitAfter(ctx, 0, func(r history.Entry) bool {
		return r.Source == history.API && r.Verb == "create" && r.Object.Resource == "pods" && r.Object.Name == names[len(names)-1]
	})
	must(err)
	return last
}

// awaitLoops waits until the autoscaler has begun so many rounds after the record, for
// at most a minute of virtual time each: it does so every 10 s.
func awaitLoops(t *testing.T, w *world.World, after history.Entry, loops int) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	bound := w.Clock().NewTimer(time.Duration(loops) * time.Minute)
	defer bound.Stop()
	go func() {
		select {
		case <-bound.C():
			cancel(errors.New("the autoscaler does not go on"))
		case <-w.Done():
			cancel(w.Err())
		case <-ctx.Done():
		}
	}()
	begun := 0
	_, err := w.History().WaitAfter(ctx, after.Seq, func(r history.Entry) bool {
		if r.Verb == clusterautoscaler.Loop && r.Actor == clusterautoscaler.Name {
			begun++
		}
		return begun == loops
	})
	if err != nil {
		t.Fatalf("%d of %d loops: %v", begun, loops, err)
	}
}

// replicas is how many machines a MachineDeployment is to have.
func replicas(t *testing.T, a *clusterapi.ClusterAPI, name string) int64 {
	t.Helper()
	c, err := client.New(a.Management().Admin(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	md := &unstructured.Unstructured{}
	md.SetAPIVersion("cluster.x-k8s.io/v1beta1")
	md.SetKind("MachineDeployment")
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: clusterapi.Namespace, Name: name}, md); err != nil {
		t.Fatal(err)
	}
	n, _, err := unstructured.NestedInt64(md.Object, "spec", "replicas")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Discovery by tags, and no right outside of one namespace: the autoscaler looks after
// what its tags name, and after nothing else. A label that only the MachineDeployment had
// would not do: the autoscaler asks the MachineSet on its way from a node to the group,
// and a group without nodes is unhealthy to it.
func TestAutoscalerDiscoversByTags(t *testing.T) {
	for _, test := range []struct {
		name, tags  string
		blue, plain int64 // machines, of two that each can have
	}{
		{"cluster", "clusterapi:namespace=default,clusterName=storm", 2, 2},
		{"cluster and label", "clusterapi:namespace=default,clusterName=storm,color=blue", 2, 1},
		{"another cluster", "clusterapi:namespace=default,clusterName=other", 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			build := build(t)
			w, a := up(t, "v1.9.5")
			ctx := t.Context()
			want := map[string]int64{"blue": test.blue, "plain": test.plain}
			for name, labels := range map[string]map[string]string{"blue": {"color": "blue"}, "plain": nil} {
				err := a.CreateMachineDeployment(ctx, clusterapi.MachineDeployment{Name: name, Replicas: 1, Labels: labels, Annotations: clusterapi.Bounds(1, 2)})
				if err != nil {
					t.Fatal(err)
				}
			}
			for name := range want {
				if _, err := a.AwaitRunning(ctx, name, 1, 5*time.Minute); err != nil {
					t.Fatal(err)
				}
			}
			demanded := run(t, w, a, build, test.tags, "a", "b", "c", "d")
			for name, want := range want {
				if want == 1 {
					continue // which is already so
				}
				if _, err := a.AwaitRunning(ctx, name, int(want), 10*time.Minute); err != nil {
					t.Error(err)
				}
			}
			awaitLoops(t, w, demanded, 12)
			for name, want := range want {
				if got := replicas(t, a, name); got != want {
					t.Errorf("MachineDeployment %q is of %d machines, want %d", name, got, want)
				}
			}
		})
	}
}

// Cluster Autoscaler with two kubeconfigs: pods and nodes are in one cluster, what makes
// nodes in the other, and neither has anything of the other's.
func TestAutoscalerOfTwoClusters(t *testing.T) {
	build := build(t)
	w := start(t)
	ctx := t.Context()
	management, err := w.StartCluster(ctx, "management")
	if err != nil {
		t.Fatal(err)
	}
	a := bring(t, clusterapi.Config{World: w, Management: management}, "v1.9.5")
	if err := a.CreateMachineDeployment(ctx, clusterapi.MachineDeployment{Name: "workers", Replicas: 1, Annotations: clusterapi.Bounds(1, 3)}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.AwaitRunning(ctx, "workers", 1, 5*time.Minute); err != nil {
		t.Fatal(err)
	}
	run(t, w, a, build, "clusterapi:namespace=default", "a", "b")
	if _, err := a.AwaitRunning(ctx, "workers", 2, 10*time.Minute); err != nil {
		t.Fatal(err)
	}
	scaled := false
	for _, r := range w.History().Events() {
		if r.Source != history.API {
			continue
		}
		there := r.Detail["cluster"] == "management"
		switch {
		case r.Object.Resource == "machinedeployments" && r.Actor == clusterautoscaler.Name && r.Detail["subresource"] == "scale":
			scaled = scaled || there && r.Code == 200
		case r.Object.Resource == "nodes" && there, r.Object.Resource == "machines" && !there:
			t.Errorf("%s of %s in the wrong cluster", r.Verb, r.Object)
		}
	}
	if !scaled {
		t.Error("the autoscaler's write to the scale is not in the history of the management cluster")
	}
}
