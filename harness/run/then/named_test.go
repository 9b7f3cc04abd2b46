package then

import (
	"slices"
	"strings"
	"testing"

	"nodestorm/sim/history"
)

func scales(actor string, code int) history.Event {
	e := api("patch", "machinedeployments", "first", "subresource", "scale")
	e.Actor, e.Code = actor, code
	return e
}

func says(message string) history.Event {
	e := api("create", "events", "e", "message", message)
	e.Actor = "cluster-autoscaler"
	return e
}

func byOrder(failed bool) history.Event {
	return history.Event{Source: history.Harness, Verb: "applied", Actor: "order", Detail: map[string]any{"failed": failed}}
}

// named is a Then, and stories of which it holds and does not, and why.
type named struct {
	then         string
	holds, fails []at
	why          string
}

// names are Thens that are names for statements, and of which stories they hold.
var names = []named{
	{`1m from now, exactly 1 NodeClaim has been created since the start`, set(at{0.5, claim("one")}), set(at{0.5, claim("one")}, at{4, claim("two")}), "2 times, at most 1 allowed"},
	{`the pod "web" is Running within 1m`, set(at{4, of(history.Node, api("running", "pods", "web"))}), set(at{1.5, of(history.Node, api("running", "pods", "web"))}, at{1.7, evicted("web")}), "is create"},
	{`a pod of the Deployment "web" is Running within 1m`, set(at{4, of(history.Node, api("running", "pods", "web-1-b"))}), set(at{4, of(history.Node, api("running", "pods", "web-api-1-b"))}), "is not in the history"},
	{`the target size of the group "pool1" becomes 2 within 1m`, set(at{4, size(2)}), set(at{1.5, size(3)}), "0 times"},
	{`1m from now, the group "pool1" has had a server since the start, and at no time a target size above 2`, set(at{0.5, server("created", "s")}, at{4, size(2)}), set(at{0.5, server("created", "s")}, at{0.6, size(3)}), "1 time, at most 0 allowed"},
	{`1m from now, the group "pool1" has had a server since the start, and at no time a target size above 0`, set(at{0.5, server("created", "s")}, at{4, of(history.Logged, api("target", "nodegroups", "pool1", "from", 0, "to", 0))}), set(at{0.5, server("created", "s")}, at{4, size(0)}), "1 time, at most 0 allowed"},
	{`1m from now, between 1 and 2 NodeClaims have been created since the start`, set(at{0.5, claim("one")}, at{4, claim("two")}), set(at{0.5, claim("one")}, at{4, claim("two")}, at{5, claim("three")}), "3 times, at most 2 allowed"},
	{`1m from now, exactly 2 NodeClaims have been created since the start`, set(at{0.5, claim("one")}, at{4, claim("two")}), set(at{0.5, claim("one")}), "1 time, at least 2 required"},
	{`1m from now, between 1 and 2 servers of the group "pool1" have been created since the start`, set(at{0.5, server("created", "s")}, at{4, server("created", "ss")}), set(), "at least 1 required"},
	{`1m from now, exactly 1 server of the group "pool1" has been created since the start`, set(at{0.5, server("created", "s")}), set(at{0.5, server("created", "s")}, at{4, server("created", "ss")}), "2 times"},
	{`at least 2 servers of the group "pool1" are created within 1m`, set(at{1.5, server("created", "s")}, at{4, server("created", "ss")}), set(at{0.5, server("created", "s")}, at{4, server("created", "ss")}), "1 time"},
	{`the Node of the pod "web" has the provider ID of its server`, set(at{0.1, server("created", "a")}, at{0.2, api("update", "nodes", "a", "providerID", "hcloud://1")}, at{0.3, api("create", "pods", "web", "subresource", "binding", "node", "a")}), set(at{0.1, server("created", "a")}, at{0.2, api("update", "nodes", "a", "providerID", "hcloud://11")}, at{0.3, api("create", "pods", "web", "subresource", "binding", "node", "a")}), "element 2"},
	{`all instances are of the type "cx22"`, set(at{0.1, server("created", "a")}), set(at{0.1, server("created", "a")}, at{0.2, of(history.Cloud, api("created", "instances", "b", "type", "cx32"))}), "of b, detail.type"},
	{`all instances are of the type "cx22"`, set(at{0.1, server("created", "a")}, at{0.2, of(history.Cloud, api("created", "instances", "b", "type", "cx32"))}, at{0.3, of(history.Cloud, api("deleted", "instances", "b"))}), set(at{0.1, server("created", "a")}, at{0.2, server("deleted", "a")}), "is not in the history"},
	{`the autoscaler scales the MachineDeployment "first" within 1m`, set(at{4, scales("cluster-autoscaler", 200)}), set(at{3, scales("cluster-autoscaler", 403)}, at{4, scales("kubectl", 200)}), "0 times"},
	{`1m from now, the autoscaler has not scaled the MachineDeployment "first" since the start`, set(at{0.5, scales("kubectl", 200)}), set(at{0.5, scales("kubectl", 200)}, at{4, scales("cluster-autoscaler", 200)}), "1 time, at most 0 allowed"},
	{`1m from now, the autoscaler has reported no Node as removed before it scaled the MachineDeployment "first"`, set(at{0.5, scales("kubectl", 200)}, at{3, scales("cluster-autoscaler", 200)}, at{4, says("node removed")}), set(at{0.5, scales("kubectl", 200)}, at{3, scales("cluster-autoscaler", 403)}, at{4, says("node removed")}), "the sequence is in the history"},
	{`1m from now, a pod has been scheduled since the start, and no eviction has been asked for`, set(at{0.5, api("create", "pods", "web", "subresource", "binding")}), set(at{0.5, api("create", "pods", "web", "subresource", "binding")}, at{4, refused(evicted("web"))}), "1 time, at most 0 allowed"},
	{`1m from now, a machine has been created since the start, and none has been deleted`, set(at{0.5, api("create", "machines", "a")}, at{4, refused(api("delete", "machines", "a"))}), set(at{0.5, api("delete", "machines", "a")}), "1 time, at most 0 allowed"},
	{`1m from now, a server of a node group has been running since the start, and no running server has been deleted`, set(at{0.5, server("running", "s")}, at{3, server("off", "s")}, at{4, server("deleting", "s")}), set(at{0.5, server("running", "s")}, at{4, server("deleting", "s")}), "the sequence is in the history"},
	{`1m from now, a server of a node group has been created since the start, and no server has been deleted`, set(at{0.5, server("created", "s")}), set(at{0.5, server("created", "s")}, at{0.7, server("deleting", "s")}), "1 time, at most 0 allowed"},
	{`the Node "a" is Ready within 1m and has the provider ID of its server`, set(at{0.1, server("created", "a")}, at{0.2, api("update", "nodes", "a", "providerID", "hcloud://1")}, at{3, of(history.Node, api("ready", "nodes", "a"))}), set(at{0.1, server("created", "a")}, at{0.2, api("update", "nodes", "a")}, at{3, of(history.Node, api("ready", "nodes", "a"))}), "element 2"},
	{`a server of the group "pool1" that has not started is deleted within 1m`, set(at{3, server("created", "s")}, at{4, server("deleting", "s")}), set(at{3, server("created", "s")}, at{3.5, server("running", "s")}, at{4, server("deleting", "s")}), "element 2"},
	{`the Node "a" is no longer Ready within 1m`, set(at{0.5, api("patch", "nodes", "a", "ready", "True: x")}, at{4, api("patch", "nodes", "a", "ready", "Unknown: y")}), set(at{0.5, api("patch", "nodes", "a", "ready", "True: x")}), "is True: x"},
	{`the Node "a" is Ready within 1m`, set(at{0.5, api("patch", "nodes", "a", "ready", "True: x")}), set(at{0.5, api("patch", "nodes", "a", "ready", "True: x")}, at{1.5, api("patch", "nodes", "a", "ready", "False: y")}), "is False: y"},
	{`1m from now, the Node "a" has not registered since a fault was armed for it`, set(at{0.5, of(history.Fault, api("armed", "nodes", "a"))}, at{4, api("create", "pods", "web")}), set(at{0.5, of(history.Fault, api("armed", "nodes", "a"))}, at{4, of(history.Node, api("register", "nodes", "a"))}), "the sequence is in the history"},
	{`the Node "a" becomes NotReady at least 2 times within 1m`, set(at{3, of(history.Node, api("notready", "nodes", "a"))}, at{4, of(history.Node, api("notready", "nodes", "a"))}), set(at{0.5, of(history.Node, api("notready", "nodes", "a"))}, at{4, of(history.Node, api("notready", "nodes", "a"))}), "1 time, at least 2 required"},
	{`the Node "a" keeps the taint "x=y:NoSchedule" for 1m`, set(at{0.5, api("patch", "nodes", "a", "taints", []string{"x=y:NoSchedule"})}), set(at{0.5, api("patch", "nodes", "a", "taints", []string{"x=y:NoSchedule"})}, at{4, api("delete", "nodes", "a")}), "1 time, at most 0 allowed"},
	{`the Node "a" is deleted within 1m`, set(at{4, api("delete", "nodes", "a")}), set(at{4, refused(api("delete", "nodes", "a"))}), "0 times"},
	{`the installation has succeeded`, set(at{0.5, byOrder(false)}), set(at{0.4, byOrder(true)}, at{0.5, byOrder(false)}), "1 time, at most 0 allowed"},
	{`logs and metrics were served`, set(at{0.5, history.Event{Source: history.Harness, Verb: "asked kubelets", Actor: "somebody", Detail: map[string]any{"refused": false}}}), set(at{0.5, history.Event{Source: history.Harness, Verb: "asked kubelets", Actor: "somebody", Detail: map[string]any{"refused": true}}}), "detail.refused"},
}

func refused(e history.Event) history.Event {
	e.Code = 429
	return e
}

// Each Then that is a name for statements, both ways, live and judged again.
func TestNamedThens(t *testing.T) {
	for _, test := range names {
		for _, want := range []string{passed, failed} {
			events, why := test.holds, ""
			if want == failed {
				events, why = test.fails, test.why
			}
			status, said, second := judgedLive(t, test.then, "", events)
			if status != want || !strings.Contains(said, why) {
				t.Errorf("%s: live %s: %s, want %s with %q", test.then, status, said, want, why)
			}
			agrees(t, test.then, "", status, second, events)
		}
	}
	for _, s := range all() {
		if s.Holds == "" {
			continue
		}
		if !slices.ContainsFunc(names, func(test named) bool { _, is := s.Match(test.then); return is }) {
			t.Errorf("no story shows when it holds that %s", s.Sentence.Words)
		}
	}
}

// Arguments stay text, whatever is in them.
func TestNamedArguments(t *testing.T) {
	n := Sentence{Holds: "\n- never: {source: api, name: {contains: \"$1\"}, detail: {message: {contains: \"$1\"}}}\n- count: {source: api}\n  atMost: #2\n"}
	list, err := n.statements([]string{`007, verb: "x"}` + "\\", "007"})
	if err != nil || len(list) != 2 || *list[1].AtMost != 7 {
		t.Fatalf("%+v, %v", list, err)
	}
	r := history.Entry{Event: api("create", "pods", `007, verb: "x"}`+"\\", "message", `a 007, verb: "x"}`+"\\ b")}
	if !list[0].Never.Matches(r) {
		t.Errorf("%+v does not match %+v", list[0].Never, r)
	}
}
