package then

import (
	"slices"
	"strings"
	"testing"

	"nodestorm/sim/history"
)

func counted(verb string, value float64, zone string) history.Event {
	return history.Event{Source: history.Harness, Verb: verb, Actor: "karpenter", Object: history.Object{Resource: history.Metrics, Name: "nodes_total"},
		Detail: map[string]any{"value": value, "labels": map[string]any{"zone": zone}}}
}

// All series of a metric together are what the measure is, or not.
func TestMetrics(t *testing.T) {
	const then = `the metric "nodes_total" comes to the measure "nodesLaunched" within 1m`
	two := set(at{4, machine("a", "EUR")}, at{5, machine("b", "EUR")}, at{6, counted(history.Measured, 1, "x")})
	for _, of := range []struct {
		why    string
		events []at
	}{
		{"", slices.Concat(two, set(at{7, counted(history.Measured, 1, "y")}))},
		{"comes to 1, and the measure nodesLaunched to 2", two},
		{"comes to 3, and the measure nodesLaunched to 2", slices.Concat(two, set(at{7, counted(history.Measured, 2, "y")}))},
		{"comes to 1, and the measure nodesLaunched to 2", slices.Concat(two, set(at{4.5, counted(history.Measured, 5, "y")}, at{7, counted(history.Unmeasured, 5, "y")}))},
		{"has no value", set(at{4, machine("a", "EUR")})},
		{"the measure nodesLaunched has no value", set(at{4, counted(history.Measured, 0, "x")}, at{5, api("create", "pods", "p")})},
	} {
		status, why, _ := judgedLive(t, then, "", of.events)
		if (status == passed) != (of.why == "") || !strings.Contains(why, of.why) {
			t.Errorf("%s: %s, want %q", status, why, of.why)
		}
	}
	const none = `the metric "nodes_total" comes to the measure "evictions" within 1m`
	if status, why, _ := judgedLive(t, none, "", set(at{3.5, api("create", "pods", "p")}, at{4, counted(history.Measured, 0, "x")})); status == passed || !strings.Contains(why, "comes to 0") {
		t.Errorf("nothing of both: %s: %s", status, why)
	}
	for name, want := range map[string]string{"nodesLaunchd": `did you mean "nodesLaunched"`, "cost": "is not a number of things"} {
		if _, _, err := Find(strings.Replace(then, "nodesLaunched", name, 1), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
