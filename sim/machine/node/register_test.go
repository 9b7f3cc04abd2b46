package node

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	"nodestorm/sim/fault"
)

const networkMessage = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady " +
	"message:Network plugin returns error: cni plugin not initialized"

func TestBootRegistersNode(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		taint := corev1.Taint{Key: "example.com/dedicated", Value: "gpu", Effect: corev1.TaintEffectNoSchedule}
		w.boot(Spec{
			Name: "a", ProviderID: "hcloud://7", Labels: map[string]string{"pool": "gpu"}, Taints: []corev1.Taint{taint},
			Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
			Info:     corev1.NodeSystemInfo{KernelVersion: "6.1", Architecture: "arm64"},
			Profile:  Profile{BootDelay: 30 * time.Second, ReadyDelay: 20 * time.Second},
		})
		w.at(30*time.Second - 1)
		sameTimes(t, "created before the boot delay", w.written("create", "nodes", "", "a"))
		w.at(30 * time.Second)
		node := w.node()
		same(t, "provider ID", node.Spec.ProviderID, "hcloud://7")
		same(t, "own label", node.Labels["pool"], "gpu")
		same(t, "hostname label", node.Labels[corev1.LabelHostname], "a")
		same(t, "architecture label", node.Labels[corev1.LabelArchStable], "arm64")
		if len(node.Spec.Taints) != 1 || node.Spec.Taints[0] != taint {
			t.Errorf("taints: got %v, want only its own: not-ready is for the API server to add", node.Spec.Taints)
		}
		same(t, "capacity", node.Status.Capacity.Cpu().String(), "2")
		same(t, "allocatable", node.Status.Allocatable.Cpu().String(), "2")
		same(t, "kernel", node.Status.NodeInfo.KernelVersion, "6.1")
		same(t, "kubelet", node.Status.NodeInfo.KubeletVersion, "v1.36.3")
		same(t, "port", node.Status.DaemonEndpoints.KubeletEndpoint.Port, 10250)
		same(t, "address", node.Status.Addresses[0].Address, "10.0.0.1")

		var kinds []string
		for _, c := range node.Status.Conditions {
			kinds = append(kinds, string(c.Type))
		}
		same(t, "conditions", strings.Join(kinds, " "), "MemoryPressure DiskPressure PIDPressure Ready")
		same(t, "Ready in its first moment", readyCondition(node).Status, corev1.ConditionFalse)
		same(t, "reason", readyCondition(node).Reason, "KubeletNotReady")
		same(t, "message", readyCondition(node).Message, networkMessage)

		w.at(50*time.Second - 1)
		same(t, "Ready before the ready delay", readyCondition(w.node()).Status, corev1.ConditionFalse)
		w.at(50 * time.Second)
		same(t, "Ready", readyCondition(w.node()).Status, corev1.ConditionTrue)
		same(t, "reason", readyCondition(w.node()).Reason, "KubeletReady")
		sameTimes(t, "register events", w.when("register", "a"), 30*time.Second)
		sameTimes(t, "ready events", w.when("ready", "a"), 50*time.Second)
		sameTimes(t, "notready events", w.when("notready", "a"))
		sameTimes(t, "creates", w.written("create", "nodes", "", "a"), 30*time.Second)
		sameTimes(t, "status writes until Ready", w.written("patch", "nodes", "status", "a"), 50*time.Second)
		same(t, "stats", w.fleet.Stats(), Stats{Nodes: 1, Registered: 1, Ready: 1})
	})
}

func TestZeroProfileIsNotReadyFirst(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a"})
		w.at(0)
		sameTimes(t, "register events", w.when("register", "a"), 0)
		sameTimes(t, "ready events", w.when("ready", "a"), 0)
		sameTimes(t, "status writes", w.written("patch", "nodes", "status", "a"), 0)
	})
}

// kwokNode is what Karpenter's kwok provider creates: no conditions, a taint that
// Karpenter takes off, and a hostname that is not the Node's name.
func kwokNode(name string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-of-" + name), Labels: map[string]string{corev1.LabelHostname: "claim-of-" + name}},
		Spec: corev1.NodeSpec{ProviderID: "kwok://" + name, Taints: []corev1.Taint{
			{Key: "karpenter.sh/unregistered", Effect: corev1.TaintEffectNoExecute}}},
		Status: corev1.NodeStatus{Phase: corev1.NodePending, Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("16")}},
	}
}

func TestAdoption(t *testing.T) {
	asked := map[string]int{}
	adopt := func(node *corev1.Node) (Profile, bool) {
		asked[node.Name]++
		return Profile{ReadyDelay: 60 * time.Second, GoneWithNode: true}, strings.HasPrefix(node.Spec.ProviderID, "kwok://")
	}
	inWorld(t, 1, adopt, func(w *world) {
		nodes := w.client.CoreV1().Nodes()
		foreign := kwokNode("foreign")
		foreign.Spec.ProviderID = "aws:///i-1"
		w.at(5 * time.Second)
		for _, node := range []*corev1.Node{kwokNode("a"), foreign} {
			if _, err := nodes.Create(context.Background(), node, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		w.at(5 * time.Second)
		node := w.node()
		same(t, "transition", readyCondition(node).LastTransitionTime.Sub(w.start), 5*time.Second)
		same(t, "Ready at once", readyCondition(node).Status, corev1.ConditionFalse)
		same(t, "message", readyCondition(node).Message, networkMessage)
		same(t, "number of conditions", len(node.Status.Conditions), 4)
		same(t, "label of the creator", node.Labels[corev1.LabelHostname], "claim-of-a")
		same(t, "label of the kubelet", node.Labels[corev1.LabelOSStable], "linux")
		same(t, "capacity of the creator", node.Status.Capacity.Cpu().String(), "16")
		same(t, "kubelet version", node.Status.NodeInfo.KubeletVersion, "v1.36.3")
		same(t, "number of taints", len(node.Spec.Taints), 1)
		sameTimes(t, "leases", w.written("create", "leases", "", "a"), 5*time.Second)

		w.at(65 * time.Second)
		sameTimes(t, "register events", w.when("register", "a"), 5*time.Second)
		sameTimes(t, "ready events", w.when("ready", "a"), 65*time.Second)
		sameTimes(t, "notready events", w.when("notready", "a"))
		sameTimes(t, "status writes", w.written("patch", "nodes", "status", "a"), 5*time.Second, 65*time.Second)

		node = w.node()
		node.Status.Capacity[corev1.ResourceCPU] = resource.MustParse("8")
		if _, err := nodes.UpdateStatus(context.Background(), node, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		foreign.Labels["changed"] = "true"
		if _, err := nodes.Update(context.Background(), foreign, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		w.at(70 * time.Second)
		sameTimes(t, "status writes on a foreign node", w.written("patch", "nodes", "status", "foreign"))
		sameTimes(t, "leases of a foreign node", w.written("create", "leases", "", "foreign"))
		same(t, "asked about the foreign node", asked["foreign"], 1)

		w.at(9 * time.Minute)
		same(t, "status writes", len(w.written("patch", "nodes", "status", "a")), 3)
		same(t, "capacity that the creator changed", w.node().Status.Capacity.Cpu().String(), "8")
		if err := nodes.Delete(context.Background(), "a", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		w.at(20 * time.Minute)
		sameTimes(t, "deleted events", w.when("deleted", "a"), 9*time.Minute)
		same(t, "stats after the machine went with its node", w.fleet.Stats(), Stats{})
		for _, at := range w.written("update", "leases", "", "a") {
			between(t, "lease renewed", at, 0, 9*time.Minute)
		}
	})
}

// A Node can come with other taints and labels than its machine was configured with, unless another client created it.
func TestRegistersOtherwise(t *testing.T) {
	taint := corev1.Taint{Key: "example.com/dedicated", Effect: corev1.TaintEffectNoSchedule}
	for _, test := range []struct {
		effect    fault.Effect
		there     bool // before the kubelet comes
		spec      Spec
		id        string
		taints    int
		effective bool
	}{
		{RegistersUntainted{}, false, Spec{ProviderID: "cloud://7", Taints: []corev1.Taint{taint}}, "cloud://7", 0, true},
		{RegistersUntainted{}, false, Spec{ProviderID: "cloud://7"}, "cloud://7", 0, false}, // it had none
		{RegistersAs{ProviderID: "cloud://8"}, false, Spec{ProviderID: "cloud://7", Taints: []corev1.Taint{taint}}, "cloud://8", 1, true},
		{RegistersAs{ProviderID: "cloud://7"}, false, Spec{ProviderID: "cloud://7"}, "cloud://7", 0, false}, // its own
		{RegistersAs{ProviderID: "cloud://8"}, true, Spec{ProviderID: "cloud://7"}, "kwok://a", 1, false},
	} {
		inWorld(t, 1, nil, func(w *world) {
			if test.there {
				if _, err := w.client.CoreV1().Nodes().Create(context.Background(), kwokNode("a"), metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			test.spec.Name = "a"
			test.spec.Profile = Profile{BootDelay: time.Second, Faults: []fault.Fault{{Name: "wrong", Effect: test.effect}}}
			w.boot(test.spec)
			w.at(time.Minute)
			same(t, "provider ID", w.node().Spec.ProviderID, test.id)
			same(t, "number of taints", len(w.node().Spec.Taints), test.taints)
			if _, effective := w.faultTimes("wrong")["effective"]; effective != test.effective {
				t.Errorf("%+v on %+v: effective %v, want %v", test.effect, test.spec, effective, test.effective)
			}
		})
	}
}

func TestRegistrationBacksOff(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		refused := 0
		w.client.PrependReactor("create", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
			refused++
			return refused <= 3, nil, errors.New("etcdserver: request timed out")
		})
		w.boot(Spec{Name: "a", Profile: Profile{BootDelay: time.Second}})
		w.at(time.Minute)
		// 1 s, and after 200, 400 and 800 ms.
		sameTimes(t, "register events", w.when("register", "a"), 2400*time.Millisecond)
		same(t, "failures", w.fleet.Stats().Failures, 3)
		if err := w.fleet.Stats().LastError; err == nil || !strings.Contains(err.Error(), `registering node a: etcdserver`) {
			t.Errorf("last error: %v", err)
		}
	})
}

func TestRegistrationTakesOverExistingNode(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a", Profile: Profile{BootDelay: 10 * time.Second, ReadyDelay: time.Second}})
		if _, err := w.client.CoreV1().Nodes().Create(context.Background(), kwokNode("a"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		w.at(20 * time.Second)
		sameTimes(t, "status writes", w.written("patch", "nodes", "status", "a"), 10*time.Second, 11*time.Second)
		same(t, "Ready", readyCondition(w.node()).Status, corev1.ConditionTrue)
	})
}

func TestShutdown(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a"})
		w.at(60 * time.Second)
		if err := w.fleet.Shutdown("a"); err != nil {
			t.Fatal(err)
		}
		w.at(10 * time.Minute)
		for _, at := range w.written("update", "leases", "", "a") {
			between(t, "lease renewed", at, 0, 60*time.Second)
		}
		same(t, "the Node stays", w.node().Name, "a")
		if err := w.fleet.Shutdown("a"); err == nil || err.Error() != `shutting down node "a": there is no such machine` {
			t.Errorf("second shutdown: %v", err)
		}
		w.boot(Spec{Name: "a"}) // the name is free again
		synctest.Wait()
		same(t, "machines", w.fleet.Stats().Nodes, 1)
	})
}

// A kubelet says which release it is of. Only from v1.36 on it says what it can do.
func TestKubeletRelease(t *testing.T) {
	for release, declares := range map[string]bool{"": true, "v1.36.0": true, "v1.37.1": true, "v1.35.4": false, "v1.33.0": false} {
		inWorld(t, 1, nil, func(w *world) {
			w.boot(Spec{Name: "a", Profile: Profile{Kubelet: release}})
			w.at(time.Second)
			status := w.node().Status
			same(t, "kubelet", status.NodeInfo.KubeletVersion, cmp.Or(release, "v1.36.3"))
			same(t, "whether "+release+" says what it can do", len(status.DeclaredFeatures) > 0, declares)
		})
	}
}
