package then

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"nodestorm/sim/history"
)

// at is an event of a story: when it happened, in seconds, and what.
type at struct {
	second float64
	history.Event
}

func step(kind history.Role, text, status string) history.Event {
	return history.Outcome{Role: kind, Text: text, Status: status}.Event()
}

func api(verb, resource, name string, detail ...any) history.Event {
	e := history.Event{Source: history.API, Verb: verb, Object: history.Object{Resource: resource, Name: name}, Code: 200, Detail: map[string]any{}}
	if resource == "pods" {
		e.Object.Namespace = namespace
	}
	for i := 0; i+1 < len(detail); i += 2 {
		e.Detail[detail[i].(string)] = detail[i+1]
	}
	return e
}

func of(source history.Source, e history.Event) history.Event {
	e.Source, e.Code = source, 0
	return e
}

func server(verb, name string) history.Event {
	return of(history.Cloud, api(verb, "instances", name, "group", "pool1", "type", "cx22", "id", float64(len(name))))
}

func claim(name string) history.Event { return api("create", "nodeclaims", name) }

func size(to int) history.Event {
	return of(history.Logged, api("target", "nodegroups", "pool1", "from", 1, "to", float64(to)))
}

// story is a run whose only Then, of which the text is then, was recorded at the second
// recorded as status, after a Given and a When.
func story(then, status string, recorded float64, events ...at) (entries []history.Entry) {
	own := at{recorded, step(history.Then, then, status)}
	placed := false
	add := func(e at) {
		entries = append(entries, history.Entry{Seq: uint64(len(entries) + 1), Virtual: time.Duration(e.second * 1e9), Event: e.Event})
	}
	for _, e := range append(events, at{1e9, history.Event{Source: history.Harness, Verb: history.Ended}}) {
		if !placed && e.second > recorded {
			add(own)
			placed = true
		}
		if e.second < 1e9 {
			add(e)
		}
	}
	add(at{entries[len(entries)-1].Virtual.Seconds(), history.Event{Source: history.Harness, Verb: history.Ended}})
	return entries
}

// set is how a story begins: the When begins after the first second, and the Then after
// the second.
func set(events ...at) []at {
	var all []at
	given, when := at{1, step(history.Given, "a cluster", "passed")}, at{2, step(history.When, "a pod", "passed")}
	for i, e := range append([]at{{0, history.Event{Source: history.Clock, Verb: history.Pace}}}, events...) {
		if given.Source != "" && e.second > given.second {
			all, given = append(all, given), at{}
		}
		if when.Source != "" && e.second > when.second {
			all, when = append(all, when), at{}
		}
		if all = append(all, e); i == len(events) {
			for _, rest := range []at{given, when} {
				if rest.Source != "" {
					all = append(all, rest)
				}
			}
		}
	}
	return all
}

// answeredWith is a call that was answered otherwise.
func answeredWith(code int, e history.Event) history.Event {
	e.Code = code
	return e
}

// Of each kind of observation: what holds, what does not and why, and what the history
// is too short for.
func TestRejudge(t *testing.T) {
	const twoServers, noDeletion, oneClaim = `2 servers of the group "pool1" are created within 1m`, `no running server is deleted within 1m`, `no more than 1 NodeClaim is created within 1m`
	const sized, bounded = `the target size of the group "pool1" is 2 within 1m`, `the target size of the group "pool1" is at no time above 2 within 1m`
	const running, gone, off = `the pod "web" is Running within 1m`, `the pod "web" is gone within 1m`, `a server that is off is deleted within 1m`
	const everyone = `every pod is Running within 1m`
	const ready, notReady, keeps = `the node "a" is Ready within 1m`, `the node "a" is not Ready within 1m`, `the node "a" keeps the taint "x=y:NoSchedule" for 1m`
	const joins, has, initialized = `the node "a" is Ready within 1m and has the provider ID of its server`, `the Node of the pod "web" has the provider ID of its server`, `every Node is initialized within 1m`
	const cloudHas, notRegister, served = `the cloud has 1 instance of "pool1"`, `the node "a" does not register within 1m`, `logs and metrics were served`
	const certified, serving = `every kubelet has its serving certificate within 1m`, "kubernetes.io/kubelet-serving"
	certificate := func(second float64, signer string) at {
		return at{second, api("update", "certificatesigningrequests", "csr-1", "subresource", "status", "signer", signer, "user", "system:node:a", "issued", true)}
	}
	pod := at{0.5, api("create", "pods", "web")}
	bound := at{1.5, api("create", "pods", "web", "subresource", "binding", "node", "a")}
	runs := of(history.Node, api("running", "pods", "web"))
	isReady := of(history.Node, api("ready", "nodes", "a"))
	node := func(second float64, detail ...any) at { return at{second, api("patch", "nodes", "a", detail...)} }
	answered := func(refused bool) at {
		return at{1.5, history.Event{Source: history.Harness, Verb: "asked kubelets", Actor: "somebody", Detail: map[string]any{"refused": refused, "error": "Forbidden"}}}
	}
	tests := []struct {
		then     string
		recorded float64
		events   []at
		want     string // "", why it fails, or Undecided
	}{
		{twoServers, 5, set(at{3, server("created", "s")}, at{4, server("created", "ss")}), ""},
		{twoServers, 5, set(at{1.5, server("created", "s")}, at{4, server("created", "ss")}), ""}, // since the When began
		{twoServers, 62, set(at{0.5, server("created", "s")}, at{4, server("created", "ss")}), `was seen 1 time, at least 2 required`},
		{twoServers, 62.1, set(at{4, server("created", "s")}, at{62.05, server("created", "ss")}), `was seen 1 time, at least 2 required`}, // too late
		{twoServers, 30, set(at{4, server("created", "s")}), Undecided},
		{twoServers, 3, set(at{4, server("created", "s")}, at{5, server("created", "ss")}), ""}, // what a live judge would have seen
		{oneClaim, 62, set(at{0.5, claim("one")}), ""},
		{oneClaim, 9, set(at{0.5, claim("one")}, at{8.25, claim("two")}), `"api create nodeclaims" was seen 2 times, at most 1 allowed (events 2 5)`},
		{oneClaim, 62, set(), "0 times, at least 1 required"},
		{oneClaim, 30, set(at{0.5, claim("one")}), Undecided},
		{noDeletion, 62, set(at{0.5, server("running", "s")}, at{3, server("created", "ss")}, at{4, server("deleting", "ss")}), ""},
		{noDeletion, 10, set(at{0.5, server("running", "s")}, at{9, server("deleting", "s")}), "the sequence is in the history (events 2 5)"},
		{sized, 5, set(at{4, size(2)}), ""},
		{sized, 62, set(at{4, size(3)}), `"log or cloud target nodegroups pool1" was seen 0 times`},
		{bounded, 62, set(at{0.5, server("created", "s")}, at{4, size(2)}), ""},
		{bounded, 62, set(at{0.5, server("created", "s")}, at{4, size(3)}), `"log or cloud target nodegroups pool1" was seen 1 time, at most 0 allowed`},
		{running, 5, set(pod, bound, at{4, runs}), ""},
		{running, 3, set(pod, bound, at{1.7, runs}), ""}, // before the Then
		{running, 62, set(pod, bound), "is create (event 4)"},
		{running, 62, set(pod, bound, at{1.6, runs}, at{1.7, api("delete", "pods", "web")}), "no event of"},
		{running, 30, set(pod, bound), Undecided},
		{everyone, 5, set(pod, bound, at{4, runs}), ""},
		{everyone, 62, set(pod, bound, at{1.6, runs}, at{1.7, api("create", "pods", "more")}), "1 of 2 pods do not run, such as more"},
		{everyone, 5, set(pod, bound, at{1.6, runs}, at{1.7, api("create", "pods", "more")}, at{1.8, api("create", "pods", "more", "subresource", "binding", "node", "a")},
			at{1.9, api("delete", "pods", "more")}, at{2, answeredWith(http.StatusNotFound, api("patch", "pods", "more", "subresource", "status"))}), ""}, // deleted while it was bound
		{everyone, 62, set(pod, bound, at{1.6, runs}, at{1.7, api("create", "pods", "more")}, at{1.8, api("create", "pods", "more", "subresource", "binding", "node", "a")},
			at{1.9, api("delete", "pods", "more")}, at{2, answeredWith(http.StatusConflict, api("patch", "pods", "more", "subresource", "status"))}), "1 of 2 pods do not run"},
		{everyone, 62, set(pod, bound, at{1.6, runs}, at{1.7, api("create", "pods", "more", "subresource", "binding", "node", "a")}, at{1.8, api("create", "pods", "more")},
			at{1.9, api("delete", "pods", "more")}), "1 of 2 pods do not run"}, // bound before its creation was answered
		{everyone, 7, set(pod, bound, at{1.6, runs}), ""}, // once it has settled
		{everyone, 62, set(pod, bound, at{1.6, runs}, at{2.02, api("create", "pods", "more")}), "1 of 2 pods do not run, such as more"}, // which the When asked for
		{everyone, 30, set(pod, bound, at{1.6, runs}, at{2.02, api("create", "pods", "more")}, at{20, of(history.Node, api("running", "pods", "more"))}), ""},
		{everyone, 62, set(at{1.6, api("create", "pods", "agent", "owner", "DaemonSet/agent")}), "there has never been a pod"},
		{everyone, 5, set(pod, at{0.6, api("create", "pods", "more")}, at{1.6, runs}, at{3, api("delete", "pods", "more")}), ""},
		{gone, 5, set(pod, bound, at{1.6, runs}, at{3, api("delete", "pods", "web")}, at{4, api("delete", "pods", "web", "gracePeriodSeconds", float64(0))}), ""},
		{gone, 62, set(pod, bound, at{1.6, runs}, at{3, api("delete", "pods", "web")}), `pod "web" is Running`},
		{gone, 62, set(), `there has never been a pod "web"`},
		{off, 30, set(at{1.5, server("off", "s")}, at{29, server("deleting", "s")}), ""},
		{off, 70, set(at{1.5, server("off", "s")}, at{69, server("deleting", "s")}), "server s is off since 1.5s and still there"},
		{off, 200, set(at{150, server("off", "s")}, at{199, server("deleting", "s")}), ""}, // from then on
		{ready, 5, set(node(0.5, "ready", "False: x"), node(4, "ready", "True: KubeletReady")), ""},
		{ready, 62, set(node(0.5, "ready", "False: x")), `detail.ready of "api nodes a" is False: x`},
		{ready, 62, set(node(0.5, "ready", "True: KubeletReady"), at{1.5, api("delete", "nodes", "a")}), `no event of "api nodes a"`},
		{notReady, 5, set(node(0.5, "ready", "True: KubeletReady"), node(4, "ready", "False: x")), ""},
		{notReady, 5, set(node(0.5, "ready", "True: KubeletReady"), node(4, "ready", "Unknown: NodeStatusUnknown")), ""},
		{notReady, 62, set(node(0.5, "ready", "True: KubeletReady")), `detail.ready of "api nodes a" is True`},
		{notReady, 62, set(node(0.5, "ready", "False: x")), `"api nodes a" was seen 0 times`},
		{keeps, 62, set(node(0.5, "taints", []any{"x=y:NoSchedule"})), ""},
		{keeps, 10, set(node(0.5, "taints", []string{"x=y:NoSchedule"}), node(9, "taints", []string{})), `detail.taints of "api nodes a" is []`},
		{joins, 5, set(at{0.5, server("created", "a")}, node(1.5, "providerID", "hcloud://1"), at{4, isReady}), ""},
		{joins, 62, set(at{0.5, server("created", "a")}, node(1.5, "providerID", "hcloud://2"), at{4, isReady}), `element 2 of the sequence is not in the history`},
		{joins, 62, set(at{0.5, isReady}), `"node ready nodes a" was seen 0 times`}, // before the When
		{has, 2.1, set(pod, at{0.6, server("created", "a")}, node(1.2, "providerID", "hcloud://1"), bound), ""},
		{has, 2.1, set(pod, at{0.6, server("created", "bb")}, node(1.2, "providerID", "hcloud://1"), bound), `element 2 of the sequence is not in the history`},
		{initialized, 5, set(node(0.5), node(4, "providerID", "b", "taints", []string{})), ""},
		{certified, 5, set(node(0.5), certificate(4, serving)), ""},
		{certified, 62, set(node(0.5), certificate(4, "kubernetes.io/kube-apiserver-client-kubelet")), `the kubelet of "a" has no serving certificate`},
		{certified, 62, set(certificate(4, serving)), "there are no virtual machines"},
		{initialized, 62, set(node(0.5, "taints", []string{"node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule"})), `has the taints [node.cloud`},
		{cloudHas, 2.1, set(at{0.5, server("created", "a")}, at{0.6, server("created", "bb")}, at{0.7, server("deleted", "a")}), ""},
		{cloudHas, 2.1, set(), `the cloud has 0 instances of "pool1"`},
		{notRegister, 62, set(at{1.5, of(history.Fault, api("armed", "nodes", "a"))}), ""},
		{notRegister, 9, set(at{1.5, of(history.Fault, api("armed", "nodes", "a"))}, at{8, of(history.Node, api("register", "nodes", "a"))}), "the sequence is in the history"},
		{served, 2.1, set(answered(false)), ""},
		{served, 2.1, set(answered(true)), "detail.refused"},
	}
	for i, test := range tests {
		t.Run(fmt.Sprintf("%d %s", i, test.then), func(t *testing.T) {
			right, wrong := passed, failed
			if test.want != "" {
				right, wrong = failed, passed
			}
			if test.want != Undecided {
				want, _, _ := strings.Cut(test.want, " (events") // the Then's own is another
				if status, why, _ := judgedLive(t, test.then, "", test.events); status != right || !strings.Contains(why, want) {
					t.Errorf("live %s: %s, want %s with %q", status, why, right, want)
				}
				again, judged := Rejudge(history.InMemory(story(test.then, right, test.recorded, test.events...)))
				if len(judged.Differences) > 0 || judged.Again != 1 || outcome(again).Status != right {
					t.Fatalf("judged %+v: %+v, want what was recorded", judged, outcome(again))
				}
			}
			again, judged := Rejudge(history.InMemory(story(test.then, wrong, test.recorded, test.events...)))
			got := outcome(again)
			if test.want == Undecided {
				right, test.want = Undecided, "and the history at"
			}
			if got.Status != right || !strings.Contains(got.Error, test.want) || len(judged.Differences) != 1 ||
				!strings.HasPrefix(judged.Differences[0], fmt.Sprintf("the Then %q was recorded as %s, the history says %s", test.then, wrong, right)) {
				t.Errorf("recorded as %s: %+v, %q; want %s with %q", wrong, got, judged.Differences, right, test.want)
			}
		})
	}
}

func outcome(events history.Entries) (then history.Outcome) {
	for r := range events.Arrived() {
		if s, ok := history.OutcomeOf(r); ok && s.Role == history.Then {
			then = s
		}
	}
	return then
}

// What no history can decide stays as it was recorded: a Then that asks others, one of a
// world that died, one whose sentence no longer exists, and one that came to nothing.
func TestRejudgeLeaves(t *testing.T) {
	died := at{4, history.Death("etcd", fmt.Errorf("gone"))}
	for _, test := range []struct {
		then, status string
		events       []at
		asRecorded   int
	}{
		{`the MachineDeployment "a" has 1 Running machine within 1m`, passed, set(), 1},
		{`the pod "web" is Running within 1m`, failed, set(died), 1},
		{`the moon is full`, failed, set(), 1},
		{`every kubelet has its serving certificate within 1m`, passed, set(at{1.5, api("patch", "nodes", "a")}, at{2, api("create", "certificatesigningrequests", "csr-1")}), 1},
		{`the pod "web" is Running within 1m`, "skipped", set(), 0},
		{`the pod "web" is Running within 1m`, "interrupted", set(), 0},
	} {
		again, judged := Rejudge(history.InMemory(story(test.then, test.status, 5, test.events...)))
		if judged.AsRecorded != test.asRecorded || judged.Again != 0 || outcome(again).Status != test.status {
			t.Errorf("%s: %+v, %+v", test.then, judged, outcome(again))
		}
	}
}

// A Then that can be true of anything, as it asks for what no event can say or nothing shows to be there, shows nothing,
// though it was recorded as passed.
func TestRejudgeOfNothing(t *testing.T) {
	for _, test := range []struct{ said, status, why string }{
		{`never: {source: api, verb: delete, resource: pods, code: 2xx}`, Undecided, `code: "2xx" is none`},
		{`never: {source: api, verb: delete, resource: widgets}`, Undecided, `no call is on the resource "widgets"`},
		{`never: {source: api, resource: nodeclaims, detail: {conditions.Paid: "True"}}`, Undecided, `has the detail "conditions.Paid"`},
		{`never: {source: api, verb: delete, resource: machines}`, failed, "of what never was nothing holds"},
		{`never: {source: api, verb: delete, resource: pods}`, passed, ""},
		{`never: {source: api, resource: nodeclaims, detail: {conditions.Drifted: "True"}}`, passed, ""},
	} {
		own := history.Outcome{Role: history.Then, Text: "this holds:", Quoted: test.said, Status: passed}.Event()
		events := append(set(at{3, api("create", "pods", "web")}, at{3, claim("one")}), at{4, own}, at{5, history.Event{Source: history.Harness, Verb: history.Ended}})
		var entries history.InMemory
		for i, e := range events {
			entries = append(entries, history.Entry{Seq: uint64(i + 1), Virtual: time.Duration(e.second * 1e9), Event: e.Event})
		}
		again, _ := Rejudge(entries)
		for r := range again.Arrived() {
			step, is := history.OutcomeOf(r)
			if is && step.Role == history.Then && (step.Status != test.status || !strings.Contains(step.Error, test.why)) {
				t.Errorf("%s: %s (%s), want %s with %q", test.said, step.Status, step.Error, test.status, test.why)
			}
		}
	}
}
