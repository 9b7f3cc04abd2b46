package sentences

import (
	"strings"
	"testing"
	"testing/fstest"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/program/clusterapi"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/stepdef/stepdeftest"
	"nodestorm/harness/world"
)

// A target has a way that can be broken where a When breaks it, and only there; Cluster API,
// which runs before its calls can be broken, and the controllers of the control plane wherever any step does.
func TestForeseen(t *testing.T) {
	const given, when = messages.PickleStepType_CONTEXT, messages.PickleStepType_ACTION
	const rule, cloud = "rules:\n- {name: slow, match: {client: karpenter, verbs: [create], resource: nodeclaims.karpenter.sh}, act: {delay: {by: 1m}}}\n",
		"faults:\n- {name: full, match: {operation: POST /servers}, refuse: {code: resource_unavailable}}\n"
	const sentence = `every call "create nodeclaims.karpenter.sh" of the program "karpenter" is delayed by 1m`
	const capi = `every call "create machines.cluster.x-k8s.io" of the program "cluster-api" is answered with 500`
	const manager = `every call "watch pods" of the program "kube-controller-manager" delivers nothing for 5m`
	files := fstest.MapFS{"rules.yaml": {Data: []byte(rule)}}
	for _, test := range []struct {
		step         *messages.PickleStep
		target, capi bool
		controller   string
	}{
		{stepdeftest.Step(when, sentence, ""), true, false, ""},
		{stepdeftest.Step(given, sentence, ""), false, false, ""}, // known when the target starts
		{stepdeftest.Step(when, sentence+`, for 5m once "karpenter" has sent "create" of "nodeclaims"`, ""), true, false, ""},
		{stepdeftest.Step(when, "these faults:", rule), true, false, ""},
		{stepdeftest.Step(when, "these faults:", cloud), false, false, ""},
		{stepdeftest.Step(when, `these faults from the file "rules.yaml"`, ""), true, false, ""},
		{stepdeftest.Step(when, `these faults once "node" has recorded "ready" of "nodes":`, rule), true, false, ""},
		{stepdeftest.Step(when, `the fault "slow" is cleared`, ""), false, false, ""},
		{stepdeftest.Step(when, capi, ""), false, true, ""},
		{stepdeftest.Step(given, capi+", for 5m", ""), false, true, ""},
		{stepdeftest.Step(given, "these faults:", strings.ReplaceAll(rule, "client: karpenter", "client: cluster-api")), false, true, ""},
		{stepdeftest.Step(when, manager, ""), false, false, world.Controllers[0]},
		{stepdeftest.Step(given, manager+", for 5m", ""), false, false, world.Controllers[0]},
		{stepdeftest.Step(given, "these faults:", strings.ReplaceAll(rule, "client: karpenter", "client: kube-scheduler")), false, false, world.Controllers[1]},
	} {
		p := &play{Scene: &scene.Scene{Rig: scene.Rig{Beside: files}, Breaks: map[string]bool{}}}
		p.resolve([]*messages.PickleStep{test.step})
		if p.Broken() != test.target || p.Breaks[clusterapi.Name] != test.capi {
			t.Errorf("%s: %v", test.step.Text, p.Breaks)
		}
		for _, name := range world.Controllers {
			if p.Breaks[name] != (name == test.controller) {
				t.Errorf("%s, of %s: %v", test.step.Text, name, p.Breaks)
			}
		}
	}
}
