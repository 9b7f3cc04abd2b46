package clusterapi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"nodestorm/fakecloud"
	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/program/clusterapi"
	"nodestorm/harness/program/clusterautoscaler"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/world"
	"nodestorm/harness/world/process/processtest"
	"nodestorm/sim/fault"
	"nodestorm/sim/fault/apifault"
	"nodestorm/sim/time/clock"
)

// up is a release in a world of its own.
func up(t *testing.T, version string) (*world.World, *clusterapi.ClusterAPI) {
	t.Helper()
	w := start(t)
	return w, bring(t, clusterapi.Config{World: w}, version)
}

// bring brings a release up in a world.
func bring(t *testing.T, cfg clusterapi.Config, version string) *clusterapi.ClusterAPI {
	t.Helper()
	cfg.Target, cfg.Seed = buildstest.Get(t, builds.Ref{Name: clusterapi.Name, Version: version}), 1
	a, err := clusterapi.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// start starts a world, whose controllers' last lines a test shows that fails.
func start(t *testing.T) *world.World {
	t.Helper()
	kubernetes := buildstest.Get(t, builds.Kubernetes)
	out := t.TempDir()
	w, err := world.Start(t.Context(), world.Config{Kubernetes: kubernetes.Bin(), Out: out, Clock: clock.Auto, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f := w.Driver().Figures()
		t.Logf("%s virtual in %s, lag %s", f.Virtual, f.Wall, f.Lag)
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			for _, name := range []string{clusterapi.Name, clusterautoscaler.Name} {
				b, _ := os.ReadFile(filepath.Join(out, "logs", name+".log"))
				t.Logf("%s: %s", name, b[max(0, len(b)-6000):])
			}
		}
	})
	return w
}

// The controllers' own calls can be broken; they try again.
func TestBrokenWay(t *testing.T) {
	w := start(t)
	rule := func(name, resource string) fault.Fault {
		return fault.Fault{
			Name: name, Plan: fault.Plan{Limit: 1}, Effect: apifault.Answer{Code: 503},
			Match: apifault.Match{Verbs: []string{"patch"}, Resource: resource},
		}
	}
	a := bring(t, clusterapi.Config{World: w, Broken: true}, "v1.12.0")
	for name, resource := range map[string]string{"no set": "machinesets.cluster.x-k8s.io", "no machine": "machines.cluster.x-k8s.io"} {
		if err := a.Way().Inject(rule(name, resource)); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.CreateMachineDeployment(t.Context(), clusterapi.MachineDeployment{Name: "workers", Replicas: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.AwaitRunning(t.Context(), "workers", 1, 5*time.Minute); err != nil {
		t.Fatal(err)
	}
	if unmet := a.Way().Unmet(); len(unmet) > 0 {
		t.Errorf("the controllers have made no call for %+v", unmet)
	}
}

// A machine whose instance goes behind everybody's back, and one that is scaled
// away: each takes its node and its instance with it.
func TestInstancesAndMachinesAgree(t *testing.T) {
	w, a := up(t, "v1.9.5")
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(a.CreateMachineDeployment(ctx, clusterapi.MachineDeployment{Name: "workers", Replicas: 2, Taints: "example.org/a=b:NoSchedule", NodeLabels: "example.org/pool=workers"}))
	machines, err := a.AwaitRunning(ctx, "workers", 2, 5*time.Minute)
	must(err)
	for _, i := range a.Cloud().Instances() {
		if i.Type != "cpx31" {
			t.Errorf("instance %s is a %s", i.Name, i.Type)
		}
		node, err := w.Client().CoreV1().Nodes().Get(ctx, i.Name, metav1.GetOptions{})
		must(err)
		if want := fmt.Sprintf("%s%d", clusterapi.ProviderIDPrefix, i.ID); node.Spec.ProviderID != want {
			t.Errorf("node %s has the provider ID %q, want %q", node.Name, node.Spec.ProviderID, want)
		}
		if node.Labels["example.org/pool"] != "workers" || node.Status.Capacity.Cpu().Value() != 4 {
			t.Errorf("node %s: %v %v", node.Name, node.Labels, node.Status.Capacity)
		}
	}
	must(a.Cloud().Update(func(tx *fakecloud.Tx) error {
		for _, i := range tx.Instances.All() {
			if i.Name == machines[0].Node {
				tx.Remove(i.ID)
			}
		}
		return nil
	}))
	c, err := client.New(a.Management().Admin(), client.Options{})
	must(err)
	lost := &unstructured.Unstructured{}
	lost.SetAPIVersion("cluster.x-k8s.io/v1beta1")
	lost.SetKind("Machine")
	lost.SetNamespace(clusterapi.Namespace)
	lost.SetName(machines[0].Name)
	must(c.Delete(ctx, lost)) // by a user who has noticed
	must(a.AwaitGone(ctx, machines[:1], 10*time.Minute))
	_, err = a.AwaitRunning(ctx, "workers", 2, 10*time.Minute)
	must(err)
	agree(t, w, a, 2)

	workers := &unstructured.Unstructured{}
	workers.SetAPIVersion("cluster.x-k8s.io/v1beta1")
	workers.SetKind("MachineDeployment")
	workers.SetNamespace(clusterapi.Namespace)
	workers.SetName("workers")
	must(c.Patch(ctx, workers, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":1}}`))))
	_, err = a.AwaitRunning(ctx, "workers", 1, 10*time.Minute)
	must(err)
	agree(t, w, a, 1)
	processtest.CheckStrangers(t, w.Dir(), 5, processtest.Anonymous) // the control plane's three, health, webhooks
	before := uint64(len(w.History().Since(0)))
	processtest.Intrude(t, w.Dir())
	must(c.Patch(ctx, workers, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":2}}`))))
	_, err = a.AwaitRunning(ctx, "workers", 2, 10*time.Minute)
	must(err)
	processtest.CheckIntruded(t, w.History().Since(before))
}

// agree makes sure that machines, instances and nodes are the same, and so many.
func agree(t *testing.T, w *world.World, a *clusterapi.ClusterAPI, want int) {
	t.Helper()
	machines, err := a.Machines(t.Context(), "workers")
	if err != nil {
		t.Fatal(err)
	}
	list, err := w.Client().CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string][]string{}
	for _, m := range machines {
		names["machines"] = append(names["machines"], m.Node)
	}
	for _, i := range a.Cloud().Instances() {
		names["instances"] = append(names["instances"], i.Name)
	}
	for _, n := range list.Items {
		names["nodes"] = append(names["nodes"], n.Name)
	}
	for kind := range names {
		slices.Sort(names[kind])
	}
	if len(machines) != want || !slices.Equal(names["machines"], names["instances"]) || !slices.Equal(names["machines"], names["nodes"]) {
		t.Errorf("%v, want %d of each, the same", names, want)
	}
}

// TestCheckVersion: what an autoscaler's environment may name depends on the release.
func TestCheckVersion(t *testing.T) {
	for _, test := range []struct{ release, name, value, wrong string }{
		{"v1.9.5", "CAPI_VERSION", "v1beta1", ""},
		{"v1.9.5", "CAPI_VERSION", "", ""}, // as if it were not there
		{"v1.9.5", "CAPI_VERSION", "v1beta2", `CAPI_VERSION: cluster-api@v1.9.5 does not serve "v1beta2": want v1beta1`},
		{"v1.12.0", "CAPI_VERSION", "v1beta2", ""},
		{"v1.12.0", "CAPI_VERSION", "v1alpha4", `CAPI_VERSION: cluster-api@v1.12.0 does not serve "v1alpha4": want v1beta1 or v1beta2`},
		{"v1.12.0", "CAPI_GROUP", "cluster.x-k8s.io", ""},
		{"v1.12.0", "CAPI_GROUP", "cluster.k8s.io", `CAPI_GROUP: cluster-api@v1.12.0 does not serve "cluster.k8s.io": want cluster.x-k8s.io`},
		{"v1.12.0", "OTHER", "v1alpha4", ""},
	} {
		t.Run(test.release+" "+test.name+"="+test.value, func(t *testing.T) {
			release := buildstest.Get(t, builds.Ref{Name: clusterapi.Name, Version: test.release})
			got := ""
			if err := clusterapi.Kind.CheckBeside(release, []manifest.Variable{{Name: test.name, Value: test.value}}); err != nil {
				got = err.Error()
			}
			if got != test.wrong {
				t.Errorf("error %q, want %q", got, test.wrong)
			}
		})
	}
}
