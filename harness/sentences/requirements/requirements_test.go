package requirements_test

import (
	"fmt"
	"strings"
	"testing"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/builds"
	"nodestorm/harness/sentences/requirements"
	"nodestorm/harness/sentences/stepdef/stepdeftest"
)

// TestUpgrades follows which release runs, there and back.
func TestUpgrades(t *testing.T) {
	steps := []*messages.PickleStep{stepdeftest.Step(messages.PickleStepType_CONTEXT,
		"the second release before the target runs in its place until it is upgraded", "")}
	for _, text := range []string{
		"the target is upgraded to v1.6.4", "the target is upgraded",
		"the target is rolled back", "the target is upgraded, and its CRDs are left behind",
	} {
		steps = append(steps, stepdeftest.Step(messages.PickleStepType_ACTION, text, ""))
	}
	var got []string
	for _, u := range requirements.Upgrades(steps, builds.Ref{Name: "karpenter", Version: "v1.14.1"}) {
		got = append(got, fmt.Sprint(u.From.Version, " ", u.To.Version, " ", u.Left.CRDs))
	}
	if want := "v1.6.4 v1.6.4 false, v1.6.4 v1.14.1 false, v1.14.1 v1.6.4 false, v1.6.4 v1.14.1 true"; strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
}
