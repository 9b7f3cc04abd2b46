package clusterapi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"nodestorm/fakecloud"
	"nodestorm/harness/clusterapi"
	"nodestorm/harness/join"
	"nodestorm/harness/target"
	"nodestorm/harness/world"
	"nodestorm/sim/clock"
	"nodestorm/sim/node"
)

// releases are those that the catalogue knows.
var releases = []string{"v1.9.5", "v1.12.0"}

type rig struct {
	t      *testing.T
	w      *world.World
	cloud  *fakecloud.Cloud
	api    *clusterapi.ClusterAPI
	client client.Client
}

func start(t *testing.T, version string) *rig {
	t.Helper()
	if testing.Short() {
		t.Skip("worlds need the control plane; run without -short")
	}
	store, err := target.Open("")
	if err != nil {
		t.Fatal(err)
	}
	kubernetes, err := store.Get(target.Kubernetes)
	if err != nil {
		t.Skip(err)
	}
	release, err := store.Get(target.Ref{Name: clusterapi.Name, Version: version})
	if err != nil {
		t.Skip(err)
	}
	out := t.TempDir()
	w, err := world.Start(t.Context(), world.Config{Kubernetes: kubernetes.Bin(), Out: out, Clock: clock.Auto, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f := w.Driver().Figures()
		t.Logf("%s virtual, lag %s", f.Virtual, f.Lag)
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			b, _ := os.ReadFile(filepath.Join(out, "logs", clusterapi.Name+".log"))
			t.Logf("%s", b[max(0, len(b)-6000):])
		}
	})
	r := &rig{t: t, w: w}
	if r.cloud, err = fakecloud.New(fakecloud.Config{Clock: w.Clock(), Seed: 1, Recorder: w.History()}); err != nil {
		t.Fatal(err)
	}
	w.OnStop(func() error { r.cloud.Close(); return nil })
	joiner, err := join.New(join.Config{Cloud: r.cloud, Fleet: w.Fleet(), History: w.History(), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	w.OnStop(func() error { joiner.Close(); return nil })
	if r.api, err = clusterapi.Install(t.Context(), w, release); err != nil {
		t.Fatal(err)
	}
	if r.client, err = client.New(w.Admin(), client.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.api.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.api.StartProvider(t.Context(), r.cloud); err != nil {
		t.Fatal(err)
	}
	if err := r.api.CreateCluster(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) within(d time.Duration, what string, holds func() (bool, string)) {
	r.t.Helper()
	timer := r.w.Clock().NewTimer(d)
	defer timer.Stop()
	for {
		ok, last := holds()
		if ok {
			return
		}
		select {
		case <-r.w.Clock().After(time.Second):
		case <-timer.C():
			r.t.Fatalf("%s: not within %s: %s", what, d, last)
		case <-r.w.Done():
			r.t.Fatal(r.w.Err())
		}
	}
}

func (r *rig) machines(deployment string) []unstructured.Unstructured {
	r.t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta1", Kind: "MachineList"})
	err := r.client.List(r.t.Context(), list, client.InNamespace(clusterapi.Namespace), client.MatchingLabels{"cluster.x-k8s.io/deployment-name": deployment})
	if err != nil {
		r.t.Fatal(err)
	}
	return list.Items
}

// running waits until a deployment has so many machines, all of them Running with a
// node, and the cloud has as many instances.
func (r *rig) running(d time.Duration, deployment string, want int) []unstructured.Unstructured {
	r.t.Helper()
	var machines []unstructured.Unstructured
	r.within(d, fmt.Sprintf("%d machines of %s", want, deployment), func() (bool, string) {
		machines = r.machines(deployment)
		good := 0
		var states []string
		for _, m := range machines {
			phase, _, _ := unstructured.NestedString(m.Object, "status", "phase")
			node, _, _ := unstructured.NestedString(m.Object, "status", "nodeRef", "name")
			states = append(states, m.GetName()+" "+phase+" "+node)
			if phase == "Running" && node != "" {
				good++
			}
		}
		return good == want && len(machines) == want && len(r.cloud.Instances()) == want, fmt.Sprintf("%s; %d instances", strings.Join(states, ", "), len(r.cloud.Instances()))
	})
	return machines
}

func (r *rig) scale(deployment string, replicas int) {
	r.t.Helper()
	md := &unstructured.Unstructured{}
	md.SetGroupVersionKind(schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta1", Kind: "MachineDeployment"})
	md.SetName(deployment)
	md.SetNamespace(clusterapi.Namespace)
	patch := client.RawPatch("application/merge-patch+json", []byte(fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas)))
	if err := r.client.SubResource("scale").Patch(r.t.Context(), md, patch); err != nil {
		r.t.Fatal(err)
	}
}

// The real controllers, without any autoscaler: scaling, a rolling update, and the
// replacement of a machine that is not healthy.
func TestWithoutAutoscaler(t *testing.T) {
	for _, version := range releases {
		t.Run(version, func(t *testing.T) {
			r := start(t, version)
			if err := r.api.CreateMachineDeployment(t.Context(), clusterapi.MachineDeployment{Name: "workers", Replicas: 1}); err != nil {
				t.Fatal(err)
			}
			r.running(5*time.Minute, "workers", 1)
			r.scale("workers", 3)
			before := names(r.running(5*time.Minute, "workers", 3))

			if err := r.api.Rotate(t.Context(), "workers", "workers-2", "cpx41"); err != nil {
				t.Fatal(err)
			}
			r.within(20*time.Minute, "rolling update", func() (bool, string) {
				now := names(r.machines("workers"))
				for name := range before {
					if now[name] {
						return false, fmt.Sprint(now)
					}
				}
				return len(now) == 3, fmt.Sprint(now)
			})
			after := r.running(5*time.Minute, "workers", 3)
			for _, i := range r.cloud.Instances() {
				if i.Type != "cpx41" {
					t.Errorf("%s is a %s", i.Name, i.Type)
				}
			}

			if err := r.api.CreateHealthCheck(t.Context(), "workers", 5*time.Minute, 10*time.Minute); err != nil {
				t.Fatal(err)
			}
			ill, _, _ := unstructured.NestedString(after[0].Object, "status", "nodeRef", "name")
			if err := r.w.Fleet().Inject(ill, node.Fault{Name: "dead", Effect: node.HeartbeatsStop{}}); err != nil {
				t.Fatal(err)
			}
			r.within(30*time.Minute, "remediation of "+after[0].GetName(), func() (bool, string) {
				now := names(r.machines("workers"))
				return !now[after[0].GetName()], fmt.Sprint(now)
			})
			r.running(10*time.Minute, "workers", 3)
			r.scale("workers", 0)
			r.running(10*time.Minute, "workers", 0)
			nodes, err := r.w.Client().CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
			if err != nil || len(nodes.Items) != 0 {
				t.Errorf("%d nodes are left, %v", len(nodes.Items), err)
			}
		})
	}
}

func names(machines []unstructured.Unstructured) map[string]bool {
	found := map[string]bool{}
	for _, m := range machines {
		found[m.GetName()] = true
	}
	return found
}
