package slips_test

import (
	"strings"
	"testing"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/sentences/slips"
	"nodestorm/scenarios"
	"nodestorm/sim/history/checker"
)

// steps are those of a scenario of such steps.
func steps(t *testing.T, text string) (all []*messages.PickleStep) {
	t.Helper()
	list := 0
	document, err := scenarios.ParseFeature([]byte("Feature: f\n  Scenario: s\n"+text), func() string { list++; return strings.Repeat("x", list) })
	if err != nil {
		t.Fatal(err)
	}
	kind := messages.PickleStepType_CONTEXT
	for _, step := range document.Feature.Children[0].Scenario.Steps {
		switch step.KeywordType {
		case messages.StepKeywordType_ACTION:
			kind = messages.PickleStepType_ACTION
		case messages.StepKeywordType_OUTCOME:
			kind = messages.PickleStepType_OUTCOME
		}
		of := &messages.PickleStep{Text: step.Text, Type: kind, Argument: &messages.PickleStepArgument{}}
		if step.DocString != nil {
			of.Argument.DocString = &messages.PickleDocString{Content: step.DocString.Content}
		}
		if step.DataTable != nil {
			of.Argument.DataTable = &messages.PickleTable{}
			for _, row := range step.DataTable.Rows {
				cells := &messages.PickleTableRow{}
				for _, cell := range row.Cells {
					cells.Cells = append(cells.Cells, &messages.PickleTableCell{Value: cell.Value})
				}
				of.Argument.DataTable.Rows = append(of.Argument.DataTable.Rows, cells)
			}
		}
		all = append(all, of)
	}
	return all
}

var known = slips.Known{
	Flags: []string{"--max-node-provision-time", "HCLOUD_SERVER_TIMEOUT"}, Spans: []string{"--max-node-provision-time", "BATCH_MAX_DURATION"},
	Prose:   slips.Prose{'p': {"provisionable"}},
	Effects: []string{"alterReply", "no kubelet runs"}, Operations: []string{"GET /servers", "NodeGroupNodes"},
}

func TestFind(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"a name", "Given a NodePool \"static\"\nWhen \"NodePool/satic\" is deleted\nThen \"NodePool/static\" is gone\n", `"satic" stands there only`},
		{"a label", "Given these objects:\n\"\"\"\nspec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {xpp: web}}}}\n\"\"\"\n" +
			"And these objects:\n\"\"\"\nmetadata: {labels: {app: web}}\n\"\"\"\n", `"xpp" stands there only`},
		{"a word of the field", "Given these objects:\n\"\"\"\neffect: oNSchedule\n\"\"\"\n", `"oNSchedule" stands there only, and is spelled almost like "NoSchedule"`},
		{"a cell", "Given these nodes:\n| name | group |\n| a | pool-best |\nAnd the group \"pool-bset\"\nAnd the group \"pool-best\"\n", `"pool-bset"`},
		{"numbered", "Given the group \"pool1\"\nAnd the group \"pool2\"\n", ""},
		{"lettered", "Given the group \"small-a\"\nAnd the group \"small-b\"\n", ""},
		{"a plural", "Given the pod \"web\"\nAnd the pod \"webs\"\n", ""},
		{"both twice", "Given \"best\" and \"rest\"\nAnd \"best\" and \"rest\"\n", ""},
		{"a value and a key", "Given these objects:\n\"\"\"\nlabels: {apps: web}\nname: app-s\n\"\"\"\n", ""},
		{"instance types", "Given the type \"m6i.xlarge\"\nAnd the type \"c6i.xlarge\"\n", ""},
		{"a flag", "Given it has\n| --max-node-provision-tme | 3m |\n", "spelled almost like --max-node-provision-time"},
		{"a version", "Given these objects:\n\"\"\"\nkind: NodePool\napiVersion: karpenter.sh/v1bata1\n\"\"\"\n", `"v1bata1" is no version`},
		{"a class", "Given these objects:\n\"\"\"\nkind: NodePool\nspec: {template: {spec: {nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClas}}}}\n\"\"\"\n",
			`has no kind "KWOKNodeClas"`},
		{"a selector", "Given these objects:\n\"\"\"\nkind: DaemonSet\nspec: {selector: {matchLabels: {ap: a}}, template: {metadata: {labels: {app: a}}}}\n\"\"\"\n",
			"its selector asks for the label ap=a"},
		{"a When at the end", "When one is created\nThen it is there\nWhen it is deleted\n", "nothing looks at what comes of it"},
		{"Whens alone", "When one is created\n", ""},
		{"a Then at once", "When one is created\nThen this holds:\n\"\"\"\nnever: {verb: delete}\n\"\"\"\n", "it is judged at once"},
		{"a Then after another", "When one is created\nThen it is there\nAnd this holds:\n\"\"\"\nnever: {verb: delete}\n\"\"\"\n", ""},
		{"a Then after a wait", "When \"cloud\" has recorded \"deleted\" of \"instances\"\nThen this holds:\n\"\"\"\nnever: {verb: delete}\n\"\"\"\n", ""},
		{"a Then that asks for something", "When one is created\nThen this holds:\n\"\"\"\nhappens: {verb: delete}\n\"\"\"\n", ""},
		{"a digit twice", "When one is created\nThen it is there within 5m\nAnd it is Ready within 55m\n", "the duration 55m stands there only, and is none that people choose"},
		{"two digits swapped", "Given it takes 51m\n", "If it is meant, write 51m0s"},
		{"odd minutes", "Given it takes 51m0s\n", ""},
		{"odd minutes twice", "Given it takes 23m\nThen it is there within 23m\n", ""},
		{"a digit of hours twice", "Given it takes 11h\n", "If it is meant, write 11h0m0s"},
		{"days", "Given it takes 48h\n", ""},
		{"a digit of seconds twice", "Given it takes 5s\nThen it is there within 55s\n", "the duration 55s stands there only, and differs from 5s"},
		{"a digit of seconds thrice", "Then it is there within 111s\n", "If it is meant, write 1m51s"},
		{"many seconds", "Then it is there within 855s\n", "the duration 855s is 14m15s: write that"},
		{"ten and one minutes", "Given it takes 1m\nAnd that takes 10m\nThen it is there within 11m\n", ""},
		{"digits swapped", "Given it takes 15m\nThen this holds:\n\"\"\"\nhappens: {verb: delete}\nwithin: 51m\n\"\"\"\n", "the duration 51m stands there only"},
		{"two durations", "Given it takes 15m\nThen it is there within 5m\nAnd it is Ready within 25m\n", ""},
		{"both durations twice", "Given it takes 11m\nAnd that takes 11m\nThen it is there within 1m\n", ""},
		{"a second more", "Given it takes 1s\nThen it is there within 11s\n", ""},
		{"a minute twice", "Given it takes 1m\nThen it is there within 11m\n", "the duration 11m stands there only, and differs from 1m"},
		{"a zero first", "Given it takes 03m\n", "03m has a number that begins with a zero"},
		{"a zero in a duration", "Given it takes 1h05m\n", "1h05m has a number that begins with a zero"},
		{"many minutes", "Then it is there within 110m\n", "the duration 110m is 1h50m: write that"},
		{"two hours", "Then it is there within 120m\n", ""},
		{"round seconds", "Given it takes 10s\nThen it is there within 100s\n", ""},
		{"processors", "Given a pod that requests 110m CPU\n", ""},
		{"a span", "Given it has\n| --max-node-provision-time | m3 |\n", `--max-node-provision-time: "m3" is no duration`},
		{"a variable", "Given it has\n| HCLOUD_SERVEER_TIMEOUT | 10 |\n", "spelled almost like HCLOUD_SERVER_TIMEOUT"},
		{"a switch", "Given it has\n| --max-node-provision | trrue |\n", `--max-node-provision: did you mean true instead of "trrue"?`},
		{"a letter less", "Given the group \"best\"\nAnd the group \"best\"\nAnd the group \"bst\"\n", `"bst" stands there only`},
		{"the label of pods", "Given these objects:\n\"\"\"\nselector: {matchLabels: {ap: web}}\n\"\"\"\n", `"ap" stands there only`},
		{"the group of a fault's resource", "Given these faults:\n\"\"\"\nmatch: {resource: machines.clustter.x-k8s.io}\n\"\"\"\n", `"clustter.x-k8s.io" is no group`},
		{"a span of a variable", "Given it has\n| BATCH_MAX_DURATION | jm |\n", `BATCH_MAX_DURATION: "jm" is no duration`},
		{"a span of an outline", "Given it has\n| --max-node-provision-time | <time> |\n", ""},
		{"a resource", "Given these objects:\n\"\"\"\nkind: Pod\nspec: {containers: [{name: a, resources: {requests: {pcu: 1}}}]}\n\"\"\"\n", `refuses the resource "pcu"`},
		{"resources", "Given these objects:\n\"\"\"\nkind: Pod\nspec: {containers: [{resources: {limits: {cpu: 1, hugepages-2Mi: 1, example.com/gpu: 1}}}]}\n\"\"\"\n", ""},
		{"a requirement of nothing", "Given these objects:\n\"\"\"\nkind: NodePool\nspec: {requirements: [{ey: kubernetes.io/os, operator: In, values: [linux]}]}\n\"\"\"\n", "requirements: the API server refuses one without a key"},
		{"a toleration of all", "Given these objects:\n\"\"\"\nkind: Pod\nspec: {tolerations: [{operator: Exists}]}\n\"\"\"\n", ""},
		{"an architecture", "Given these objects:\n\"\"\"\nkind: NodePool\nspec: {requirements: [{key: kubernetes.io/arch, operator: In, values: [am6d4]}]}\n\"\"\"\n", `"am6d4" is no value of it: did you mean "amd64"?`},
		{"a selected architecture", "Given these objects:\n\"\"\"\nkind: Pod\nspec: {nodeSelector: {kubernetes.io/arch: aamd64}}\n\"\"\"\n", `"aamd64" is no value of it`},
		{"part of a type", "Given these objects:\n\"\"\"\nkind: NodePool\nspec: {requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amc64-linux]}]}\n\"\"\"\n", `"amc64" is no value of it`},
		{"another type", "Given these objects:\n\"\"\"\nkind: NodePool\nspec: {requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m6i.xlarge, c-4x-arm64-linux]}]}\n\"\"\"\n", ""},
		{"digits of a class", "Given these objects:\n\"\"\"\nkind: NodePool\nspec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: E2CNodeClass}}}}\n\"\"\"\n", `has no kind "E2CNodeClass"`},
		{"a letter of a class", "Given these objects:\n\"\"\"\nkind: NodePool\nspec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: ECNodeClass}}}}\n\"\"\"\n", `has no kind "ECNodeClass": want EC2NodeClass`},
		{"labels", "When \"Deployment/web\" is patched with:\n\"\"\"\nspec: {template: {metadata: {labells: {a: b}}}}\n\"\"\"\n", `metadata has no field "labells"`},
		{"the group of a class", "Given these objects:\n\"\"\"\nkind: NodePool\nspec: {template: {spec: {nodeClassRef: {group: karpenter.kwyk.sh, kind: KWOKNodeClass}}}}\n\"\"\"\n", `"karpenter.kwyk.sh" is no group of APIs`},
		{"the group of a reference", "Given these objects:\n\"\"\"\nkind: MachineHealthCheck\nspec: {remediationTemplate: {apiVersion: infrastructure.cluster.x-i8s.io/v1beta1}}\n\"\"\"\n", `"infrastructure.cluster.x-i8s.io" is no group of APIs`},
		{"a group of one's own", "Given these objects:\n\"\"\"\nkind: MachineHealthCheck\nspec: {remediationTemplate: {apiVersion: remediation.example.org/v1}}\n\"\"\"\n", ""},
		{"a patch", "When \"Deployment/web\" is patched with:\n\"\"\"\nsepc: {replicas: 1}\n\"\"\"\n", `the patch is of "sepc"`},
		{"a patch of data", "When \"ConfigMap/a\" is patched with:\n\"\"\"\ndata: {a: b}\n\"\"\"\n", ""},
		{"a template", "When \"Deployment/web\" is patched with:\n\"\"\"\nspec: {template: {yetadata: {labels: {a: b}}}}\n\"\"\"\n", `template has no field "yetadata": did you mean "metadata"?`},
		{"the domain of a label", "Given these objects:\n\"\"\"\nselector: {matchLabels: {cluster.x-h8s.io/deployment-name: web}}\n\"\"\"\n", `"cluster.x-h8s.io/deployment-name" stands there only`},
		{"digits of a group", "Given these objects:\n\"\"\"\nspec: {group: infrastructure.cluster.x-ks8.io}\n\"\"\"\n", `"infrastructure.cluster.x-ks8.io" is no group of APIs`},
		{"the class of a patch", "When \"NodePool/a\" is patched with:\n\"\"\"\nspec: {template: {spec: {nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKKNodeClass}}}}\n\"\"\"\n", `has no kind "KWOKKNodeClass"`},
		{"the digits of a domain", "Given these objects:\n\"\"\"\nselector: {matchLabels: {cluster.x-k88s.io/name: web}}\n\"\"\"\n", `almost like the domain "cluster.x-k8s.io"`},
		{"a domain of one's own", "Given these objects:\n\"\"\"\nselector: {matchLabels: {k8s.io/name: web}}\n\"\"\"\n", ""},
		{"a port", "Given these objects:\n\"\"\"\nports: [{containerPort: 0, hostPort: 8080}]\n\"\"\"\n", "containerPort: the API server refuses 0"},
		{"ports", "Given these objects:\n\"\"\"\nports: [{containerPort: 80, hostPort: 65535}]\n\"\"\"\n", ""},
		{"a quantity", "Given these objects:\n\"\"\"\nrequests: {cpu: 080m}\n\"\"\"\n", "cpu: the number 080m begins with a zero"},
		{"quantities", "Given these objects:\n\"\"\"\nrequests: {cpu: 0.5, memory: \"08\"}\n\"\"\"\n", ""},
		{"a kind", "When \"Machinne/$name\" is annotated \"a=b\"\n", "there is no kind Machinne: did you mean Machine?"},
		{"a kind of one's own", "Given these objects:\n\"\"\"\nspec: {names: {kind: Machinne}}\n\"\"\"\nWhen \"Machinne/a\" is deleted\nThen it is gone\n", ""},
		{"what nothing brings", "Given a pod \"one\"\nWhen \"Pod/dne\" is deleted\nThen it is gone\n", `no step before brings Pod "dne"`},
		{"a pod of a set", "Given a StatefulSet \"web\"\nWhen \"Pod/web-0\" is deleted\nThen it is gone\n", ""},
		{"what a file brings", "Given these objects from the file \"a.yaml\" are created\nWhen \"Pod/one\" is deleted\nThen it is gone\n", ""},
		{"letters of a name", "Given the group \"web\"\nAnd the group \"web\"\nAnd the group \"ewb\"\n", `"ewb" stands there only`},
		{"digits of a name", "Given the group \"pool1\"\nAnd the group \"pool1\"\nAnd the group \"poo1l\"\n", `"poo1l" stands there only`},
		{"a location", "Given a node group \"a\" in \"fgn1\"\n", `almost like "fsn1"`},
		{"a word of a log", "Then this holds:\n\"\"\"\nhappens: {detail: {message: a provisionabel pod}}\n\"\"\"\n", `almost like "provisionable"`},
		{"malformed YAML", "Given these objects:\n\"\"\"\n{: [\n\"\"\"\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var said []string
			for _, p := range slips.Find(known, steps(t, test.text), nil) {
				said = append(said, p.Err.Error())
			}
			if all := strings.Join(said, "\n"); (all == "") != (test.want == "") || !strings.Contains(all, test.want) {
				t.Errorf("it says %q, want %q", all, test.want)
			}
		})
	}
}

func TestOfRecord(t *testing.T) {
	scenario := steps(t, "Given a node \"web\"\nThen its taint is \"node.cloudprovider.kubernetes.io/uninitialized\"\n")
	both := []scenarios.Target{{Expected: scenarios.Reproduced}, {Expected: scenarios.Healthy}}
	for _, test := range []struct {
		name, text, want string
		record           scenarios.Record
	}{
		{"a value", "symptom:\n  sequence:\n    - match: {detail: {message: {contains: uninitialzed}}}\n", `"uninitialzed" stands there only`, scenarios.Record{}},
		{"another word of the field", "symptom: {sequence: [{match: {detail: {message: {contains: size decrease}}}}]}\n", "", scenarios.Record{}},
		{"a name", "trigger: {sequence: [{match: {name: eb}}]}\n", `"eb" stands there only, and is spelled almost like "web"`, scenarios.Record{}},
		{"a resource", "trigger: {sequence: [{match: {resource: nods}}]}\n", `"nods" stands there only`, scenarios.Record{}},
		{"what is captured", "trigger: {sequence: [{match: {name: web}, capture: {eb: name}}]}\n", "", scenarios.Record{}},
		{"another word", "symptom: {sequence: [{match: {detail: {message: {contains: too many hostports}}}}]}\n", "", scenarios.Record{}},
		{"what people read", "symptom: {statement: it is uninitialzed}\n", "", scenarios.Record{}},
		{"a digit of a duration twice", "symptom:\n  sequence:\n    - {match: {name: web}, within: 3m}\n    - {match: {name: web}, within: 33m}\n", "the duration 33m stands there only", scenarios.Record{}},
		{"a zero less than people read", "summary: after 10m it is gone\nsymptom: {within: 1m}\n", "what people read says 10m", scenarios.Record{}},
		{"what people read of both", "summary: not after 1m but after 10m it is gone\nsymptom: {within: 1m}\n", "", scenarios.Record{}},
		{"what people read is judged", "summary: after 10m it is gone\ntrigger: {within: 10m}\nsymptom: {within: 1m}\n", "", scenarios.Record{}},
		{"a duration that nothing judges", "notes: {within: 300s, after: 30s}\n", "", scenarios.Record{}},
		{"an effect", "trigger: {sequence: [{match: {detail: {effect: allterReply}}}]}\n", `detail.effect: "allterReply" is no value of it`, scenarios.Record{}},
		{"an effect of some words", "trigger: {sequence: [{match: {detail: {effect: no kubelet runs}}}]}\n", "", scenarios.Record{}},
		{"an operation", "work: {detail: {operation: NodeGropuNodes}}\nsymptom: {never: {detail: {operation: NodeGropuNodes}}}\n", `detail.operation: "NodeGropuNodes"`, scenarios.Record{}},
		{"a kind of capacity", "symptom: {never: {detail: {capacity: on-kemand}}}\n", `did you mean "on-demand"?`, scenarios.Record{}},
		{"a controller", "symptom: {never: {detail: {controller: proiisioner}}}\n", `did you mean "provisioner"?`, scenarios.Record{}},
		{"a release of tomorrow", "fixed: '>=v2.0.0'\n", "", scenarios.Record{Autoscaler: "karpenter"}},
		{"a minor release beyond", "fixed: '>=v1.113.0'\n", "names v1.113.0, and the newest release of karpenter", scenarios.Record{Autoscaler: "karpenter"}},
		{"a major release beyond", "fixed: '>=v11.12.2'\n", "names v11.12.2, and the newest", scenarios.Record{Autoscaler: "karpenter"}},
		{"any release but one", "fixed: '<x.33.0'\n", "is written as no range", scenarios.Record{}},
		{"a group", "symptom: {never: {detail: {group: wbe}}}\n", `detail.group: "wbe" is no value of it`, scenarios.Record{}},
		{"another group", "symptom: {never: {detail: {group: batch}}}\n", "", scenarios.Record{}},
		{"an owner", "symptom: {never: {detail: {owner: DaemonSet/wbe}}}\n", `did you mean "DaemonSet/web"?`, scenarios.Record{}},
		{"a part of a name", "symptom: {never: {name: MachineDeployment/defalt/web}}\n", `"defalt" stands there only`, scenarios.Record{}},
		{"a name twice", "trigger: {happens: {name: wbe}}\nsymptom: {never: {name: wbe}}\n", `"wbe" stands there only, and is spelled almost like "web"`, scenarios.Record{}},
		{"a range", "affected: '=>1.27.1'\n", `is written as no range of releases is ("=>")`, scenarios.Record{}},
		{"a zero of a range", "affected: '>=v1.00.0'\n", `is written as no range of releases is`, scenarios.Record{}},
		{"four numbers", "affected: '>=v1.0.0.0'\n", `is written as no range of releases is`, scenarios.Record{}},
		{"ranges", "affected: '>=v1.0.0, <v1.7.0 || 2.x'\nfixed: '>=v1.7.0'\n", "", scenarios.Record{Affected: ">=v1.0.0, <v1.7.0", Fixed: ">=v1.7.0"}},
		{"ranges that overlap", "affected: ''\nfixed: ''\n", "affected and fixed both have v1.6.0", scenarios.Record{Affected: ">=v1.0.0, <v1.7.0", Fixed: ">=v1.6.0"}},
		{"an end before the beginning", "affected: '<1.28.0 || >=1.30.0, <1.3.30'\n", `">=1.30.0, <1.3.30" has no release`, scenarios.Record{}},
		{"a release that is left out", "fixed: '>v1.7.0'\n", "did you mean >=v1.7.0?", scenarios.Record{}},
		{"two numbers", "fixed: '>=v113.0'\n", "names v113.0", scenarios.Record{Autoscaler: "karpenter"}},
		{"a point elsewhere", "fixed: '>=v1.3.40'\n", "a point in another place", scenarios.Record{Autoscaler: "karpenter"}},
		{"releases of another failure", "known: []\n", "is written as no range", scenarios.Record{Known: []scenarios.Known{{Releases: "=>1.0.0"}}}},
		{"a statement", "breaks: []\n", `no invariant of the record or its folder has the statement "no tow at once", did you mean "no two at once"?`,
			scenarios.Record{Breaks: []string{"no tow at once"}, Invariants: []checker.Statement{{Statement: "no two at once"}}}},
		{"statements", "breaks: []\n", "", scenarios.Record{Breaks: []string{"no-race", "no two at once"}, Invariants: []checker.Statement{{Statement: "no two at once"}}}},
		{"a word of a log", "symptom: {happens: {detail: {message: found provisionalbe pods}}}\n", `"provisionalbe" of "found provisionalbe pods" stands there only, and is spelled almost like "provisionable"`, scenarios.Record{}},
		{"a word of a log that people read", "notes: it says provisionalbe\nsymptom: {happens: {detail: {message: found provisionalbe pods}}}\n", "", scenarios.Record{}},
		{"a word of a log twice", "symptom: {happens: {detail: {message: found provisionalbe pods}}}\ntrigger: {happens: {detail: {message: no provisionalbe pods}}}\n", "", scenarios.Record{}},
		{"a word of a log and of people", "summary: none is disrupted\nsymptom: {happens: {detail: {message: they are disurpted now}}}\n", `almost like "disrupted"`, scenarios.Record{}},
		{"another word of a log", "symptom: {happens: {detail: {message: some snapshot failed}}}\n", "", scenarios.Record{}},
		{"another resource", "trigger: {sequence: [{match: {resource: daemnsets}}]}\n", `"daemnsets" stands there only`, scenarios.Record{}},
		{"the group of a resource", "trigger: {sequence: [{match: {resource: machines.clustter.x-k8s.io}}]}\n", `"clustter.x-k8s.io" stands there only`, scenarios.Record{}},
		{"a step", "trigger: {sequence: [{match: {detail: {text: {contains: a nod}}}}]}\n", "", scenarios.Record{}},
		{"a step that is not there", "trigger: {sequence: [{match: {detail: {text: {contains: a ndoe}}}}]}\n", `no step of the scenario has the text "a ndoe"`, scenarios.Record{}},
		{"a release of long ago", "fixed: '>=v1.4.0'\n", "is a digit missing?", scenarios.Record{Autoscaler: "aws-ccm"}},
		{"one side", "targets: []\n", "no target is expected to be healthy", scenarios.Record{Targets: both[:1]}},
		{"the other side", "targets: []\n", "no target is expected to show", scenarios.Record{Targets: both[1:]}},
		{"both sides", "targets: []\n", "", scenarios.Record{Targets: both}},
		{"an open failure", "targets: []\n", "", scenarios.Record{Targets: both[:1], Fixed: "none"}},
		{"a control", "targets: []\n", "", scenarios.Record{Targets: both[1:], Affected: "none"}},
		{"malformed YAML", "{: [", "", scenarios.Record{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			said := ""
			for _, p := range slips.OfRecord(known, test.record, []byte(test.text), scenario) {
				said += p.Err.Error() + "\n"
			}
			if (said == "") != (test.want == "") || !strings.Contains(said, test.want) {
				t.Errorf("it says %q, want %q", said, test.want)
			}
		})
	}
}
