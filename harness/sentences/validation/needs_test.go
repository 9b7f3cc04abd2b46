package validation_test

import (
	"strings"
	"testing"

	"github.com/cucumber/messages/go/v21"

	"nodestorm/harness/sentences/stepdef/stepdeftest"
	"nodestorm/harness/sentences/validation"
)

// What a step needs is brought by one before it, and what goes with the target is not another's.
func TestNeeds(t *testing.T) {
	const given, when = messages.PickleStepType_CONTEXT, messages.PickleStepType_ACTION
	for _, test := range []struct {
		steps []string // after "a cluster"
		want  string   // the end of the only problem; empty: there is none
	}{
		{[]string{"a Hetzner Cloud project", "Cluster Autoscaler", `the first call "create servers" to the cloud is not answered`}, ""},
		{[]string{"Karpenter", `the first call "create servers" to the cloud is not answered`},
			`there is no cloud yet: say "a Hetzner Cloud project", "a cloud of node groups", "a cloud of instances" or "an AWS region" before`},
		{[]string{"Cluster Autoscaler", "a Hetzner Cloud project"},
			`there is no cloud yet: say "a Hetzner Cloud project", "a cloud of node groups", "an AWS region" or "Cluster API v1.9.5" before`},
		{[]string{"Cluster API v1.12.0", "Cluster Autoscaler"}, ""},
		{[]string{"a Hetzner Cloud project", "a cloud of node groups"}, "the scenario has a cloud already"},
		{[]string{"a cloud of node groups", "Cluster Autoscaler", `Karpenter with a NodePool "default"`},
			"the scenario has cluster-autoscaler already, and a run has one target: leave one of them out"},
		{[]string{`a node group "pool1" of 0 to 3 servers of type "cx22" in "fsn1"`, "Karpenter"}, "Karpenter has no node groups: leave them out, " +
			`or say "Cluster Autoscaler" in its place`},
	} {
		steps := []*messages.PickleStep{stepdeftest.Step(given, "a cluster", "")}
		for _, text := range test.steps {
			steps = append(steps, stepdeftest.Step(given, text, ""))
		}
		steps = append(steps, stepdeftest.Step(when, "the scenario waits for 1s", ""))
		wrong := append(validation.Problems(steps, nil), validation.Slips(steps, nil)...)
		switch {
		case test.want == "" && len(wrong) == 0:
		case test.want == "" || len(wrong) != 1 || !strings.HasSuffix(wrong[0].Err.Error(), test.want):
			t.Errorf("%q: %v, want %q", test.steps, wrong, test.want)
		}
	}
}

// A control plane is upgraded once, and only one that begins with another release than the run's.
func TestPlanes(t *testing.T) {
	const given, when = messages.PickleStepType_CONTEXT, messages.PickleStepType_ACTION
	const older, upgraded = "a cluster of Kubernetes v1.35.4 until its control plane is upgraded", "the control plane is upgraded"
	for _, test := range []struct {
		first string
		then  []string
		want  string // the beginning of the only problem; empty: there is none
	}{
		{older, []string{upgraded}, ""},
		{"a cluster", []string{upgraded}, "the control plane is of the run's own Kubernetes already"},
		{older, []string{upgraded, upgraded}, "the control plane is of the run's own Kubernetes already"},
		{older, []string{"the scenario waits for 1s"}, "nothing upgrades the control plane from v1.35.4"},
		{strings.ReplaceAll(older, "v1.35.4", "v1.30.1"), []string{upgraded}, "release v1.30.1 of Kubernetes is too old"},
	} {
		steps := []*messages.PickleStep{stepdeftest.Step(given, test.first, "")}
		for _, text := range test.then {
			steps = append(steps, stepdeftest.Step(when, text, ""))
		}
		wrong := append(validation.Problems(steps, nil), validation.Slips(steps, nil)...)
		switch {
		case test.want == "" && len(wrong) == 0:
		case test.want == "" || len(wrong) != 1 || !strings.HasPrefix(wrong[0].Err.Error(), test.want):
			t.Errorf("%q: %v, want %q", test.then, wrong, test.want)
		}
	}
}
