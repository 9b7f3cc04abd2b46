package measure

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/sim/history"
)

// rec is an event at so many seconds.
func rec(at float64, source history.Source, verb, object, actor string, code int, detail history.Detail) history.Entry {
	resource, name, _ := strings.Cut(object, "/")
	o := history.Object{Resource: resource, Name: name}
	if resource == "pods" {
		o.Namespace = "default"
	}
	return history.Entry{Virtual: time.Duration(at * float64(time.Second)),
		Event: history.Event{Source: source, Verb: verb, Object: o, Actor: actor, Code: code, Detail: detail}}
}

type d = history.Detail

func created(at float64, name, kind string, hourly float64, currency string) history.Entry {
	return rec(at, history.Cloud, "created", "instances/"+name, "fakecloud", 0, d{"type": kind, "hourly": hourly, "currency": currency})
}

func gone(at float64, name string) history.Entry {
	return rec(at, history.Cloud, "deleted", "instances/"+name, "fakecloud", 0, nil)
}

func pending(at float64, name, owner string, cpu int) history.Entry {
	detail := d{}
	if owner != "" {
		detail["owner"] = owner
	}
	if cpu > 0 {
		detail["cpu"] = cpu
	}
	return rec(at, history.API, "create", "pods/"+name, "kubectl", 201, detail)
}

func bound(at float64, name, node string) history.Entry {
	return rec(at, history.API, "create", "pods/"+name, "kube-scheduler", 201, d{"subresource": "binding", "node": node})
}

func joined(at float64, name string, cpu, memory int) history.Entry {
	detail := d{"cpu": cpu, "providerID": "x://" + name}
	if memory > 0 {
		detail["memory"] = memory
	}
	return rec(at, history.API, "create", "nodes/"+name, "kubelet", 201, detail)
}

func end(at float64) history.Entry {
	return rec(at, history.Harness, history.Ended, "", "", 0, nil)
}

// measured writes measures in the order asked for.
func measured(v Values, names ...string) string {
	var all []string
	for _, name := range names {
		text := fmt.Sprintf("%s %.4g %s", name, v[name].Value, v[name].Unit)
		if v[name].Absent != "" {
			text = name + " absent: " + v[name].Absent
		}
		for _, key := range slices.Sorted(maps.Keys(v[name].By)) {
			text += fmt.Sprintf(" %s=%.4g", key, v[name].By[key])
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}

var money = []string{Cost, NodeHours, NodesLaunched, NodesRemoved}

func TestMoney(t *testing.T) {
	hourly := created(0, "a", "cx22", 0.60, "EUR")
	hourly.Detail["billedSeconds"] = 3600
	for name, test := range map[string]struct {
		events []history.Entry
		from   time.Duration
		want   string
	}{
		// 0.90 an hour for 20 of 60 minutes is 0.30; 0.30 for the 30 from 1800 s on is 0.15.
		"each its time": {[]history.Entry{
			created(0, "a", "large", 0.90, "EUR"), gone(1200, "a"), created(1800, "b", "small", 0.30, "EUR"), end(3600),
		}, 0, `cost 0.45 EUR large=0.3 small=0.15
nodeHours 0.8333 h large=0.3333 small=0.5
nodesLaunched 2 count large=1 small=1
nodesRemoved 1 count large=1`},
		// The second hour has begun.
		"by the hour": {[]history.Entry{hourly, gone(3660, "a"), end(7200)}, 0, `cost 1.2 EUR cx22=1.2
nodeHours 1.017 h cx22=1.017
nodesLaunched 1 count cx22=1
nodesRemoved 1 count cx22=1`},
		// 0.90 for the 40 minutes from 1200 s on is 0.60, and the machine came before.
		"since then": {[]history.Entry{created(0, "a", "large", 0.90, "EUR"), end(3600)}, 1200 * time.Second, `cost 0.6 EUR large=0.6
nodeHours 0.6667 h large=0.6667
nodesLaunched 0 count
nodesRemoved 0 count`},
		"no price": {[]history.Entry{created(0, "a", "large", 0.9, "EUR"), created(0, "b", "odd", 0, ""), end(3600)}, 0,
			`cost absent: the history has no price of odd
nodeHours 2 h large=1 odd=1
nodesLaunched 2 count large=1 odd=1
nodesRemoved 0 count`},
		"two currencies": {[]history.Entry{created(0, "a", "large", 0.9, "EUR"), created(0, "b", "m5", 0.1, "USD"), end(3600)}, 0,
			`cost absent: prices are in EUR and USD, which do not add up
nodeHours 2 h large=1 m5=1
nodesLaunched 2 count large=1 m5=1
nodesRemoved 0 count`},
		"a price of before currencies": {[]history.Entry{
			rec(0, history.Cloud, "created", "instances/a", "fakecloud", 0, d{"type": "cx22", "hourlyEUR": 0.5}), end(3600)}, 0,
			`cost 0.5 EUR cx22=0.5
nodeHours 1 h cx22=1
nodesLaunched 1 count cx22=1
nodesRemoved 0 count`},
		"what comes to nothing": {[]history.Entry{
			created(0, "a", "cx22", 0.5, "EUR"), rec(60, history.Cloud, "failed", "instances/a", "fakecloud", 0, nil), end(3600)}, 0,
			`cost absent: there has been no instance, and no Node with a provider ID
nodeHours absent: there has been no instance, and no Node with a provider ID
nodesLaunched 0 count
nodesRemoved 0 count`},
		// Half an hour of spot capacity at 0.07 is 0.035; the Node without a machine is nobody's.
		"Nodes stand for instances": {[]history.Entry{
			rec(0, history.Harness, history.Prices, "instancetypes", "nodestorm", 0, d{"currency": "USD",
				"onDemand": map[string]any{"c-2x": 0.1}, "spot": map[string]any{"c-2x": 0.07}}),
			rec(0, history.API, "create", "nodes/system", "kubelet", 201, d{"cpu": 4000}),
			rec(0, history.API, "create", "nodes/n", "karpenter", 201,
				d{"cpu": 2000, "providerID": "kwok://n", "instanceType": "c-2x", "capacity": "spot"}),
			rec(1800, history.API, "delete", "nodes/n", "karpenter", 200, nil),
			rec(1800, history.Node, "deleted", "nodes/n", "sim-node", 0, nil), end(3600)}, 0,
			`cost 0.035 USD c-2x=0.035
nodeHours 0.5 h c-2x=0.5
nodesLaunched 1 count c-2x=1
nodesRemoved 1 count c-2x=1`},
		"nothing": {[]history.Entry{end(1)}, 0, `cost absent: there has been no instance, and no Node with a provider ID
nodeHours absent: there has been no instance, and no Node with a provider ID
nodesLaunched absent: there has been no instance, and no Node with a provider ID
nodesRemoved absent: there has been no instance, and no Node with a provider ID`},
	} {
		m := NewMeter()
		if test.from > 0 {
			m.Add(test.events[0])
			m.StartAt(test.from)
			test.events = test.events[1:]
		}
		for _, r := range test.events {
			m.Add(r)
		}
		same(t, name, measured(m.ValuesAt(m.Last()), money...), test.want)
	}
}

// An assumed price is of what has none of its own.
func TestAssumed(t *testing.T) {
	m := NewMeter()
	m.Assume(2, "EUR")
	for _, r := range []history.Entry{created(0, "a", "x", 1, "EUR"), created(0, "b", "y", 0, ""), end(3600)} {
		m.Add(r)
	}
	same(t, "cost", measured(m.ValuesAt(m.Last()), Cost), "cost 3 EUR x=1 y=2")
	hours, cost, currency := m.Bill(m.Last())
	same(t, "bill", fmt.Sprintln(hours, cost, currency), "[{0s 0} {1h0m0s 2}] [{0s 0} {1h0m0s 3}] EUR\n")
}

// What machines cost an hour goes up and down with them, and is not known where a price is not.
func TestRate(t *testing.T) {
	for name, test := range map[string]struct {
		records []history.Entry
		want    string
	}{
		"up and down": {[]history.Entry{created(0, "a", "x", 0.1, "USD"), created(10, "b", "x", 0.2, "USD"), gone(20, "a"), gone(30, "b"),
			end(40)}, "[{0s 0.1} {10s 0.3} {20s 0.2} {30s 0}] USD\n"},
		"no price":       {[]history.Entry{created(0, "a", "x", 1, "USD"), created(1, "b", "y", 0, "")}, "[] \n"},
		"two currencies": {[]history.Entry{created(0, "a", "x", 1, "USD"), created(1, "b", "y", 1, "EUR")}, "[] \n"},
		"no machine":     {[]history.Entry{end(1)}, "[] \n"},
	} {
		m := NewMeter()
		for _, r := range test.records {
			m.Add(r)
		}
		rate, currency := m.Rate(m.Last())
		same(t, name, fmt.Sprintln(rate, currency), test.want)
	}
}

func TestWaits(t *testing.T) {
	var events []history.Entry
	for i := range 100 { // they wait 1 s to 100 s
		events = append(events, pending(0, fmt.Sprint("p", i), "ReplicaSet/web-1", 0), bound(float64(i+1), fmt.Sprint("p", i), "n"))
	}
	all := []string{PodWaitTotal, PodWaitP50, PodWaitP95, PodWaitP99, PodWaitMax, PodsWaiting, FirstPodBound, LastPodBound}
	same(t, "a hundred", measured(OfRun(slices.Values(append(events, end(200)))), all...), `podWaitTotal 5050 s ReplicaSet=5050
podWaitP50 50 s ReplicaSet=50
podWaitP95 95 s ReplicaSet=95
podWaitP99 99 s ReplicaSet=99
podWaitMax 100 s ReplicaSet=100
podsWaiting 0 count
firstPodBound 1 s
lastPodBound 100 s`)

	daemon := pending(0, "d", "DaemonSet/agent", 100)
	placed := pending(0, "static", "", 100)
	placed.Detail["node"] = "n"
	few := []history.Entry{
		daemon, placed, pending(10, "job", "Job/j", 0), bound(14, "job", "n"),
		pending(20, "web", "", 0), // still there at the end
		pending(20, "left", "", 0), rec(25, history.API, "delete", "pods/left", "kubectl", 200, nil), end(50),
	}
	same(t, "few", measured(OfRun(slices.Values(few)), all...), `podWaitTotal 39 s Job=4 none=35
podWaitP50 5 s Job=4 none=5
podWaitP95 30 s Job=4 none=30
podWaitP99 30 s Job=4 none=30
podWaitMax 30 s Job=4 none=30
podsWaiting 1 count none=1
firstPodBound 4 s
lastPodBound 4 s`)

	m := NewMeter() // from 12 s on, the Job's waits two seconds more
	m.Add(few[2])
	m.StartAt(12 * time.Second)
	for _, r := range few[3:] {
		m.Add(r)
	}
	same(t, "since then", measured(m.ValuesAt(30*time.Second), PodWaitTotal, PodsWaiting, FirstPodBound), `podWaitTotal 17 s Job=2 none=15
podsWaiting 1 count none=1
firstPodBound 2 s`)
	same(t, "nothing", measured(OfRun(slices.Values([]history.Entry{daemon, end(9)})), PodWaitMax, LastPodBound),
		"podWaitMax absent: no pod waited for a place\nlastPodBound absent: no pod waited for a place")
}

// The scheduler can be done before the API server has answered who created the pod: that pod does not wait.
func TestBoundEarly(t *testing.T) {
	events := []history.Entry{
		bound(10, "web", "n"), pending(10.1, "web", "", 0), pending(12, "job", "Job/j", 0), bound(14, "job", "n"), end(50),
	}
	same(t, "bound early", measured(OfRun(slices.Values(events)), PodWaitTotal, PodsWaiting), `podWaitTotal 2 s Job=2 none=0
podsWaiting 0 count`)
}

// A Node of 4 processors for 100 s, and one of 2 from 50 s on. A pod of 3 is on the first from 0 s to 80 s, one of 1 on the second from
// 50 s on. Requested: 3*80 + 1*50 = 290 of 4*100 + 2*50 = 500. Free: 1*80 + 4*20 + 1*50 = 210; below 2, what a pod requests on average:
// 1*80 + 1*50 = 130.
func TestRoom(t *testing.T) {
	all := []string{CPURequested, MemoryRequested, CPUFragmented}
	events := []history.Entry{
		joined(0, "a", 4000, 8e9), joined(50, "b", 2000, 4e9), rec(0, history.API, "create", "nodes/system", "kubelet", 201, d{"cpu": 4000}),
		pending(0, "p", "", 3000), bound(0, "p", "a"), rec(80, history.Node, "terminated", "pods/p", "kubelet", 0, nil),
		pending(40, "q", "", 1000), bound(50, "q", "b"), end(100),
	}
	events[3].Detail["memory"] = 4e9 // for 80 s, of 8*100 + 4*50 = 1000
	same(t, "two", measured(OfRun(slices.Values(events)), all...), `cpuRequested 0.58 ratio
memoryRequested 0.32 ratio
cpuFragmented 0.619 ratio`)
	m := NewMeter()
	for _, r := range events {
		m.Add(r)
	}
	same(t, "curve", fmt.Sprint(m.Requested(m.Last())), "[{0s 75} {50s 66.66666666666667} {1m20s 16.666666666666668}]")

	same(t, "no memory", measured(OfRun(slices.Values([]history.Entry{joined(0, "a", 4000, 0), end(9)})), all...), `cpuRequested 0 ratio
memoryRequested absent: a Node does not say how much memory it has for pods
cpuFragmented absent: no pod that needs a place requests CPU`)
	same(t, "none", measured(OfRun(slices.Values([]history.Entry{end(9)})), all[0]), "cpuRequested absent: there has been no Node with a provider ID")

	// Gone after 10 s of 20, and the pod with it: 1*10 of 2*10.
	same(t, "gone", measured(OfRun(slices.Values([]history.Entry{
		joined(0, "a", 2000, 0), pending(0, "p", "", 1000), bound(0, "p", "a"),
		rec(5, history.API, "delete", "nodes/a", "karpenter", 200, nil), rec(10, history.API, "patch", "nodes/a", "karpenter", 200, nil), end(20),
	})), CPURequested), "cpuRequested 0.5 ratio")
}

func TestCounts(t *testing.T) {
	evict := func(at float64, actor string, code int) history.Entry {
		return rec(at, history.API, "create", "pods/p", actor, code, d{"subresource": "eviction"})
	}
	start := func(at float64, container string) history.Entry {
		return rec(at, history.Node, "started", "pods/p", "container-runtime", 0, d{"container": container})
	}
	all := []string{Evictions, EvictionsRefused, ContainerRestarts, CloudCalls, APICalls}
	same(t, "each", measured(OfRun(slices.Values([]history.Entry{
		pending(0, "p", "", 0), evict(1, "karpenter", 429), evict(2, "karpenter", 429), evict(3, "karpenter", 201), evict(4, "kubectl", 201),
		start(5, "a"), start(6, "b"), start(7, "a"), start(8, "a"),
		rec(9, history.API, "create", "events/x", "karpenter", 201, nil),
		rec(9, history.Cloud, "LaunchInstance", "instances/a", "karpenter", 500, nil), rec(9, history.Cloud, "DescribeTypes", "", "karpenter", 200, nil),
		end(10),
	})), all...), `evictions 2 count karpenter=1 kubectl=1
evictionsRefused 2 count karpenter=2
containerRestarts 2 count
cloudCalls 2 count karpenter=2
apiCalls 5 count karpenter=3 kubectl=2`)
	same(t, "nothing", measured(OfRun(slices.Values([]history.Entry{end(9)})), all...), `evictions absent: there has been no pod
evictionsRefused absent: there has been no pod
containerRestarts absent: no start of a container is recorded: simulated kubelets have none
cloudCalls absent: no call to a cloud is recorded: the run's may have none, as Karpenter's kwok
apiCalls absent: no call to the API server is recorded`)
}

func TestProcessorTime(t *testing.T) {
	used := func(name string, seconds float64) history.Entry {
		return rec(9, history.Harness, history.Used, "", name, 0, d{"seconds": seconds})
	}
	same(t, "two", measured(OfRun(slices.Values([]history.Entry{used("etcd", 1.5), used("karpenter", 2)})), ProcessorTime),
		"processorTime 3.5 s etcd=1.5 karpenter=2")
	same(t, "killed", measured(OfRun(slices.Values([]history.Entry{
		rec(1, history.Harness, history.Killed, "programs/karpenter", "karpenter", 0, nil), used("karpenter", 2)})), ProcessorTime),
		"processorTime absent: karpenter ended in the run, and what it had used until then is not recorded")
	same(t, "before", measured(OfRun(slices.Values([]history.Entry{end(9)})), ProcessorTime), "processorTime absent: the run does not record it")
}

func TestBound(t *testing.T) {
	v := Values{Cost: {Unit: "EUR", Value: 12.5, By: map[string]float64{"cx22": 2}}, PodWaitMax: {Unit: Seconds, Value: 90},
		CPURequested: {Unit: Ratio, Value: 0.4}, Evictions: {Unit: Count, Value: 3}, NodeHours: absent("none")}
	for _, test := range []struct {
		bound Bound
		wrong string // of Check
		holds bool
		why   string
	}{
		{Bound{Of: Cost, AtMost: "12.50 EUR"}, "", true, ""},
		{Bound{Of: Cost, AtMost: "12 EUR"}, "", false, "the cost of the cluster is 12.50 EUR, and not at most 12 EUR"},
		{Bound{Of: Cost, By: "cx22", AtMost: "2 EUR"}, "", true, ""},
		{Bound{Of: Cost, AtMost: "20 USD"}, "", false, "the cost of the cluster is in EUR, and the bound in USD"},
		{Bound{Of: PodWaitMax, AtMost: "90s"}, "", true, ""},
		{Bound{Of: PodWaitMax, AtMost: "1m"}, "", false, "the longest wait of a pod is 1m30s, and not at most 1m"},
		{Bound{Of: CPURequested, AtLeast: "50 %"}, "", false, "the CPU requested is 40 %, and not at least 50 %"},
		{Bound{Of: Evictions, AtLeast: "1", AtMost: "3"}, "", true, ""},
		{Bound{Of: NodeHours, AtMost: "1h"}, "", false, "the node-hours of this run is not known: none"},
		{Bound{Of: "costs", AtMost: "1 EUR"}, `no measure "costs"`, false, ""},
		{Bound{Of: Cost, AtMost: "12"}, `"12" is no price: want a number and a currency`, false, ""},
		{Bound{Of: Cost}, "say atLeast or atMost how much", false, ""},
		{Bound{Of: FirstPodBound, By: "Job", AtMost: "1m"}, "has no parts", false, ""},
		{Bound{Of: Evictions, AtLeast: "0"}, "no run could have less", false, ""},
		{Bound{Of: Evictions, AtLeast: "4", AtMost: "3"}, "no run could have both", false, ""},
		{Bound{Of: PodWaitMax, AtMost: "3"}, `"3" is no duration`, false, ""},
		{Bound{Of: CPURequested, AtMost: "0.4"}, `"0.4" is no part`, false, ""},
	} {
		err := test.bound.Check()
		if test.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("%+v: %v, want %s", test.bound, err, test.wrong)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", test.bound, err)
			continue
		}
		holds, known, why := test.bound.Judge(v)
		if holds != test.holds || why != test.why || known == (strings.Contains(why, "not known") || strings.Contains(why, "USD")) {
			t.Errorf("%+v: %t, %t, %q", test.bound, holds, known, why)
		}
	}
}

// Whatever a history says, every measure is a number or absent, and can be written.
func TestHostile(t *testing.T) {
	nan := created(0, "a", "x", math.NaN(), "EUR")
	huge := created(0, "b", "x", 1e300, "EUR")
	far := created(1e17, "c", "x", 1, "EUR")
	far.Virtual = math.MaxInt64
	back := created(50, "e", "x", 1, "EUR")
	events := []history.Entry{nan, huge, far, back, gone(10, "e"), joined(0, "n", -5, 0), pending(9, "p", "/", 0), bound(3, "p", "nowhere"),
		rec(0, history.Harness, history.Prices, "", "", 0, d{"onDemand": d{"x": math.Inf(1)}}), end(60)}
	v := OfRun(slices.Values(events))
	if text, err := json.Marshal(v); err != nil || len(v) != len(all) {
		t.Errorf("%d measures: %s, %v", len(v), text, err)
	}
	for name, value := range v {
		if value.Value < 0 || value.Absent == "" && value.Unit == "" {
			t.Errorf("%s is %+v", name, value)
		}
	}
}
