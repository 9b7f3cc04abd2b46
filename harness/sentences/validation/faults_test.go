package validation

import (
	"strings"
	"testing"

	messages "github.com/cucumber/messages/go/v21"
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
