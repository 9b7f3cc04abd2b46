package audit

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"nodestorm/sim/history"
)

func readLines(tb testing.TB) [][]byte {
	tb.Helper()
	text, err := os.ReadFile("testdata/claim-and-node.ndjson")
	if err != nil {
		tb.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(text), []byte("\n"))
}

func TestConvert(t *testing.T) {
	at := func(ms int) time.Time {
		return time.Date(2025, 1, 2, 3, 4, 0, 0, time.UTC).Add(time.Duration(ms) * time.Millisecond)
	}
	node, claim := history.Object{Resource: "nodes", Name: "node-a"}, history.Object{Resource: "nodeclaims", Name: "default-7xk2p"}
	pod := func(name string) history.Object {
		return history.Object{Resource: "pods", Namespace: "default", Name: name}
	}
	type detail = map[string]any
	want := []history.Event{
		{At: at(6250), Verb: "create", Object: claim, Actor: "karpenter", Code: 201, Detail: detail{
			"nodePool": "default", "startupTaints": []string{"node.cilium.io/agent-not-ready:NoSchedule"}}},
		{At: at(7000), Verb: "patch", Object: claim, Actor: "karpenter", Code: 200, Detail: detail{
			"subresource": "status", "nodePool": "default", "nodeName": "node-a", "providerID": "kwok://node-a",
			"conditions": detail{"Launched": "True", "Initialized": "Unknown: KnownEphemeralTaintsExist"}}},
		{At: at(8000), Verb: "create", Object: node, Actor: "sim-node", Code: 201, Detail: detail{
			"providerID": "kwok://node-a", "ready": "False: KubeletNotReady",
			"taints": []string{"karpenter.sh/unregistered:NoExecute"}, "added": []string{"karpenter.sh/unregistered:NoExecute"}}},
		{At: at(9000), Verb: "patch", Object: node, Actor: "node-controller", Code: 200, Detail: detail{
			"agent": "kube-controller-manager", "providerID": "kwok://node-a", "registered": true,
			"taints": []string{"node.kubernetes.io/not-ready:NoExecute"}, "added": []string{"node.kubernetes.io/not-ready:NoExecute"},
			"removed": []string{"karpenter.sh/unregistered:NoExecute"}}},
		{At: at(10000), Verb: "create", Object: pod("web-0"), Actor: "kube-scheduler", Code: 201, Detail: detail{
			"subresource": "binding", "node": "node-a"}},
		{At: at(11000), Verb: "patch", Object: pod("web-1"), Actor: "kube-scheduler", Code: 200, Detail: detail{
			"subresource": "status", "reason": "Unschedulable", "message": "0/1 nodes are available"}},
		{At: at(12000), Verb: "update", Object: history.Object{Resource: "configmaps", Namespace: "kube-system", Name: "x"},
			Actor: "kube-controller-manager", Code: 409, Detail: detail{
				"error": `Operation cannot be fulfilled on configmaps "x": the object has been modified`}},
		{At: at(13000), Verb: "delete", Object: pod("web-0"), Actor: "taint-eviction-controller", Code: 200, Detail: detail{
			"agent": "kube-controller-manager", "gracePeriodSeconds": int64(30)}},
	}
	var converter Converter
	var got []history.Event
	for i, line := range readLines(t) {
		events, err := converter.Events(line)
		if err != nil {
			t.Errorf("line %d: %v", i+1, err)
		}
		got = append(got, events...)
	}
	for i := range want {
		want[i].Source = history.API
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A Node whose deletion waits for a finalizer keeps its taints; one that is made anew has
// new ones.
func TestTaintsOfDeletedNode(t *testing.T) {
	var converter Converter
	node := func(verb, body string) map[string]any {
		t.Helper()
		events, err := converter.Events([]byte(`{"stage":"ResponseComplete","verb":"` + verb + `","objectRef":{"resource":"nodes","name":"a"},"responseStatus":{"code":200}` + body + `}`))
		if err != nil || len(events) != 1 {
			t.Fatalf("%s: %v, %v", verb, events, err)
		}
		return events[0].Detail
	}
	const tainted = `,"responseObject":{"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}}`
	added := []string{"k:NoSchedule"}
	if got := node("create", tainted)["added"]; !cmp.Equal(got, any(added)) {
		t.Errorf("created: added %v", got)
	}
	node("delete", "")
	if got := node("patch", tainted)["added"]; got != nil {
		t.Errorf("added while it is deleted: %v", got)
	}
	if got := node("create", tainted)["added"]; !cmp.Equal(got, any(added)) {
		t.Errorf("created again: added %v", got)
	}
}

func TestConvertEvent(t *testing.T) {
	var converter Converter
	got, err := converter.Events([]byte(`{"stage":"ResponseComplete","verb":"create","user":{"username":"system:serviceaccount:kube-system:cluster-autoscaler"},
		"objectRef":{"resource":"events","namespace":"default"},"responseStatus":{"code":201},"responseObject":{"metadata":{"name":"web.18"},
		"involvedObject":{"kind":"Pod","name":"web"},"reason":"TriggeredScaleUp","message":"pod triggered scale-up","type":"Normal"}}`))
	want := []history.Event{{
		Source: history.API, Verb: "create", Object: history.Object{Resource: "events", Namespace: "default", Name: "web.18"}, Actor: "cluster-autoscaler", Code: 201,
		Detail: map[string]any{"about": "Pod/web", "reason": "TriggeredScaleUp", "message": "pod triggered scale-up", "type": "Normal"},
	}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// An Event of events.k8s.io has other fields for the same.
func TestConvertEventOfItsOwnGroup(t *testing.T) {
	var converter Converter
	got, err := converter.Events([]byte(`{"stage":"ResponseComplete","verb":"create","user":{"username":"system:serviceaccount:karpenter:karpenter"},
		"objectRef":{"resource":"events","apiGroup":"events.k8s.io","namespace":"default"},"responseStatus":{"code":201},"responseObject":{"metadata":{"name":"a.18"},
		"regarding":{"kind":"NodeClaim","name":"a"},"reason":"Unconsolidatable","note":"` + strings.Repeat("x", 1000) + `","type":"Normal"}}`))
	if err != nil || len(got) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	d := got[0].Detail
	if message, _ := d["message"].(string); d["about"] != "NodeClaim/a" || d["reason"] != "Unconsolidatable" || len(message) < 300 || len(message) > 310 {
		t.Errorf("detail %v", d)
	}
}

// Who applies what is not there creates it.
func TestConvertApplied(t *testing.T) {
	for code, want := range map[string]string{"201": "create", "200": "patch"} {
		var converter Converter
		got, err := converter.Events([]byte(`{"stage":"ResponseComplete","verb":"patch","user":{"username":"system:serviceaccount:capi-system:capi-manager"},
			"objectRef":{"resource":"machines","namespace":"default","name":"a"},"responseStatus":{"code":` + code + `}}`))
		if err != nil || len(got) != 1 || got[0].Verb != want || (got[0].Detail["applied"] == true) != (want == "create") {
			t.Errorf("code %s: %v, %v, want verb %s", code, got, err, want)
		}
	}
}

func TestConvertCertificate(t *testing.T) {
	var converter Converter
	got, err := converter.Events([]byte(`{"stage":"ResponseComplete","verb":"update","user":{"username":"system:serviceaccount:kube-system:certificate-controller"},
		"objectRef":{"resource":"certificatesigningrequests","subresource":"status","name":"csr-1"},"responseStatus":{"code":200},"responseObject":{
		"spec":{"request":"eA==","signerName":"kubernetes.io/kubelet-serving","username":"system:node:a"},"status":{"certificate":"eA=="}}}`))
	want := []history.Event{{
		Source: history.API, Verb: "update", Object: history.Object{Resource: "certificatesigningrequests", Name: "csr-1"}, Actor: "certificate-controller", Code: 200,
		Detail: map[string]any{"subresource": "status", "signer": "kubernetes.io/kubelet-serving", "user": "system:node:a", "issued": true},
	}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// A NodePool has a number of machines in its event only if it is of a fixed size.
func TestConvertNodePool(t *testing.T) {
	for spec, want := range map[string]map[string]any{`"replicas":0`: {"replicas": int64(0)}, `"limits":{}`: nil} {
		var converter Converter
		got, err := converter.Events([]byte(`{"stage":"ResponseComplete","verb":"create","user":{"username":"kubectl"},"objectRef":{"apiGroup":"karpenter.sh","resource":"nodepools","name":"a"},
			"responseStatus":{"code":201},"requestObject":{"kind":"NodePool","spec":{` + spec + `}}}`))
		if err != nil || len(got) != 1 || len(got[0].Detail) != len(want) || got[0].Detail["replicas"] != want["replicas"] {
			t.Errorf("of %s: %v, %v", spec, got, err)
		}
	}
}

// Whether there is capacity, and whether a queue lets its pods start.
func TestConvertConditions(t *testing.T) {
	for _, resource := range []string{"provisioningrequests", "workloads"} {
		var converter Converter
		got, err := converter.Events([]byte(`{"stage":"ResponseComplete","verb":"patch","user":{"username":"kubectl"},"objectRef":{"resource":"` + resource + `",
			"subresource":"status","name":"a"},"responseStatus":{"code":200},"responseObject":{"status":{"conditions":[
			{"type":"Provisioned","status":"False","reason":"CapacityIsNotFound"},{"type":"Accepted","status":"True","reason":"Accepted"}]}}}`))
		want := map[string]any{"Provisioned": "False: CapacityIsNotFound", "Accepted": "True"}
		if err != nil || len(got) != 1 || cmp.Diff(any(want), got[0].Detail["conditions"]) != "" {
			t.Errorf("of %s: %v, %v", resource, got, err)
		}
	}
}

func TestConvertScale(t *testing.T) {
	var converter Converter
	got, err := converter.Events([]byte(`{"stage":"ResponseComplete","verb":"update","user":{"username":"system:serviceaccount:kube-system:cluster-autoscaler"},
		"objectRef":{"resource":"machinedeployments","subresource":"scale","name":"workers"},"responseStatus":{"code":200},"requestObject":{"kind":"Scale","spec":{"replicas":3}}}`))
	want := []history.Event{{
		Source: history.API, Verb: "update", Object: history.Object{Resource: "machinedeployments", Name: "workers"}, Actor: "cluster-autoscaler", Code: 200,
		Detail: map[string]any{"subresource": "scale", "replicas": int64(3)},
	}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// Bodies that are not what they are called after say nothing, and are no problem.
func TestConvertForeignBodies(t *testing.T) {
	for _, line := range []string{
		`{"stage":"ResponseComplete","verb":"create","objectRef":{"resource":"pods","subresource":"eviction","name":"a"},"responseStatus":{"code":201},"responseObject":{"kind":"Status","status":"Success"}}`,
		`{"stage":"ResponseComplete","verb":"create","objectRef":{"resource":"widgets"},"responseStatus":{"code":201},"responseObject":{"metadata":{"name":"a"},"spec":{"taints":"none"}}}`,
	} {
		var converter Converter
		got, err := converter.Events([]byte(line))
		if err != nil || len(got) != 1 || got[0].Object.Name != "a" {
			t.Errorf("%v, %v of %s", got, err, line)
		}
	}
}

func TestConvertRejects(t *testing.T) {
	tests := []struct{ name, line, err string }{
		{"no JSON", "I0102 03:04:05 server.go:1] hello", "not an audit event"},
		{"foreign JSON", `{"kind":"Pod"}`, "verb or stage is missing"},
		{"odd body", `{"stage":"ResponseComplete","verb":"create","objectRef":{"resource":"nodes"},"responseObject":{"spec":{"taints":"none"}}}`, "response of create nodes"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var converter Converter
			if _, err := converter.Events([]byte(test.line)); err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("error %v, want %q", err, test.err)
			}
		})
	}
}

// A program under test is known by its group, whatever account a user's manifest gives it.
func TestActorOfAProgram(t *testing.T) {
	for groups, want := range map[string]string{
		`"system:serviceaccounts"`: "storm-autoscaler",
		`"system:serviceaccounts","` + TargetGroup + `","` + ProgramGroup("cluster-autoscaler") + `"`: "cluster-autoscaler",
	} {
		events, err := new(Converter).Events([]byte(`{"stage":"ResponseComplete","verb":"delete","user":{"username":"system:serviceaccount:storm:storm-autoscaler","groups":[` + groups + `]},"objectRef":{"resource":"pods","name":"web"},"responseStatus":{"code":200}}`))
		if err != nil || len(events) != 1 || events[0].Actor != want {
			t.Errorf("of %s: %v, %v, want %s", groups, events, err, want)
		}
	}
}

func TestActorIsNeverLong(t *testing.T) {
	var converter Converter
	events, err := converter.Events([]byte(`{"stage":"ResponseComplete","verb":"create","user":{"username":"` +
		strings.Repeat("ü", 5000) + `"},"objectRef":{"resource":"pods"}}`))
	if err != nil || len(events) != 1 || len(events[0].Actor) > 310 || strings.Contains(events[0].Actor, "�") {
		t.Errorf("%v, error %v", events, err)
	}
}

// So is memory, and of what kind the machine behind a Node is.
func TestConvertRoom(t *testing.T) {
	for line, want := range map[string]string{
		`{"resource":"pods","name":"a"},"responseStatus":{"code":201},"responseObject":{"kind":"Pod","spec":{"containers":[{"resources":` +
			`{"requests":{"memory":"1Gi"}}},{"resources":{"requests":{"memory":"1M"}}}]}}}`: "map[memory:1074741824]",
		`{"resource":"pods","name":"a"},"responseStatus":{"code":201},"responseObject":{"kind":"Pod","spec":{"resources":{"requests":{"cpu":3}},` +
			`"containers":[{"resources":{"requests":{"cpu":"1","memory":"1M"}}}]}}}`: "map[cpu:3000 memory:1000000]",
		`{"resource":"nodes","name":"a"},"responseStatus":{"code":201},"responseObject":{"kind":"Node","metadata":{"labels":` +
			`{"node.kubernetes.io/instance-type":"c-2x","karpenter.sh/capacity-type":"spot","topology.kubernetes.io/zone":"a"}},` +
			`"status":{"allocatable":{"memory":"8Gi"}}}}`: "map[capacity:spot instanceType:c-2x memory:8589934592 taints:[] zone:a]",
		`{"resource":"nodes","name":"a","subresource":"status"},"responseStatus":{"code":200},"responseObject":{"kind":"Node","status":` +
			`{"allocatable":{"example.com/b":"0","example.com/a":"2"}}}}`: "map[extended:[example.com/a=2 example.com/b=0] subresource:status taints:[]]",
		`{"resource":"nodeclaims","name":"a"},"responseStatus":{"code":200},"responseObject":{"kind":"NodeClaim","metadata":{"labels":` +
			`{"node.kubernetes.io/instance-type":"c-2x","karpenter.sh/capacity-type":"spot","topology.kubernetes.io/zone":"a"}}}}`: "map[" +
			"capacity:spot instanceType:c-2x zone:a]",
	} {
		events, err := new(Converter).Events([]byte(`{"stage":"ResponseComplete","verb":"create","objectRef":` + line))
		if err != nil || len(events) != 1 || fmt.Sprint(events[0].Detail) != want {
			t.Errorf("%s: %v, %v, want %s", line, events, err, want)
		}
	}
}

// What pods request and what Nodes have is recorded once, when they come.
func TestConvertProcessors(t *testing.T) {
	for line, want := range map[string]any{
		`{"stage":"ResponseComplete","verb":"create","objectRef":{"resource":"pods","name":"a"},"responseStatus":{"code":201},"responseObject":{"kind":"Pod","spec":{"containers":[{"resources":{"requests":{"cpu":"1500m","memory":"1Gi"}}},{"resources":{"requests":{"cpu":"2"}}},{}]}}}`: int64(3500),
		`{"stage":"ResponseComplete","verb":"create","objectRef":{"resource":"pods","name":"a"},"responseStatus":{"code":201},"responseObject":{"kind":"Pod","spec":{"containers":[{"resources":{"requests":{"cpu":"much"}}}]}}}`:                                                           nil,
		`{"stage":"ResponseComplete","verb":"create","objectRef":{"resource":"nodes","name":"a"},"responseStatus":{"code":201},"responseObject":{"kind":"Node","status":{"allocatable":{"cpu":"4"}}}}`:                                                                                      int64(4000),
		`{"stage":"ResponseComplete","verb":"patch","objectRef":{"resource":"nodes","name":"a"},"responseStatus":{"code":200},"responseObject":{"kind":"Node","status":{"allocatable":{"cpu":"4"}}}}`:                                                                                       nil,
	} {
		events, err := new(Converter).Events([]byte(line))
		if err != nil || len(events) != 1 || events[0].Detail["cpu"] != want {
			t.Errorf("%s: %v, %v, want %v", line, events, err, want)
		}
	}
}

func FuzzConvert(f *testing.F) {
	for _, line := range readLines(f) {
		f.Add(line)
	}
	f.Add([]byte(`{"stage":"ResponseComplete","verb":"patch","user":{"username":"system:node:a","groups":["system:nodes"]},"objectRef":{"resource":"pods","name":"p","subresource":"status"},
		"responseStatus":{"code":200},"requestObject":{"metadata":{"uid":"1"},"status":{"phase":"Running","podIP":"10.0.0.1","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"state":{"waiting":{"reason":"x"}}}]}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var converter Converter
		events, _ := converter.Events(line)
		for i, event := range events {
			if (event.Source == history.API) != (i == 0) || event.Verb == "" {
				t.Errorf("event without source or verb: %+v", event)
			}
		}
	})
}

// What comes without credentials, or with wrong ones, is counted apart and is no event, whatever method it has and whatever name it gives.
func TestConvertStrangers(t *testing.T) {
	strangers := 0
	converter := Converter{Stranger: func() { strangers++ }}
	anonymous := `"user":{"username":"system:anonymous","groups":["system:unauthenticated"]},"userAgent":"karpenter/1.7","objectRef":{"resource":"nodes"}`
	for _, line := range []string{
		`{"stage":"ResponseComplete","verb":"create",` + anonymous + `,"responseStatus":{"code":403}}`,
		`{"stage":"ResponseComplete","verb":"",` + anonymous + `,"responseStatus":{"code":405}}`,
		`{"stage":"ResponseComplete","verb":"create","user":{},"userAgent":"karpenter/1.7","objectRef":{"resource":"nodes"},"responseStatus":{"code":401}}`,
	} {
		if events, err := converter.Events([]byte(line)); err != nil || len(events) > 0 {
			t.Errorf("%s: %v, %v", line, events, err)
		}
	}
	if strangers != 3 {
		t.Errorf("%d strangers, want 3", strangers)
	}
	events, err := converter.Events([]byte(`{"stage":"ResponseComplete","verb":"create","user":{"username":"system:serviceaccount:karpenter:karpenter"},"objectRef":{"resource":"nodes"},"responseStatus":{"code":401}}`))
	if err != nil || len(events) != 1 || strangers != 3 {
		t.Errorf("a program that is refused: %v, %v", events, err)
	}
}

// A later try of the scheduler has its words, too: its patch has neither status nor reason, as these do not change.
func TestUnschedulable(t *testing.T) {
	for patch, want := range map[string]map[string]any{
		`{"status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}`: {"reason": "Unschedulable", "message": "0/1 nodes"},
		`{"message": "0/2 nodes"}`: {"message": "0/2 nodes"},
		`{"status": "True"}`:       {},
	} {
		var b body
		raw := fmt.Sprintf(`{"status": {"conditions": [{"type": "PodScheduled", %s]}}`, patch[1:])
		if err := b.read(&runtime.Unknown{Raw: []byte(raw)}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, b.unschedulable()); diff != "" {
			t.Errorf("%s: %s", patch, diff)
		}
	}
}

// A call by one of several processes says by which.
func TestConvertReplica(t *testing.T) {
	for group, want := range map[string]any{ReplicaGroup("karpenter-2"): "karpenter-2", TargetGroup: nil} {
		line := fmt.Sprintf(`{"stage":"ResponseComplete","verb":"patch","user":{"username":"system:serviceaccount:ns:karpenter","groups":[%q]},`+
			`"objectRef":{"resource":"nodes","name":"a"},"responseStatus":{"code":200}}`, group)
		got, err := new(Converter).Events([]byte(line))
		if err != nil || len(got) != 1 || got[0].Actor != "karpenter" || got[0].Detail["replica"] != want {
			t.Errorf("%s: %v, %v, want the replica %v", group, got, err, want)
		}
	}
}
