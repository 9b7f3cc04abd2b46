package clusterapi

import (
	"strings"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"nodestorm/sim/history"
	"nodestorm/sim/history/invariants"
)

// A panic that a controller recovers from breaks no-crash, and nothing else of its log is recorded.
func TestPanics(t *testing.T) {
	log := history.New(time.Unix(0, 0), testclock.NewFakePassiveClock(time.Unix(0, 0)))
	see := panics(log)
	for line := range strings.Lines(`I1126 05:00:00.000000       1 controller.go:205] "Starting workers" controller="machine"
I1126 05:00:01.000000       1 controller.go:205] "Observed a panic in reconciler: runtime error: index out of range [1] with length 1" controller="machine" Machine="default/web"
E1126 05:00:01.000000       1 controller.go:347] "Reconciler error" err="panic: runtime error: index out of range [1] with length 1 [recovered]"
`) {
		see([]byte(strings.TrimSuffix(line, "\n")))
	}
	log.Record(history.Event{Source: history.Harness, Verb: history.Ended})
	broken := invariants.Judge(history.InMemory(log.Events()).Timed(), invariants.Subject{Actor: Name, Facts: []invariants.Fact{invariants.Runs}})
	if len(broken) != 1 || broken[0].Name != "no-crash" || len(log.Events()) != 2 {
		t.Errorf("%v breaks %v", log.Events(), broken)
	}
}
