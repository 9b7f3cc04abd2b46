package node

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"nodestorm/sim/fault"
)

func TestBootRefuses(t *testing.T) {
	client, _ := newServer()
	fleet, err := New(Config{Client: client, Clock: clocktesting.NewFakeClock(time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	if err := fleet.Boot(Spec{Name: "there"}); err != nil {
		t.Fatal(err)
	}
	agent := cilium(0, time.Minute)[0]
	for want, spec := range map[string]Spec{
		`booting node: want a name`:                                                               {},
		`booting node "there": it is there already`:                                               {Name: "there"},
		`booting node "a": field ReadyDelay is -1s: want zero or more`:                            {Name: "a", Profile: Profile{ReadyDelay: -time.Second}},
		`booting node "a": field LeaseDuration is 1.5s: want whole seconds`:                       {Name: "a", Profile: Profile{LeaseDuration: 1500 * time.Millisecond}},
		`booting node "a": agent "x" with taint "": want a name, a taint key and an effect`:       {Name: "a", Profile: Profile{Agents: []Agent{{Name: "x"}}}},
		`booting node "a": agent "cilium" is there twice: want names unique on a node`:            {Name: "a", Profile: Profile{Agents: []Agent{agent, agent}}},
		`booting node "a": agent "cilium" sets at 2s and lifts at 1s`:                             {Name: "a", Profile: Profile{Agents: cilium(2*time.Second, time.Second)}},
		`booting node "a": a fault has no name: want unique names`:                                faulty(of("", NotReady{}, 0, 0)),
		`booting node "a": fault "f": it has no effect, want one`:                                 faulty(of("f", nil, 0, 0)),
		`booting node "a": fault "f": field at is -1ns: want zero or more`:                        faulty(of("f", NotReady{}, -1, 0)),
		`booting node "a": fault "f" is there twice`:                                              faulty(of("f", NotReady{}, 0, 0), of("f", NotReady{}, 0, 0)),
		`fault "f" (never registers): it acts before there is a Node: want at, when and for zero`: faulty(of("f", NeverRegisters{}, 1, 0)),
		`fault "f" (registers late): it acts before there is a Node: want at, when and for zero`:  faulty(when(nodeReady, of("f", RegistersLate{By: 1}, 0, 0))),
		`fault "f" (registers late): field registersLate.by is 0s: want more than zero`:           faulty(of("f", RegistersLate{}, 0, 0)),
		`fault "f" (flapping): field flaps.every is 0s: want more than zero`:                      faulty(of("f", Flaps{}, 0, 0)),
		`fault "f" (kubelet restart): field kubeletRestarts.down is 0s: want more than zero`:      faulty(of("f", KubeletRestarts{}, 0, 0)),
		`fault "f" (kubelet restart): field kubeletRestarts.settle is -1ns: want zero or more`:    faulty(of("f", KubeletRestarts{Down: 1, Settle: -1}, 0, 0)),
		`fault "f" (kubelet restart): field for is 1ns: want zero`:                                faulty(of("f", KubeletRestarts{Down: 1}, 0, 1)),
		`fault "f" (node object deleted): field for is 1ns: want zero`:                            faulty(of("f", NodeDeleted{}, 0, 1)),
		`fault "f" (taint never lifted): agent "cilium" is not on the node or lifts no taint`:     faulty(of("f", TaintStays{Agent: "cilium"}, 0, 0)),
	} {
		if err := fleet.Boot(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	same(t, "machines after all this", fleet.Stats().Nodes, 1)
}

func faulty(faults ...fault.Fault) Spec { return Spec{Name: "a", Profile: Profile{Faults: faults}} }

func TestNewRefuses(t *testing.T) {
	client, _ := newServer()
	if _, err := New(Config{Client: client}); err == nil {
		t.Error("a fleet without a clock")
	}
}

// TestOnlyTheClockMatters lets time pass around a fleet whose clock stands still.
func TestOnlyTheClockMatters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := clocktesting.NewFakeClock(time.Unix(1e9, 0))
		client, _ := newServer()
		fleet, err := New(Config{Client: client, Clock: stopped})
		if err != nil {
			t.Fatal(err)
		}
		if err := fleet.Boot(Spec{Name: "a", Profile: Profile{BootDelay: 30 * time.Second, ReadyDelay: 10 * time.Second}}); err != nil {
			t.Fatal(err)
		}
		stopped.Step(time.Hour) // before Run: the boot delay starts there
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- fleet.Run(ctx) }()
		<-fleet.Ready()
		time.Sleep(time.Hour)
		same(t, "registered while the clock stood still", fleet.Stats().Registered, 0)
		for _, step := range []struct {
			by         time.Duration
			registered int
			ready      int
		}{{30*time.Second - 1, 0, 0}, {1, 1, 0}, {10*time.Second - 1, 1, 0}, {1, 1, 1}} {
			stopped.Step(step.by)
			synctest.Wait()
			time.Sleep(time.Hour)
			same(t, "registered", fleet.Stats().Registered, step.registered)
			same(t, "ready", fleet.Stats().Ready, step.ready)
		}
		node, err := client.CoreV1().Nodes().Get(ctx, "a", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "transition", readyCondition(node).LastTransitionTime.Unix(), 1e9+3600+40)
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		if err := fleet.Run(t.Context()); err == nil {
			t.Error("it ran twice")
		}
	})
}

func TestWatchLaggingBehindAnAnswerIsIgnored(t *testing.T) {
	client, _ := newServer()
	now := clocktesting.NewFakeClock(time.Unix(1e9, 0))
	fleet, err := New(Config{Client: client, Clock: now})
	if err != nil {
		t.Fatal(err)
	}
	k := newKubelet(fleet, Spec{Name: "a"})
	version := func(uid, rv string) *corev1.Node {
		node := kwokNode("a")
		node.UID, node.ResourceVersion = types.UID(uid), rv
		return node
	}
	for _, step := range []struct {
		uid, rv, want string
		created       int64
	}{
		{"1", "9", "9", 1}, {"1", "10", "10", 1}, {"1", "9", "10", 1}, {"1", "", "", 1}, {"1", "11", "11", 1}, {"2", "3", "3", 6},
	} {
		now.Step(time.Second)
		k.see(version(step.uid, step.rv))
		same(t, "version after seeing "+step.uid+"/"+step.rv, k.node.ResourceVersion, step.want)
		same(t, "appearance after seeing "+step.uid+"/"+step.rv, k.created.Unix()-1e9, step.created)
	}
}

func TestClient(t *testing.T) {
	given := &rest.Config{Host: "127.0.0.1:1", QPS: 5}
	if _, err := Client(given, "cilium"); err != nil {
		t.Fatal(err)
	}
	same(t, "the caller's configuration", given.UserAgent+given.ContentType, "")
}
