package slips_test

import (
	"strings"
	"testing"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/sentences/slips"
	"nodestorm/scenarios"
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
		{"a flag", "Given it has\n| --max-node-provision-tme | 3m |\n", "spelled almost like the flag --max-node-provision-time"},
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
		{"malformed YAML", "Given these objects:\n\"\"\"\n{: [\n\"\"\"\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var said []string
			for _, p := range slips.Find(steps(t, test.text), []string{"--max-node-provision-time"}) {
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
		{"one side", "targets: []\n", "no target is expected to be healthy", scenarios.Record{Targets: both[:1]}},
		{"the other side", "targets: []\n", "no target is expected to show", scenarios.Record{Targets: both[1:]}},
		{"both sides", "targets: []\n", "", scenarios.Record{Targets: both}},
		{"an open failure", "targets: []\n", "", scenarios.Record{Targets: both[:1], Fixed: "none"}},
		{"a control", "targets: []\n", "", scenarios.Record{Targets: both[1:], Affected: "none"}},
		{"malformed YAML", "{: [", "", scenarios.Record{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			said := ""
			for _, p := range slips.OfRecord(test.record, []byte(test.text), scenario) {
				said += p.Err.Error() + "\n"
			}
			if (said == "") != (test.want == "") || !strings.Contains(said, test.want) {
				t.Errorf("it says %q, want %q", said, test.want)
			}
		})
	}
}
