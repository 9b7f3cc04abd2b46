package audit

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What kubelets report becomes an event when it is news.
func TestKubeletReports(t *testing.T) {
	status := func(resource, name, body string) string {
		return fmt.Sprintf(`{"stage":"ResponseComplete","verb":"patch","user":{"username":"system:node:a","groups":["system:nodes","system:authenticated"]},"userAgent":"kubelet/v1.36.3",
			"objectRef":{"resource":%q,"name":%q,"subresource":"status"},"responseStatus":{"code":200},"requestObject":%s}`, resource, name, body)
	}
	pod := func(body string) string { return status("pods", "p", `{"metadata":{"uid":"1"},"status":{`+body+`}}`) }
	container := func(state string) string { return `"containerStatuses":[{"name":"c","state":{` + state + `}}]` }
	var c Converter
	for _, step := range []struct{ what, line, want string }{
		{"registering", `{"stage":"ResponseComplete","verb":"create","user":{"username":"system:node:a","groups":["system:nodes"]},"objectRef":{"resource":"nodes"},"responseStatus":{"code":201},
			"responseObject":{"metadata":{"name":"a"},"spec":{"providerID":"test://a"}}}`, "register nodes/a map[providerID:test://a]"},
		{"ready", status("nodes", "a", `{"status":{"$setElementOrder/conditions":[{"type":"Ready"}],"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady","message":"kubelet is posting ready status"}]}}`),
			"ready nodes/a map[message:kubelet is posting ready status reason:KubeletReady]"},
		{"a heartbeat", status("nodes", "a", `{"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":"2026-01-01T00:00:00Z"}]}}`), ""},
		{"not ready", status("nodes", "a", `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"KubeletNotReady"}]}}`), "notready nodes/a map[message: reason:KubeletNotReady]"},
		{"another condition", status("nodes", "a", `{"status":{"conditions":[{"type":"DiskPressure","status":"True"}]}}`), ""},
		{"a patch of another kind", status("nodes", "a", `[{"op":"remove","path":"/status/images"}]`), ""},
		{"creating", pod(container(`"waiting":{"reason":"ContainerCreating"}`)), ""},
		{"no image", pod(container(`"waiting":{"reason":"ErrImagePull"}`)), "waiting pods/p map[node:a reason:ErrImagePull]"},
		{"running", pod(`"phase":"Running","podIP":"10.0.0.1",` + container(`"running":{}`)), "running pods/p map[ip:10.0.0.1 node:a]"},
		{"a condition of it", pod(`"conditions":[{"type":"Ready","status":"True"}]`), ""},
		{"crashing", pod(container(`"waiting":{"reason":"CrashLoopBackOff"}`)), "waiting pods/p map[node:a reason:CrashLoopBackOff]"},
		{"once more", pod(container(`"waiting":{"reason":"CrashLoopBackOff"},"restartCount":2`)), ""},
		{"running again", pod(container(`"running":{}`)), "running pods/p map[ip:10.0.0.1 node:a]"},
		{"its end", pod(container(`"terminated":{"exitCode":137,"reason":"Error"}`)), ""},
		{"its phase", pod(`"phase":"Failed"`), "terminated pods/p map[exitCode:137 node:a reason:Error]"},
		{"another pod of the name", status("pods", "p", `{"metadata":{"uid":"2"},"status":{"phase":"Running"}}`), "running pods/p map[ip: node:a]"},
		{"its deletion", `{"stage":"ResponseComplete","verb":"delete","user":{"username":"system:node:a","groups":["system:nodes"]},"objectRef":{"resource":"pods","name":"p"},"responseStatus":{"code":200}}`, ""},
	} {
		events, err := c.Events([]byte(step.line))
		if err != nil || len(events) == 0 {
			t.Fatalf("%s: %v, %v", step.what, events, err)
		}
		got := ""
		for _, e := range events[1:] {
			got += fmt.Sprintf("%s %s %v", e.Verb, e.Object, e.Detail)
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.what, diff)
		}
	}
	if len(c.pods) > 0 {
		t.Errorf("remembered: %v", c.pods)
	}
	if _, err := c.Events([]byte(pod(`"phase":7`))); err == nil {
		t.Error("no complaint about a report that cannot be read")
	}
}
