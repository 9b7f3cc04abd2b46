package validation

import (
	"fmt"
	"strings"
	"testing"

	messages "github.com/cucumber/messages/go/v21"
)

// More processes of a target than it can have here, or than anyone has, are found before anything starts.
func TestReplicas(t *testing.T) {
	for _, test := range []struct {
		steps []string
		want  string
	}{
		{[]string{"a cluster", "the target has 2 replicas", `Karpenter with a NodePool "default"`}, ""},
		{[]string{"a cluster", "the target has 4 replicas", `Karpenter with a NodePool "default"`}, "4 replicas: want 1 to 3"},
		{[]string{"a cluster", `Karpenter with a NodePool "default"`, "the target has 2 replicas"}, "the target runs already: say it before"},
		{[]string{"a cluster", "a cloud of node groups", "the target has 2 replicas", "Cluster Autoscaler"},
			""},
		{[]string{"a cluster", "the target has 2 replicas", "Cluster API"},
			"cluster-api runs as one process: only Karpenter and Cluster Autoscaler can have replicas"},
	} {
		var steps []*messages.PickleStep
		for _, text := range test.steps {
			steps = append(steps, &messages.PickleStep{Type: messages.PickleStepType_CONTEXT, Text: text})
		}
		wrong := Problems(steps, nil)
		if (len(wrong) == 0) != (test.want == "") || len(wrong) > 0 && !strings.Contains(wrong[0].Err.Error(), test.want) {
			t.Errorf("%q: %v, want %q", test.steps, fmt.Sprint(wrong), test.want)
		}
	}
}
