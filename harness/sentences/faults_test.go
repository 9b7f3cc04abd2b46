package sentences

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/fakecloud/cloudfault"
	"nodestorm/harness/builds"
	"nodestorm/harness/program/clusterapi"
	"nodestorm/harness/sentences/scene"
	"nodestorm/sim/fault"
	"nodestorm/sim/fault/apifault"
	"nodestorm/sim/time/lapse"
)

// faultOf is the fault that a sentence says.
func faultOf(t *testing.T, text string) fault.Fault {
	t.Helper()
	these, err := readFault(text)
	if err != nil || len(these) != 1 {
		t.Fatalf("%s: %v, %v", text, these, err)
	}
	return these[0]
}

// Every sentence's example is a fault, and nothing that can break has no sentence.
func TestFaultSentences(t *testing.T) {
	spoken := map[string]bool{}
	for _, example := range FaultExamples() {
		f := faultOf(t, example)
		for _, b := range breakables() {
			if key := b.List.Key(f.Effect); key != "" {
				spoken[b.List.Name+" "+key] = true
			}
		}
	}
	can := 0
	for _, b := range breakables() {
		for _, k := range b.List.Kinds() {
			if can++; !spoken[b.List.Name+" "+k.Key] {
				t.Errorf("no sentence says %s of %s", k.Key, b.List.Name)
			}
		}
	}
	if len(spoken) != can || can < 40 {
		t.Errorf("sentences say %d effects, and there are %d", len(spoken), can)
	}
}

func TestFaultWords(t *testing.T) {
	const from = `, once {source: api, verb: create, detail: {message: {contains: "a, b}"}}}, from 3s on, for 2m30s, with probability 0.25`
	s := lapse.Duration(time.Second)
	r := faultOf(t, `the third call "update,patch machinedeployments.cluster.x-k8s.io/scale default/web" of the program "cluster-autoscaler" is delayed by 30s`+from)
	want := apifault.Match{
		Client: "cluster-autoscaler", Verbs: []string{"update", "patch"}, Resource: "machinedeployments.cluster.x-k8s.io", Subresource: "scale", Namespace: "default", Name: "web",
	}
	if !reflect.DeepEqual(r.Match, want) || r.Effect != (apifault.Delay{By: 30 * s}) {
		t.Errorf("got %+v", r)
	}
	if r.When == nil || r.At != 3*s || r.For != 150*s || r.Skip != 2 || r.Limit != 1 || r.Probability != 0.25 {
		t.Errorf("got %+v", r.Plan)
	}
	f := faultOf(t, `each of the first 3 calls "delete servers" to the cloud for servers of the group "pool1" is refused with "conflict"`)
	if f.Match != (cloudfault.Match{Operation: "DELETE /servers/{id}", Group: "pool1"}) || f.Limit != 3 || f.Skip != 0 || f.Effect != (cloudfault.Refuse{Code: "conflict"}) {
		t.Errorf("got %+v", f)
	}
	for words, want := range map[string]fault.Plan{
		"every": {}, "the first": {Limit: 1}, "the 12th": {Skip: 11, Limit: 1}, "each of the first 2": {Limit: 2},
	} {
		noun := "server"
		if strings.HasPrefix(words, "each") {
			noun = "servers"
		}
		if got := faultOf(t, words+" "+noun+" goes off 5m after it runs").Plan; got != want {
			t.Errorf("%s: got %+v, want %+v", words, got, want)
		}
	}
	if got := faultOf(t, "every server from the third on goes off 5m after it runs").Plan; got != (fault.Plan{Skip: 2}) {
		t.Errorf("from the third on: got %+v", got)
	}
	if hang := faultOf(t, `the first call "create servers" to the cloud is done, and never answered`).Effect; hang != (cloudfault.LoseReply{Hang: true}) {
		t.Errorf("got %+v", hang)
	}
	if out := faultOf(t, `the server type "cx22" cannot be had in "fsn1", for 1h`); out.Effect != (cloudfault.Unavailable{Type: "cx22", Location: "fsn1"}) || out.For != 3600*s {
		t.Errorf("got %+v", out)
	}
}

// What is wrong with faults is found before anything starts, in one line that says what would be right.
func TestFaultProblems(t *testing.T) {
	for text, want := range map[string]string{
		`the first call "creat servers" to the cloud gets no answer`:               `no cloud knows a call "creat servers", did you mean "create servers"?`,
		`every call "get node" of the program "karpenter" is delayed by 5s`:        `unknown resource "node": want the plural, "nodes"`,
		`every call "fetch nodes" of the program "karpenter" is delayed by 5s`:     `unknown verb "fetch" (allowed: get,`,
		`every call "get nodes" of the program "karpenter" is answered with 200`:   "is answered with STATUS",
		`the first call "list networks" to the cloud lists the first 2 only`:       "fits nothing that partial acts on (such as GET /servers",
		`every action "melt_server" in the cloud fails`:                            `"melt_server" fits nothing that actionFails acts on`,
		`every server goes off 5m after it runs, once {verb: running}`:             "source is missing",
		`every server goes off 5m after it runs, once {source: cloud, vrb: run}`:   `(allowed: source, verb`,
		`every server goes off 5m after it runs, once {source: [}`:                 "once {source: [}",
		`the 0th server goes off 5m after it runs`:                                 "counting to begin with the first",
		`the first server goes off 5m after it run`:                                "did you mean",
		`these faults: faults: [{name: a, refuze: {code: x}}]`:                     `did you mean "refuse"?`,
		`these faults: faults: [{name: a, hang: {}, limits: 1}]`:                   `did you mean "limit"?`,
		`these faults: rulez: []`:                                                  `unknown field "rulez" (allowed: faults, kubelets, machines, nodes, rules), did you mean "rules"?`,
		`these faults: nodes: [{name: a}]`:                                         `fault "a": it has no effect, want one (allowed: neverRegisters,`,
		`these faults: nodes: [{name: a, flaps: {}}]`:                              "field flaps.every is 0s: want more than zero",
		`these faults: nodes: [{name: a, node: b, skip: 1, notReady: {}}]`:         "it acts on one node",
		`these faults: machines: [{name: a, deployment: b, neverJoin: {}}]`:        `did you mean "neverJoins"?`,
		`these faults: machines: [{name: a, neverJoins: {}}]`:                      "want a name and a MachineDeployment",
		`these faults: kubelets: [{name: a, machine: b, limit: 1, stopped: {}}]`:   "want no skip, limit or probability",
		`these faults: kubelets: [{name: a, machine: b, stopped: {}, for: "-1s"}]`: "field for is -1s",
		`these faults: nothing`:                                                    "it is no mapping: want lists below one of the fields faults,",
		`these faults: [{name: a, hang: {}}]`:                                      "it is no mapping: want lists below one of the fields faults,",
		`these faults:`:                                                            "there is no fault",
		`these faults from the file "a.yaml"`:                                      `the file "a.yaml": the feature is in no folder`,
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

// What is about Cluster API needs it.
func TestWithoutClusterAPI(t *testing.T) {
	these, err := parseFaults([]byte("rules: [{name: refused, match: {client: cluster-api, resource: machines.cluster.x-k8s.io}, act: {answer: {code: 503}}}]"))
	if err != nil {
		t.Fatal(err)
	}
	s := &scene.Scene{Rig: scene.Rig{Target: builds.Target{Manifest: builds.Manifest{Ref: builds.Ref{Name: "karpenter", Version: "v1.7.0"}}}}}
	if err := arm(s, these); !errors.Is(err, clusterapi.Needed.Missing) || len(s.Rules) > 0 {
		t.Errorf("got %v, and %d rules for the target", err, len(s.Rules))
	}
}
