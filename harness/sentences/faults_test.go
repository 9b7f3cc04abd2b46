package sentences

import (
	"strings"
	"testing"
	"testing/fstest"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/program/clusterapi"
	"nodestorm/harness/sentences/scene"
)

// What is wrong with faults is found before anything starts, in one line that says what would be right.
func TestFaultProblems(t *testing.T) {
	for text, want := range map[string]string{
		`the first call "creat servers" to the cloud is not answered`:                   `no cloud knows a call "creat servers", did you mean "create servers"?`,
		`every call "get node" of the program "karpenter" is delayed by 5s`:             `unknown resource "node": want the plural, "nodes"`,
		`every call "fetch nodes" of the program "karpenter" is delayed by 5s`:          `unknown verb "fetch" (allowed: get,`,
		`every call "get nodes" of the program "karpenter" is answered with 200`:        "is answered with STATUS",
		`the first call "list networks" to the cloud gets a list of the first 2 only`:   "fits nothing that partial acts on (such as DescribeInstances, GET /servers",
		`every action "melt_server" in the cloud fails`:                                 `"melt_server" fits nothing that actionFails acts on`,
		`every server turns off 5m after it is running, once {verb: running}`:           "source is missing",
		`every server turns off 5m after it is running, once {source: cloud, vrb: run}`: `(allowed: source, verb`,
		`every server turns off 5m after it is running, once {source: [}`:               "once {source: [}",
		`the 0th server turns off 5m after it is running`:                               "counting to begin with the first",
		`the first server turns off 5m after it run`:                                    "did you mean",
		`these faults: faults: [{name: a, refuze: {code: x}}]`:                          `did you mean "refuse"?`,
		`these faults: faults: [{name: a, hang: {}, limits: 1}]`:                        `did you mean "limit"?`,
		`these faults: rulez: []`:                                                       `unknown field "rulez" (allowed: faults, kubelets, machines, nodes, rules), did you mean "rules"?`,
		`these faults: nodes: [{name: a}]`:                                              `fault "a": it has no effect, want one (allowed: neverRegisters,`,
		`these faults: nodes: [{name: a, flaps: {}}]`:                                   "field flaps.every is 0s: want more than zero",
		`these faults: nodes: [{name: a, node: b, skip: 1, notReady: {}}]`:              "it acts on one node",
		`these faults: machines: [{name: a, deployment: b, neverJoin: {}}]`:             `did you mean "neverJoins"?`,
		`these faults: machines: [{name: a, neverJoins: {}}]`:                           "want a name and a MachineDeployment",
		`these faults: kubelets: [{name: a, machine: b, limit: 1, stopped: {}}]`:        "want no skip, limit or probability",
		`these faults: kubelets: [{name: a, machine: b, stopped: {}, for: "-1s"}]`:      "field for is -1s",
		`these faults: nothing`:                                                         "it is no mapping: want lists below one of the fields faults,",
		`these faults: [{name: a, hang: {}}]`:                                           "it is no mapping: want lists below one of the fields faults,",
		`these faults:`:                                                                 "there is no fault",
		`these faults from the file "a.yaml"`:                                           `the file "a.yaml": the feature is in no folder`,
	} {
		step := &messages.PickleStep{Type: messages.PickleStepType_CONTEXT, Text: text}
		if _, list, ok := strings.Cut(text, "these faults:"); ok {
			step.Text = "these faults:"
			step.Argument = &messages.PickleStepArgument{DocString: &messages.PickleDocString{Content: list}}
		}
		wrong := Problems([]*messages.PickleStep{{Type: messages.PickleStepType_CONTEXT, Text: "a cluster"}, step}, nil)
		if len(wrong) != 1 || !strings.Contains(wrong[0].Err.Error(), want) || strings.Contains(wrong[0].Err.Error(), "\n") {
			t.Errorf("%s: got %v, want %s", text, wrong, want)
		}
	}
}

// A target has a way that can be broken where a When breaks it, and only there; Cluster API,
// which runs before its calls can be broken, wherever any step does.
func TestForeseen(t *testing.T) {
	const given, when = messages.PickleStepType_CONTEXT, messages.PickleStepType_ACTION
	const rule, cloud = "rules:\n- {name: slow, match: {client: karpenter, verbs: [create], resource: nodeclaims.karpenter.sh}, act: {delay: {by: 1m}}}\n",
		"faults:\n- {name: full, match: {operation: POST /servers}, refuse: {code: resource_unavailable}}\n"
	const sentence = `every call "create nodeclaims.karpenter.sh" of the program "karpenter" is delayed by 1m`
	const capi = `every call "create machines.cluster.x-k8s.io" of the program "cluster-api" is answered with 500`
	files := fstest.MapFS{"rules.yaml": {Data: []byte(rule)}}
	for _, test := range []struct {
		step         *messages.PickleStep
		target, capi bool
	}{
		{said(when, sentence, ""), true, false},
		{said(given, sentence, ""), false, false}, // known when the target starts
		{said(when, sentence+`, for 5m once "karpenter" has sent "create" of "nodeclaims"`, ""), true, false},
		{said(when, "these faults:", rule), true, false},
		{said(when, "these faults:", cloud), false, false},
		{said(when, `these faults from the file "rules.yaml"`, ""), true, false},
		{said(when, `these faults once "node" has recorded "ready" of "nodes":`, rule), true, false},
		{said(when, `the fault "slow" is cleared`, ""), false, false},
		{said(when, capi, ""), false, true},
		{said(given, capi+", for 5m", ""), false, true},
		{said(given, "these faults:", strings.ReplaceAll(rule, "client: karpenter", "client: cluster-api")), false, true},
	} {
		p := &play{Scene: &scene.Scene{Rig: scene.Rig{Beside: files}, Breaks: map[string]bool{}}}
		p.resolve([]*messages.PickleStep{test.step})
		if p.Broken() != test.target || p.Breaks[clusterapi.Name] != test.capi {
			t.Errorf("%s: %v", test.step.Text, p.Breaks)
		}
	}
}
