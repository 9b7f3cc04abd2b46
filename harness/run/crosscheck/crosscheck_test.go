package crosscheck_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/harness/run/crosscheck"
	"nodestorm/sim/history"
)

var epoch = time.Date(2026, 12, 31, 23, 59, 0, 0, time.UTC)

// evidence is a log and a history, in seconds since the epoch.
type evidence struct {
	log     []string
	entries []history.Entry
}

func (s *evidence) logs(second int, file, message string) {
	at := epoch.Add(time.Duration(second) * time.Second)
	s.log = append(s.log, fmt.Sprintf("I%s.000000    4711 %s:12] %s", at.Format("0102 15:04:05"), file, message))
}

func (s *evidence) happens(second int, e history.Event) {
	s.entries = append(s.entries, history.Entry{Seq: uint64(len(s.entries) + 1), Virtual: time.Duration(second)*time.Second + time.Millisecond, Event: e})
}

func (s *evidence) sends(second int, reason, message string) {
	s.logs(second, "event_sink_logging_wrapper.go", "Event(v1.ObjectReference{Kind:\"ConfigMap\"}): type: 'Normal' reason: '"+reason+"' "+message)
	s.happens(second, history.Event{Source: history.API, Verb: "create", Code: 201, Actor: "cluster-autoscaler", Object: history.Object{Resource: "events"}, Detail: detail{"reason": reason, "message": message}})
}

type detail = map[string]any

func calls(verb, resource, name, group string, code int) history.Event {
	d := detail{}
	if resource != "nodegroups" {
		d["group"] = group
	}
	return history.Event{Source: history.Cloud, Verb: verb, Code: code, Actor: "cluster-autoscaler", Object: history.Object{Resource: resource, Name: name}, Detail: d}
}

// nodeGroups is a run on a cloud of node groups: a scale-up that is granted, one that is refused, one that times
// out, instances that cannot be created and are deleted, a node that is removed, and an instance without one.
func nodeGroups() *evidence {
	s := &evidence{}
	s.logs(10, "orchestrator.go", "Scale-up: setting group a size to 1")
	s.happens(10, calls("NodeGroupIncreaseSize", "nodegroups", "a", "", 200))
	s.sends(10, "ScaledUpGroup", "Scale-up: group a size set to 1 instead of 0 (max: 5)")

	s.logs(20, "executor.go", "Scale-up: setting group b size to 3")
	s.happens(20, calls("NodeGroupIncreaseSize", "nodegroups", "b", "", 429))
	s.logs(20, "clusterstate.go", "Disabling scale-up for node group b until 2027-01-01 00:04:20 +0000 UTC m=+12.1; errorClass=Other; errorCode=cloudProviderError")
	s.sends(20, "FailedToScaleUpGroup", "Scale-up failed for group b: spent")
	s.logs(20, "static_autoscaler.go", "Failed to scale up: failed to increase node group size: spent")

	s.logs(80, "clusterstate.go", "Disabling scale-up for node group a until 2027-01-01 00:04:20 +0000 UTC m=+12.1; errorClass=Other; errorCode=timeout")
	s.sends(80, "ScaleUpTimedOut", "Nodes added to group a failed to register within 1m10s")

	s.logs(90, "executor.go", "Scale-up: setting group c size to 1")
	s.happens(90, calls("NodeGroupIncreaseSize", "nodegroups", "c", "", 200))
	s.happens(91, history.Event{Source: history.Cloud, Verb: "failed", Actor: "fakecloud", Object: history.Object{Resource: "instances", Name: "c-1"}, Detail: detail{"group": "c"}})
	s.logs(100, "clusterstate.go", "Disabling scale-up for node group c until 2027-01-01 00:04:20 +0000 UTC m=+12.1; errorClass=OutOfResource; errorCode=resource_unavailable")
	s.logs(100, "static_autoscaler.go", "Deleting 1 from c node group because of create errors")
	s.happens(100, calls("NodeGroupDeleteNodes", "instances", "c-1", "c", 200))

	s.logs(110, "actuator.go", `Scale-down: removing empty node "a-1"`)
	s.happens(115, calls("NodeGroupDeleteNodes", "instances", "a-1", "a", 200))
	s.sends(116, "ScaleDownEmpty", "Scale-down: empty node a-1 removed")

	s.logs(120, "static_autoscaler.go", "Marking unregistered node externalgrpc://a-2 for removal")
	s.happens(120, calls("NodeGroupDeleteNodes", "instances", "a-2", "a", 200))
	s.sends(120, "DeleteUnregistered", "Removed unregistered node externalgrpc://a-2")

	s.logs(130, "static_autoscaler.go", "Marking unregistered node externalgrpc://a-3 for removal")
	s.logs(130, "static_autoscaler.go", "Marking unregistered node externalgrpc://a-4 for removal")
	two := calls("NodeGroupDeleteNodes", "instances", "a-3", "a", 200)
	two.Detail["instances"] = []string{"a-3", "a-4"}
	s.happens(130, two)
	s.sends(130, "DeleteUnregistered", "Removed unregistered node externalgrpc://a-3")
	s.sends(130, "DeleteUnregistered", "Removed unregistered node externalgrpc://a-4")
	s.happens(200, history.Event{Source: history.Harness, Verb: history.Ended})
	return s
}

// hetzner is a run with the Hetzner provider, which asks for servers one by one and takes back those that do not start.
func hetzner() *evidence {
	s := &evidence{}
	s.logs(10, "executor.go", "Scale-up: setting group pool size to 2")
	s.happens(10, calls("POST /servers", "servers", "pool-a", "pool", 201))
	s.happens(10, history.Event{Source: history.Cloud, Verb: "created", Object: history.Object{Resource: "instances", Name: "pool-a"}, Detail: detail{"id": 1001.0}})
	s.happens(10, calls("POST /servers", "servers", "pool-b", "pool", 201))
	s.happens(40, calls("DELETE /servers/{id}", "servers", "pool-b", "pool", 200))
	s.logs(80, "static_autoscaler.go", "Removing unregistered node hcloud://1001")
	s.happens(80, calls("DELETE /servers/{id}", "servers", "pool-a", "pool", 200))
	s.sends(80, "DeleteUnregistered", "Removed unregistered node hcloud://1001")
	s.happens(200, history.Event{Source: history.Harness, Verb: history.Ended})
	return s
}

// clusterAPI is a run with Cluster API, whose sizes are written, and a conflict.
func clusterAPI() *evidence {
	s := &evidence{}
	write := func(second, code, replicas int) {
		d := detail{"subresource": "scale"}
		if code < 400 {
			d["replicas"] = float64(replicas)
		}
		s.happens(second, history.Event{Source: history.API, Verb: "update", Code: code, Actor: "cluster-autoscaler", Object: history.Object{Resource: "machinedeployments", Namespace: "default", Name: "w"}, Detail: d})
	}
	s.logs(10, "executor.go", "Scale-up: setting group MachineDeployment/default/w size to 2")
	write(10, 409, 0)
	s.logs(10, "static_autoscaler.go", "Failed to scale up: failed to increase node group size: conflict")
	s.logs(20, "executor.go", "Scale-up: setting group MachineDeployment/default/w size to 2")
	write(20, 200, 2)
	s.logs(60, "actuator.go", "Scale-down: removing node w-1, utilization: {0.1}, pods to reschedule: x")
	write(70, 200, 1)
	s.sends(70, "ScaleDown", "Scale-down: node w-1 removed with drain")
	s.happens(200, history.Event{Source: history.Harness, Verb: history.Ended})
	return s
}

// scalingGroups is a run with Auto Scaling groups of AWS: what is owed and not created goes by a write of the size, and Nodes are not called
// as instances are.
func scalingGroups() *evidence {
	s := &evidence{}
	set := func(second int, group string, to float64) {
		s.happens(second, history.Event{Source: history.Cloud, Verb: "SetDesiredCapacity", Code: 200, Actor: "cluster-autoscaler", Detail: detail{"group": group, "to": to}})
	}
	s.logs(10, "executor.go", "Scale-up: setting group a size to 3")
	set(10, "a", 3)
	s.happens(10, history.Event{Source: history.Node, Verb: "boot", Object: history.Object{Resource: "instances", Name: "i-1"}, Detail: detail{"node": "ip-10-0-0-7"}})
	s.logs(20, "executor.go", "Scale-up: setting group b size to 1")
	set(20, "b", 1)
	s.happens(21, history.Event{Source: history.Cloud, Verb: "failed", Actor: "fakecloud", Object: history.Object{Resource: "nodegroups", Name: "b"}, Detail: detail{"error": "resource_unavailable"}})
	s.logs(60, "clusterstate.go", "Disabling scale-up for node group b until 2027-01-01 00:04:20 +0000 UTC m=+12.1; errorClass=OutOfResource; errorCode=placeholder-cannot-be-fulfilled")
	s.logs(60, "static_autoscaler.go", "Deleting 1 from b node group because of create errors")
	set(60, "b", 0)
	s.logs(80, "static_autoscaler.go", "Marking unregistered node aws:///us-west-2a/i-placeholder-a-1 for removal")
	set(80, "a", 2)
	s.sends(80, "DeleteUnregistered", "Removed unregistered node aws:///us-west-2a/i-placeholder-a-1")
	s.logs(110, "actuator.go", `Scale-down: removing empty node "ip-10-0-0-7"`)
	s.happens(115, calls("TerminateInstanceInAutoScalingGroup", "instances", "i-1", "a", 200))
	s.sends(116, "ScaleDownEmpty", "Scale-down: empty node ip-10-0-0-7 removed")
	s.happens(200, history.Event{Source: history.Harness, Verb: history.Ended})
	return s
}

func (s *evidence) check(t *testing.T) (crosscheck.Counts, []crosscheck.Disagreement) {
	t.Helper()
	var log crosscheck.Log
	if err := log.Read(strings.NewReader(strings.Join(s.log, "\n")), epoch); err != nil {
		t.Fatal(err)
	}
	return crosscheck.Check(history.InMemory(s.entries).Timed(), &log)
}

func TestAgreement(t *testing.T) {
	for name, test := range map[string]struct {
		run  *evidence
		want string
	}{
		"node groups": {nodeGroups(), "3 scale-ups (3 in the history, 0 given up before any call), 3 back-offs (3 causes in the history), 5 of 5 deletions, 7 events (7 in the history)"},
		"hetzner":     {hetzner(), "1 scale-ups (1 in the history, 0 given up before any call), 0 back-offs (0 causes in the history), 2 of 2 deletions, 1 events (1 in the history)"},
		// Numbers of a history that is not stored yet are whole.
		"hetzner, live":  {hetzner().numbered(int64(1001)), "1 scale-ups (1 in the history, 0 given up before any call), 0 back-offs (0 causes in the history), 2 of 2 deletions, 1 events (1 in the history)"},
		"scaling groups": {scalingGroups(), "2 scale-ups (2 in the history, 0 given up before any call), 1 back-offs (1 causes in the history), 3 of 3 deletions, 2 events (2 in the history)"},
		"cluster API":    {clusterAPI(), "2 scale-ups (2 in the history, 0 given up before any call), 0 back-offs (0 causes in the history), 1 of 1 deletions, 1 events (1 in the history)"},
	} {
		if counts, found := test.run.check(t); len(found) > 0 || counts.String() != test.want {
			t.Errorf("%s: %v, %+v", name, counts, found)
		}
	}
}

// numbered gives the first instance another ID.
func (s *evidence) numbered(id any) *evidence {
	k := slices.IndexFunc(s.entries, func(r history.Entry) bool { return r.Verb == "created" })
	s.entries[k].Detail["id"] = id
	return s
}

// without takes the first event out that fits, and a line of the log that has text.
func (s *evidence) without(fits func(history.Entry) bool) *evidence {
	k := slices.IndexFunc(s.entries, fits)
	s.entries = slices.Delete(s.entries, k, k+1)
	return s
}

func (s *evidence) withoutLine(text string) *evidence {
	k := slices.IndexFunc(s.log, func(line string) bool { return strings.Contains(line, text) })
	s.log = slices.Delete(s.log, k, k+1)
	return s
}

func (s *evidence) with(second int, e history.Event) *evidence {
	s.happens(second, e)
	return s
}

func (s *evidence) withLine(second int, message string) *evidence {
	s.logs(second, "x.go", message)
	return s
}

func is(verb, name string) func(history.Entry) bool {
	return func(r history.Entry) bool { return r.Verb == verb && r.Object.Name == name }
}

func about(reason string) func(history.Entry) bool {
	return func(r history.Entry) bool { return r.Detail["reason"] == reason }
}

func TestDisagreements(t *testing.T) {
	scale := func(replicas float64) history.Event {
		return history.Event{Source: history.API, Verb: "patch", Code: 200, Actor: "cluster-autoscaler", Object: history.Object{Resource: "machinedeployments", Namespace: "default", Name: "w"}, Detail: detail{"subresource": "scale", "replicas": replicas}}
	}
	granted := func(r history.Entry) bool { return r.Code == 200 && r.Detail["replicas"] == 2.0 }
	lowered := func(r history.Entry) bool { return r.Code == 200 && r.Detail["replicas"] == 1.0 }
	sized := func(to float64) func(history.Entry) bool {
		return func(r history.Entry) bool { return r.Verb == "SetDesiredCapacity" && r.Detail["to"] == to }
	}
	slow := history.Event{Source: history.Fault, Verb: history.Matched, Detail: detail{"group": "d"}}
	for name, test := range map[string]struct {
		run  *evidence
		lost bool
		want string // of each disagreement, in their order
	}{
		"a scale-up is not in the history":           {nodeGroups().without(is("NodeGroupIncreaseSize", "a")), true, "the scale-up of the group a to 1 at 10s, and the history no call"},
		"a scale-up is not in the log":               {nodeGroups().with(95, calls("NodeGroupIncreaseSize", "nodegroups", "d", "", 200)), true, "the history has a scale-up of the group d at 1m35.001s (event 17), and the log none"},
		"a second scale-up is not in the log":        {nodeGroups().with(95, calls("NodeGroupIncreaseSize", "nodegroups", "a", "", 200)), true, "to 1 at 10s only, and the history 2"},
		"a deletion is not in the history":           {nodeGroups().without(is("NodeGroupDeleteNodes", "a-1")), true, "an event says at 1m56.001s that a-1 is removed, and the history has no deletion of it"},
		"that of what failed is not":                 {nodeGroups().without(is("NodeGroupDeleteNodes", "c-1")), true, "1 instances of the group c that were not created at 1m40s, and the history none"},
		"a deletion is not in the log":               {nodeGroups().with(130, calls("NodeGroupDeleteNodes", "instances", "b-9", "b", 200)), true, "the history has the deletion of b-9 at 2m10.001s (event 17), and the log none"},
		"a second deletion is not in the log":        {nodeGroups().with(130, calls("NodeGroupDeleteNodes", "instances", "a-1", "a", 200)), true, "the history has the deletion of a-1"},
		"the cause of a back-off is not":             {nodeGroups().without(is("failed", "c-1")), true, "the log has 1 back-offs of the group c, and the history 0 causes"},
		"an event is not":                            {nodeGroups().without(about("ScaledUpGroup")), true, "the log has 1 events ScaledUpGroup, and the history 0"},
		"an event and with it a cause are not":       {nodeGroups().without(about("ScaleUpTimedOut")), true, "the log has 1 events ScaleUpTimedOut, and the history 0; the log has 1 back-offs of the group a, and the history 0 causes"},
		"an event is not in the log":                 {nodeGroups().withoutLine("group a size set"), true, "the log has 0 events ScaledUpGroup, and the history 1"},
		"a back-off is not in the log":               {nodeGroups().withoutLine("errorCode=timeout"), true, "the history has 1 causes of back-offs of the group a, and the log 0 back-offs"},
		"a failure is not in the log":                {nodeGroups().withoutLine("Failed to scale up"), false, "no failure of 1 scale-up(s) of the group b that were refused"},
		"what is said to fail is granted":            {nodeGroups().withLine(95, "Failed to scale up: failed to increase node group size: x"), false, "the log has the scale-up of the group c to 1 at 1m30s as failed, and the history as granted"},
		"what is said to fail is granted, and slow":  {nodeGroups().withLine(130, "Scale-up: setting group d size to 1").with(130, slow).with(137, calls("NodeGroupIncreaseSize", "nodegroups", "d", "", 200)).withLine(135, "Failed to scale up: failed to increase node group size: x"), false, ""},
		"a server is not in the history":             {hetzner().without(is("POST /servers", "pool-a")).without(is("POST /servers", "pool-b")), true, "the scale-up of the group pool to 2 at 10s, and the history no call; the history has the deletion of pool-b"},
		"a server's deletion is not in the history":  {hetzner().without(is("DELETE /servers/{id}", "pool-a")), true, "hcloud://1001 is removed, and the history has no deletion of it"},
		"a server's deletion is not in the log":      {hetzner().with(90, calls("DELETE /servers/{id}", "servers", "control", "", 200)), true, "the history has the deletion of control"},
		"the size of a group is not":                 {scalingGroups().without(sized(3)), true, "the scale-up of the group a to 3 at 10s, and the history no call"},
		"that of what is owed is not":                {scalingGroups().without(sized(0)).without(sized(2)), true, "1 instances of the group b that were not created at 1m0s, and the history none; i-placeholder-a-1 is removed, and the history has no deletion of it"},
		"what is owed stays, for the least size":     {scalingGroups().withLine(150, "Deleting 1 from a node group because of create errors").withLine(150, "Error while trying to delete nodes from a: min size reached, nodes will not be deleted"), false, ""},
		"an instance's end is not in the history":    {scalingGroups().without(is("TerminateInstanceInAutoScalingGroup", "i-1")), true, "ip-10-0-0-7 is removed, and the history has no deletion of it"},
		"a write is not in the history":              {clusterAPI().without(granted), true, "the scale-up of the group MachineDeployment/default/w to 2 at 20s, and the history no call"},
		"a write is not in the log":                  {clusterAPI().with(30, scale(5)), true, "the history has 2 writes of sizes that are no scale-up, and the log causes for 1"},
		"a lower size is not in the history":         {clusterAPI().without(lowered), true, "an event says at 1m10.001s that w-1 is removed, and the history has no deletion of it"},
		"the last words before the autoscaler stops": {nodeGroups().withLine(199, "Scale-up: setting group d size to 1"), false, ""},
	} {
		_, found := test.run.check(t)
		wants := strings.Split(test.want, "; ")
		if test.want == "" {
			wants = nil
		}
		if len(found) != len(wants) {
			t.Errorf("%s: %+v", name, found)
			continue
		}
		for i, want := range wants {
			if !strings.Contains(found[i].Text, want) || found[i].Lost != test.lost {
				t.Errorf("%s: %+v, want %q", name, found[i], want)
			}
		}
	}
}

// A log is a stranger's: what is no line of klog's, is too long or has odd times, says nothing.
func TestOddLogs(t *testing.T) {
	var log crosscheck.Log
	text := "panic: x\n\n" + strings.Repeat("x", 3<<20) + "\nI9999 99:99:99.999999 1 x.go:1] Scale-up: setting group a size to 1\nI0101 00:00:09.000000 1 x.go:1] Scale-up: setting group a size to 99999999999999999999"
	if err := log.Read(strings.NewReader(text), epoch); err != nil {
		t.Fatal(err)
	}
	if counts, _ := crosscheck.Check(history.InMemory(nil).Timed(), &log); counts.ScaleUps != 1 {
		t.Errorf("%+v", counts)
	}
}
