package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"nodestorm/sim/fault"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/strict"
)

// readiness is the history of the readiness of the node a: "+30s" is ready, "-30s" not.
func (w *world) readiness() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []string
	for _, e := range w.events {
		sign, found := map[string]string{"ready": "+", "notready": "-"}[e.Verb]
		if found && e.Object.Name == "a" {
			list = append(list, sign+e.At.Sub(w.start).String())
		}
	}
	return strings.Join(list, " ")
}

// TestFaults runs a node that registers at 30 s and is Ready at 40 s, with one fault.
// With this seed no Lease is due during the restarts.
var nodeReady = pattern("{source: node, verb: ready, resource: nodes}")

func podRunning(name string) *checker.Pattern {
	return pattern("{source: node, verb: running, resource: pods, name: " + name + "}")
}

func pattern(text string) *checker.Pattern {
	p := &checker.Pattern{}
	if err := strict.Unmarshal([]byte(text), p); err != nil {
		panic(err)
	}
	return p
}

// of is a fault on a Node, from at on, for so long.
func of(name string, e fault.Effect, at, lasts time.Duration) fault.Fault {
	return fault.Fault{Name: name, Effect: e, Plan: fault.Plan{At: strict.Duration(at), For: strict.Duration(lasts)}}
}

// when is a fault that waits for an event.
func when(when *checker.Pattern, f fault.Fault) fault.Fault {
	f.When = when
	return f
}

// on is a fault on a Node that is there.
func on(node string, f fault.Fault) fault.Fault {
	f.Match = Match{Node: node}
	return f
}

func TestFaults(t *testing.T) {
	const never = -1
	for _, test := range []struct {
		fault              fault.Fault
		effective, cleared time.Duration // never, or an exact offset
		readiness          string
		registered         string
	}{
		{fault: of("never registers", NeverRegisters{}, 0, 0),
			effective: 30 * time.Second, cleared: never, registered: "[]"},
		{fault: of("registers late", RegistersLate{By: strict.Duration(time.Minute)}, 0, 0),
			effective: 30 * time.Second, cleared: 90 * time.Second, readiness: "+1m40s", registered: "[1m30s]"},
		{fault: of("not ready for a span", NotReady{}, 60*time.Second, 45*time.Second),
			effective: 90 * time.Second, cleared: 135 * time.Second, readiness: "+40s -1m30s +2m15s", registered: "[30s]"},
		{fault: of("not ready for ever", NetworkDown{}, 60*time.Second, 0),
			effective: 90 * time.Second, cleared: never, readiness: "+40s -1m30s", registered: "[30s]"},
		{fault: of("not ready from the start", NetworkDown{}, 0, 30*time.Second),
			effective: 40 * time.Second, cleared: 60 * time.Second, readiness: "+1m0s", registered: "[30s]"},
		{fault: of("over before it mattered", NetworkDown{}, 0, 5*time.Second),
			effective: never, cleared: never, readiness: "+40s", registered: "[30s]"},
		{fault: of("flapping", Flaps{Every: strict.Duration(40 * time.Second)}, 60*time.Second, 100*time.Second),
			effective: 90 * time.Second, cleared: 190 * time.Second,
			readiness: "+40s -1m30s +1m50s -2m10s +2m30s -2m50s +3m10s", registered: "[30s]"},
		{fault: of("kubelet restart", KubeletRestarts{Down: strict.Duration(5 * time.Second), Settle: strict.Duration(8 * time.Second)}, 124*time.Second, 0),
			effective: 159 * time.Second, cleared: 167 * time.Second, readiness: "+40s -2m39s +2m47s", registered: "[30s 2m39s]"},
		{fault: of("kubelet restart that settles at once", KubeletRestarts{Down: strict.Duration(5 * time.Second)}, 124*time.Second, 0),
			effective: 159 * time.Second, cleared: 159 * time.Second, readiness: "+40s -2m39s +2m39s", registered: "[30s 2m39s]"},
		{fault: of("taint never lifted", TaintStays{Agent: "cilium"}, 0, 0),
			effective: 120 * time.Second, cleared: never, readiness: "+40s", registered: "[30s]"},
		{fault: of("taint lifted late", TaintStays{Agent: "cilium"}, 0, 5*time.Minute),
			effective: 120 * time.Second, cleared: 330 * time.Second, readiness: "+40s", registered: "[30s]"},
		{fault: of("taint fault after the lift", TaintStays{Agent: "cilium"}, 100*time.Second, 0),
			effective: never, cleared: never, readiness: "+40s", registered: "[30s]"},
		{fault: of("node object deleted", NodeDeleted{}, time.Minute, 0),
			effective: 90 * time.Second, cleared: never, readiness: "+40s", registered: "[30s]"},
		{fault: when(nodeReady, of("on node ready", NotReady{}, 10*time.Second, 20*time.Second)),
			effective: 50 * time.Second, cleared: 70 * time.Second, readiness: "+40s -50s +1m10s", registered: "[30s]"},
		{fault: when(podRunning("web"), of("on pod running", NotReady{}, 0, 20*time.Second)),
			effective: 202 * time.Second, cleared: 222 * time.Second, readiness: "+40s -3m22s +3m42s", registered: "[30s]"},
		{fault: when(podRunning("db"), of("on a pod that never runs", NotReady{}, 0, 20*time.Second)),
			effective: never, cleared: never, readiness: "+40s", registered: "[30s]"},
	} {
		t.Run(test.fault.Name, func(t *testing.T) {
			inWorld(t, 3, nil, func(w *world) {
				w.boot(Spec{Name: "a", Profile: Profile{
					BootDelay: 30 * time.Second, ReadyDelay: 10 * time.Second, PodStartDelay: 2 * time.Second,
					Agents: cilium(time.Second, 90*time.Second), Faults: []fault.Fault{test.fault},
				}})
				w.at(200 * time.Second)
				w.bind("web", "a")
				w.at(time.Hour)
				same(t, "readiness", w.readiness(), test.readiness)
				same(t, "registered", fmt.Sprint(w.when("register", "a")), test.registered)
				times := w.faultTimes(test.fault.Name)
				same(t, "armed", times["armed"], 0)
				wantTime(t, "effective", times, test.effective)
				wantTime(t, "cleared", times, test.cleared)
			})
		})
	}
}

func wantTime(t *testing.T, verb string, times map[string]time.Duration, want time.Duration) {
	t.Helper()
	got, found := times[verb]
	if found != (want >= 0) || found && got != want {
		t.Errorf("%s: got %v (%t), want %v", verb, got, found, want)
	}
}

func TestHeartbeatsStop(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a", Profile: Profile{Faults: []fault.Fault{
			of("partition", HeartbeatsStop{}, time.Minute, 7*time.Minute)}}})
		w.at(2 * time.Minute)
		w.bind("p", "a")
		w.at(20 * time.Minute)
		all := append(w.leaseTimes("a"), w.written("patch", "nodes", "status", "a")...)
		before, after := time.Duration(0), time.Hour
		for _, at := range all {
			if at > time.Minute && at < 8*time.Minute {
				t.Errorf("written at %v, in the middle of the fault", at)
			}
			if at <= time.Minute {
				before = max(before, at)
			} else {
				after = min(after, at)
			}
		}
		times := w.faultTimes("partition")
		between(t, "effective with the first renewal that is missed", times["effective"], before+10*time.Second, before+10400*time.Millisecond)
		between(t, "first write after it", after, 8*time.Minute, 8*time.Minute)
		same(t, "cleared", times["cleared"], after)
		sameTimes(t, "pod created during the fault runs", w.when("running", "p"), 8*time.Minute)
	})
}

func TestPartitionForEver(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a", Profile: Profile{Faults: []fault.Fault{of("partition", HeartbeatsStop{}, time.Minute, 0)}}})
		w.at(time.Hour)
		times := w.faultTimes("partition")
		between(t, "effective", times["effective"], 60*time.Second, 70400*time.Millisecond)
		wantTime(t, "cleared", times, -1)
	})
}

// TestOnlyAcceptedReportsCount has the API server refuse the report that ends a fault.
func TestOnlyAcceptedReportsCount(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.client.PrependReactor("patch", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
			now := time.Since(w.start)
			refused := now >= 2*time.Minute && now < 2*time.Minute+time.Second
			return refused, nil, errors.New("etcdserver: leader changed")
		})
		w.boot(Spec{Name: "a", Profile: Profile{Faults: []fault.Fault{of("down", NotReady{}, time.Minute, time.Minute)}}})
		w.at(time.Hour)
		// Refused at 120, 120.2 and 120.6 s.
		same(t, "readiness", w.readiness(), "+0s -1m0s +2m1.4s")
		same(t, "cleared", w.faultTimes("down")["cleared"], 121400*time.Millisecond)
	})
}

func TestLongRestartMissesHeartbeats(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a", Profile: Profile{Faults: []fault.Fault{
			of("restart", KubeletRestarts{Down: strict.Duration(2 * time.Minute), Settle: strict.Duration(time.Second)}, time.Minute, 0)}}})
		w.bind("p", "a")
		w.at(2 * time.Minute)
		w.markDeleted("p", 30*time.Second)
		w.at(10 * time.Minute)
		times := w.faultTimes("restart")
		between(t, "effective", times["effective"], 60*time.Second, 70400*time.Millisecond)
		same(t, "cleared", times["cleared"], 181*time.Second)
		// Back, but without its runtime until it has settled.
		sameTimes(t, "deletion of a pod during the fault", w.written("delete", "pods", "", "p"), 181*time.Second)
	})
}

func TestRuntimeDownStopsPods(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a", Profile: Profile{Faults: []fault.Fault{
			of("down", NotReady{}, time.Minute, time.Minute)}}})
		w.bind("old", "a")
		w.at(90 * time.Second)
		same(t, "message", readyCondition(w.node()).Message, "container runtime is down")
		w.bind("new", "a", hostNetwork)
		w.markDeleted("old", 30*time.Second)
		w.at(10 * time.Minute)
		sameTimes(t, "started", w.when("running", "new"), 2*time.Minute)
		sameTimes(t, "stopped", w.when("terminated", "old"), 2*time.Minute)
	})
}

func TestKubeletDoesNotCreateItsNodeAgain(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a", ProviderID: "hcloud://7", Profile: Profile{Faults: []fault.Fault{
			of("deleted", NodeDeleted{}, time.Minute, 0)}}})
		w.at(10 * time.Minute)
		if renewed := w.leaseTimes("a"); renewed[len(renewed)-1] < 9*time.Minute {
			t.Errorf("the Lease was last renewed at %v: it goes on until it is collected", renewed[len(renewed)-1])
		}
		if err := w.client.CoordinationV1().Leases("kube-node-lease").Delete(context.Background(), "a", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		w.at(30 * time.Minute)
		sameTimes(t, "creations", w.written("create", "nodes", "", "a"), 0)
		sameTimes(t, "creations of a Lease without an owner", w.written("create", "leases", "", "a"), 0)
		sameTimes(t, "deleted events", w.when("deleted", "a"), time.Minute)
		same(t, "stats", w.fleet.Stats(), Stats{Nodes: 1, Registered: 1})

		if err := w.fleet.Inject(on("a", of("restart", KubeletRestarts{Down: strict.Duration(time.Minute)}, 0, 0))); err != nil {
			t.Fatal(err)
		}
		w.at(40 * time.Minute)
		sameTimes(t, "creations with a restart", w.written("create", "nodes", "", "a"), 0, 31*time.Minute)
		same(t, "provider ID", w.node().Spec.ProviderID, "hcloud://7")
		same(t, "Ready", readyCondition(w.node()).Status, corev1.ConditionTrue)
		same(t, "deletion cleared", w.faultTimes("deleted")["cleared"], 31*time.Minute)
		same(t, "restart cleared", w.faultTimes("restart")["cleared"], 31*time.Minute)
	})
}

func TestInject(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a"})
		w.at(5 * time.Minute)
		down := of("down", NotReady{}, 10*time.Second, 20*time.Second)
		if err := w.fleet.Inject(on("a", down)); err != nil {
			t.Fatal(err)
		}
		w.at(10 * time.Minute)
		same(t, "readiness", w.readiness(), "+0s -5m10s +5m30s")
		for _, refused := range []struct {
			node  string
			fault fault.Fault
			want  string
		}{
			{"b", down, `injecting faults into node "b": there is no such machine`},
			{"a", down, `injecting faults into node "a": fault "down" is there already: want unique names`},
			{"a", of("x", NeverRegisters{}, 0, 0), `injecting faults into node "a": fault "x" (never registers): the node is registered already`},
			{"a", of("x", TaintStays{Agent: "cilium"}, 0, 0), `injecting faults into node "a": fault "x" (taint never lifted): agent "cilium" is not on the node or lifts no taint`},
		} {
			if err := w.fleet.Inject(on(refused.node, refused.fault)); err == nil || err.Error() != refused.want {
				t.Errorf("got %v, want %v", err, refused.want)
			}
		}
	})
}

func TestClear(t *testing.T) {
	inWorld(t, 1, nil, func(w *world) {
		w.boot(Spec{Name: "a"})
		w.at(5 * time.Minute)
		if err := w.fleet.Inject(on("a", of("down", NotReady{}, 0, 0))); err != nil {
			t.Fatal(err)
		}
		w.at(6 * time.Minute)
		if err := w.fleet.Clear("down"); err != nil {
			t.Fatal(err)
		}
		w.at(10 * time.Minute)
		same(t, "readiness", w.readiness(), "+0s -5m0s +6m0s")
		for _, gone := range []string{"down", "up"} {
			if err := w.fleet.Clear(gone); err == nil || !strings.Contains(err.Error(), "no simulated node has it, or it is over") {
				t.Errorf("clearing %q: %v", gone, err)
			}
		}
	})
}

func TestFaultOfAnAdoptedNode(t *testing.T) {
	adopt := func(*corev1.Node) (Profile, bool) {
		return Profile{Faults: []fault.Fault{of("silent", NeverRegisters{}, 0, 0)}}, true
	}
	inWorld(t, 1, adopt, func(w *world) {
		w.at(time.Minute)
		if _, err := w.client.CoreV1().Nodes().Create(context.Background(), kwokNode("a"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		w.at(time.Hour)
		same(t, "conditions", len(w.node().Status.Conditions), 0)
		sameTimes(t, "leases", w.leaseTimes("a"))
		same(t, "effective", w.faultTimes("silent")["effective"], time.Minute)
	})
}
