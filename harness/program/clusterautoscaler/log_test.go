package clusterautoscaler

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	testclock "k8s.io/utils/clock/testing"

	"nodestorm/harness/program/deploy"
	"nodestorm/sim/history"
)

func TestLogLines(t *testing.T) {
	now := time.Date(2027, 1, 1, 0, 0, 1, 0, time.UTC).In(time.FixedZone("Asia/Kolkata", 5.5*3600))
	log := history.New(now, testclock.NewFakePassiveClock(now))
	lines := logLines(log, testclock.NewFakePassiveClock(now), strings.NewReplacer("s3cret-token", "(hidden)"), Name, &deploy.Leader{})
	for _, line := range []string{
		"I0101 00:00:01.500000       1 static_autoscaler.go:287] Starting main loop",
		"I1231 23:59:59.000001    4711 hetzner_node_group.go:560] Set node group pool1 size from 0 to 2, expected delta 2",
		"I0101 00:00:01.600000       1 hetzner_node_group.go:560] Set node group pool1 size from 2 to 2, expected delta 0",
		"I0101 00:00:01.550000       1 klogx.go:87] Pod default/web is unschedulable",
		"I0101 00:00:01.550000       1 klogx.go:87] Pod default/api is unschedulable",
		"I0101 00:00:01.560000       1 orchestrator.go:257] Final scale-up plan: [{pool1 0->1 (max: 3)} {MachineDeployment/a/b 1->4 (max: 9)}]",
		"I0101 00:00:01.600000       1 hetzner_node_group.go:560] Set node group pool1 size from 2 to 2, expected delta -1",
		"W0101 00:00:01.700000       1 hetzner_node_group.go:557] failed to set node pool pool1 size, using delta -1 error: it is s3cret-token",
		"I0101 00:00:01.750000       1 static_autoscaler.go:527] No unschedulable pods",
		"I0101 00:00:11.500000       1 static_autoscaler.go:287] Starting main loop",
		"I0101 00:00:21.500000       1 static_autoscaler.go:287] Starting main loop",
		"E0101 00:00:01.800000       1 static_autoscaler.go:300] Failed: " + strings.Repeat("x", 1000),
		"W0101 00:00:01.850000       1 static_autoscaler.go:998] Node group pool1 min size reached, skipping removal of 2 unregistered nodes",
		"W0101 00:00:01.900000       1 x.go:1] a warning",
		"panic: s3cret-token", "", "I0101", "E9999 99:99:99.999999 1 x.go:1] odd",
	} {
		lines([]byte(line))
	}
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	pool := history.Object{Resource: "nodegroups", Name: "pool1"}
	type detail = map[string]any
	want := []history.Entry{
		{Virtual: -2*time.Second + time.Microsecond, Event: history.Event{Verb: Target, Object: pool, Detail: detail{"from": 0, "to": 2, "delta": 2}}},
		{Virtual: 0, Event: history.Event{Verb: Failed, Detail: detail{"message": "odd", "at": "x.go:1"}}},
		{Virtual: ms(500), Event: history.Event{Verb: Loop}},
		{Virtual: ms(560), Event: history.Event{Verb: Plan, Object: pool, Detail: detail{"message": "plans to scale pool1 from 0 to 1, of 3 at most", "from": 0, "to": 1, "Pods": "default/web, default/api"}}},
		{Virtual: ms(560), Event: history.Event{Verb: Plan, Object: history.Object{Resource: "nodegroups", Name: "MachineDeployment/a/b"},
			Detail: detail{"message": "plans to scale MachineDeployment/a/b from 1 to 4, of 9 at most", "from": 1, "to": 4, "Pods": "default/web, default/api"}}},
		{Virtual: ms(600), Event: history.Event{Verb: Target, Object: pool, Detail: detail{"from": 2, "to": 2, "delta": -1}}},
		{Virtual: ms(700), Event: history.Event{Verb: Target, Object: pool, Detail: detail{"delta": -1, "error": "it is (hidden)"}}},
		{Virtual: ms(800), Event: history.Event{Verb: Failed, Detail: detail{"message": ("Failed: " + strings.Repeat("x", 292)) + "…", "at": "static_autoscaler.go:300"}}},
		{Virtual: ms(850), Event: history.Event{Verb: Kept, Object: pool}},
		{Virtual: ms(10_500), Event: history.Event{Verb: Loop, Detail: detail{"idle": true}}},
		{Virtual: ms(20_500), Event: history.Event{Verb: Loop}},
	}
	got := log.Events()
	for i := range got {
		got[i].Seq, got[i].Real, got[i].At = 0, 0, time.Time{}
	}
	for i := range want {
		want[i].Source, want[i].Actor = history.Logged, Name
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// What a further process logs has its name.
func TestLogLinesOfReplica(t *testing.T) {
	now := time.Date(2027, 1, 1, 0, 0, 1, 0, time.UTC)
	log := history.New(now, testclock.NewFakePassiveClock(now))
	lines := logLines(log, testclock.NewFakePassiveClock(now), strings.NewReplacer(), "cluster-autoscaler-2", &deploy.Leader{})
	lines([]byte("I0101 00:00:01.500000       1 static_autoscaler.go:287] Starting main loop"))
	lines([]byte("E0101 00:00:01.800000       1 static_autoscaler.go:300] Failed"))
	for _, e := range log.Events() {
		if e.Actor != Name || e.Detail["replica"] != "cluster-autoscaler-2" {
			t.Errorf("%+v", e)
		}
	}
	if n := len(log.Events()); n != 2 {
		t.Errorf("%d events, want 2", n)
	}
}
