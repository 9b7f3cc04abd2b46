package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"
)

func (w *world) leaseTimes(node string) []time.Duration {
	return append(w.written("create", "leases", "", node), w.written("update", "leases", "", node)...)
}

func TestLeaseCadence(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a"})
		w.at(10 * time.Minute)
		times := w.leaseTimes("a")
		between(t, "first renewal", times[1]-times[0], 0, 10400*time.Millisecond)
		gaps := map[time.Duration]bool{}
		for i := 2; i < len(times); i++ {
			gaps[times[i]-times[i-1]] = true
			between(t, "renewal gap", times[i]-times[i-1], 10*time.Second, 10400*time.Millisecond)
		}
		if len(gaps) < 10 {
			t.Errorf("renewals have %d different gaps: no jitter", len(gaps))
		}
		lease, err := w.client.CoordinationV1().Leases("kube-node-lease").Get(context.Background(), "a", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "holder", *lease.Spec.HolderIdentity, "a")
		same(t, "duration", *lease.Spec.LeaseDurationSeconds, 40)
		same(t, "renewed", lease.Spec.RenewTime.Sub(w.start), times[len(times)-1])
		same(t, "owner", fmt.Sprint(lease.OwnerReferences[0].Kind, lease.OwnerReferences[0].Name), "Nodea")
	})
}

func TestLeaseDurationSetsItsPace(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a", Profile: Profile{LeaseDuration: 200 * time.Second}})
		w.at(10 * time.Minute)
		times := w.leaseTimes("a")
		between(t, "renewal gap", times[3]-times[2], 50*time.Second, 52*time.Second)
	})
}

func TestLeasesOfManyNodesAreSpread(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		const nodes = 50
		for i := range nodes {
			w.boot(Spec{Name: fmt.Sprintf("n%d", i)})
		}
		w.at(time.Minute)
		perSecond := map[time.Duration]int{}
		for i := range nodes {
			perSecond[w.leaseTimes(fmt.Sprintf("n%d", i))[1].Truncate(time.Second)]++
		}
		if len(perSecond) < 8 {
			t.Errorf("first renewals fall on %d of 10 seconds: %v", len(perSecond), perSecond)
		}
	})
}

// TestLeaseIsCreatedAgain takes the Lease away. An update that names the UID of an
// object that is gone is a conflict to the API server, and not found to the fake.
func TestLeaseIsCreatedAgain(t *testing.T) {
	for name, answer := range map[string]error{
		"not found": nil,
		"conflict":  apierrors.NewConflict(schema.GroupResource{Resource: "leases"}, "a", errors.New("no existing object was found")),
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 1, nil, func(w *world) {
				w.client.PrependReactor("update", "leases", func(a clienttesting.Action) (bool, runtime.Object, error) {
					_, err := w.server.Get(a.GetResource(), a.GetNamespace(), "a")
					return apierrors.IsNotFound(err) && answer != nil, nil, answer
				})
				w.boot(Spec{Name: "a"})
				w.at(60 * time.Second)
				if err := w.client.CoordinationV1().Leases("kube-node-lease").Delete(context.Background(), "a", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				w.at(71 * time.Second)
				same(t, "creations", len(w.written("create", "leases", "", "a")), 2)
				same(t, "failures", w.fleet.Stats().Failures, 0)
			})
		})
	}
}

func TestLeaseOfAnotherHolderIsTakenOver(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		leases := w.client.CoordinationV1().Leases("kube-node-lease")
		if _, err := leases.Create(context.Background(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
			Namespace: "kube-node-lease", Name: "a", Labels: map[string]string{"kept": "yes"}}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		w.boot(Spec{Name: "a", Profile: Profile{BootDelay: 10 * time.Second}})
		w.at(10 * time.Second)
		lease, err := leases.Get(context.Background(), "a", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "renewed", lease.Spec.RenewTime.Sub(w.start), 10*time.Second)
		same(t, "label", lease.Labels["kept"], "yes")
	})
}

// TestLeaseThatFailsHoldsUpNothing: as long as the namespace is missing, for example.
func TestLeaseThatFailsHoldsUpNothing(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.client.PrependReactor("create", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
			gone := time.Since(w.start) < time.Minute
			return gone, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "kube-node-lease")
		})
		w.boot(Spec{Name: "a", Profile: Profile{ReadyDelay: 10 * time.Second, Agents: cilium(20*time.Second, 0)}})
		w.at(2 * time.Minute)
		sameTimes(t, "ready events", w.when("ready", "a"), 10*time.Second)
		sameTimes(t, "taint events", w.when("taint", "a"), 20*time.Second)
		between(t, "Lease", w.leaseTimes("a")[0], time.Minute, 67*time.Second)
	})
}

func TestStatusCadence(t *testing.T) {
	moved := map[time.Duration]bool{}
	for seed := range uint64(20) {
		inWorld(t, seed, nil, func(w *world) {
			w.boot(Spec{Name: "a", Profile: Profile{ReadyDelay: 10 * time.Second}})
			w.at(time.Hour)
			times := w.written("patch", "nodes", "status", "a")
			same(t, "Ready", times[0], 10*time.Second)
			// Moved by up to half of 5 min, then to the next computation.
			between(t, "first unchanged report", times[1]-times[0], 150*time.Second, 460400*time.Millisecond)
			moved[(times[1] - times[0]).Truncate(time.Minute)] = true
			for i := 2; i < len(times); i++ {
				between(t, "gap of unchanged reports", times[i]-times[i-1], 300*time.Second, 310400*time.Millisecond)
			}
			if len(times) < 11 {
				t.Errorf("%d status writes in an hour", len(times))
			}
		})
	}
	if len(moved) < 4 {
		t.Errorf("the first unchanged report always comes after about %v", moved)
	}
}

func TestHeartbeatAndTransitionTimes(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a", Profile: Profile{BootDelay: 10 * time.Second, ReadyDelay: 20 * time.Second}})
		w.at(time.Hour)
		reports := w.written("patch", "nodes", "status", "a")
		last := reports[len(reports)-1].Truncate(time.Second)
		for _, c := range w.node().Status.Conditions {
			transition := 10 * time.Second
			if c.Type == corev1.NodeReady {
				transition = 30 * time.Second
			}
			same(t, string(c.Type)+" heartbeat", c.LastHeartbeatTime.Sub(w.start), last)
			same(t, string(c.Type)+" transition", c.LastTransitionTime.Sub(w.start), transition)
		}
	})
}

func TestConditionsThatOthersChangedAreWrittenAgain(t *testing.T) {
	for name, change := range map[string]func(*corev1.NodeCondition){
		"all of it": func(c *corev1.NodeCondition) { // as kube-controller-manager does
			c.Status, c.Reason, c.Message = corev1.ConditionUnknown, "NodeStatusUnknown", "Kubelet stopped posting node status."
		},
		"status":  func(c *corev1.NodeCondition) { c.Status = corev1.ConditionUnknown },
		"reason":  func(c *corev1.NodeCondition) { c.Reason = "x" },
		"message": func(c *corev1.NodeCondition) { c.Message = "x" },
	} {
		for i := range 4 {
			inWorld(t, 1, nil, func(w *world) {
				w.boot(Spec{Name: "a"})
				w.at(95 * time.Second)
				node := w.node()
				c := &node.Status.Conditions[i]
				what := string(c.Type) + ", " + name
				before, transition := *c, time.Duration(0)
				change(c)
				if c.Status != before.Status {
					c.LastTransitionTime = metav1.NewTime(time.Now())
				}
				if _, err := w.client.CoreV1().Nodes().UpdateStatus(context.Background(), node, metav1.UpdateOptions{}); err != nil {
					t.Fatal(err)
				}
				w.at(106 * time.Second)
				times := w.written("patch", "nodes", "status", "a")
				if len(times) != 2 {
					t.Fatalf("%s: written at %v, want once again", what, times)
				}
				between(t, what+": written again", times[1], 95*time.Second, 105400*time.Millisecond)
				after := w.node().Status.Conditions
				if name == "all of it" || name == "status" {
					transition = times[1].Truncate(time.Second)
				}
				for j := range after {
					if j == i {
						same(t, what+": repaired", after[i].Message+string(after[i].Status)+after[i].Reason, before.Message+string(before.Status)+before.Reason)
						same(t, what+": transition", after[i].LastTransitionTime.Sub(w.start), transition)
					} else {
						same(t, what+": transition of another", after[j].LastTransitionTime.Sub(w.start), 0)
					}
				}
			})
		}
	}
}

func TestSeedDecidesTheSchedule(t *testing.T) {
	schedule := func(seed uint64, others ...string) (times []time.Duration) {
		inWorld(t, seed, nil, func(w *world) {
			for _, name := range append(others, "a") {
				w.boot(Spec{Name: name, Profile: DefaultProfile()})
			}
			w.at(30 * time.Minute)
			times = append(w.leaseTimes("a"), w.written("patch", "nodes", "status", "a")...)
		})
		return times
	}
	first := schedule(7)
	if again := schedule(7); !slices.Equal(first, again) {
		t.Error("the same seed gave another schedule")
	}
	if among := schedule(7, "b", "c"); !slices.Equal(first, among) {
		t.Error("other nodes changed the schedule")
	}
	if other := schedule(8); slices.Equal(first, other) {
		t.Error("another seed gave the same schedule")
	}
}
