package validation

import (
	"strings"
	"testing"
	"testing/fstest"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/sentences/stepdef/stepdeftest"
)

const budget = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec: {maxUnavailable: 0}\n"

// What a step quotes is looked at before anything starts. An empty want is right.
func TestQuoted(t *testing.T) {
	const given, when = messages.PickleStepType_CONTEXT, messages.PickleStepType_ACTION
	crd := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\nspec: {group: example.com, scope: Cluster, names: {kind: Thing, plural: things}, versions: []}\n"
	thing := "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\n"
	pool := "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\n"
	files := fstest.MapFS{"budget.yaml": {Data: []byte(budget)}, "patch.yaml": {Data: []byte("spec: {maxUnavailable: 1}")}}
	step := func(role messages.PickleStepType, text, quoted string) []*messages.PickleStep {
		return []*messages.PickleStep{stepdeftest.Step(role, text, quoted)}
	}
	for _, test := range []struct {
		steps []*messages.PickleStep
		want  string
	}{
		{step(given, "these objects:", budget), ""},
		{step(given, "these objects with their status:", budget), ""},
		{step(given, `these objects from the file "budget.yaml"`, ""), ""},
		{step(given, `these objects from the file "none.yaml"`, ""), `the file "none.yaml" beside the feature: `},
		{step(given, "these objects:", ""), "want the text below the step"},
		{step(given, "these objects:", strings.ReplaceAll(budget, "maxUn", "maxun")), `unknown field "spec.maxunavailable"`},
		{step(given, "these objects:", thing), "no kind Thing of example.com/v1 yet: put its CustomResourceDefinition before it"},
		{step(given, "these objects:", thing+"---\n"+crd), ""},
		{append(step(given, "these objects:", crd), stepdeftest.Step(when, "these objects are created:", thing)), ""},
		{step(given, "these objects:", pool), `say "Given Karpenter" before`},
		{append(step(given, "Karpenter", ""), stepdeftest.Step(given, "these objects:", pool)), ""},
		{append(step(given, "Karpenter", ""), stepdeftest.Step(given, "these objects:",
			"apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\n")), "want kind KWOKNodeClass"},
		{step(when, "these objects are created:", budget), ""},
		{step(when, "these objects are created:", strings.ReplaceAll(budget, "maxUnavailable: 0", "maxUnavailable: [1]")), "cannot unmarshal"},
		{step(when, "the API server is asked to create these objects:", strings.ReplaceAll(budget, "maxUnavailable: 0", "maxUnavailable: [1]")), ""},
		{step(when, "the API server is asked to apply these objects:", strings.ReplaceAll(budget, "maxUn", "maxun")), `unknown field "spec.maxunavailable"`},
		{step(when, "the API server is asked to create these objects:", thing), "no kind Thing of example.com/v1 yet"},
		{step(when, `the API server is asked to patch "PodDisruptionBudget/web" with:`, "3"), "it is no patch"},
		{step(when, `these objects from the file "budget.yaml" are applied`, ""), ""},
		{step(when, `these objects are created once "karpenter" has sent "create" of "nodeclaims":`, budget), ""},
		{step(when, `these objects are created once "karpenter" has sent "creates" of "nodeclaims":`, budget), `unknown verb "creates"`},
		{step(when, `"PodDisruptionBudget/web" is deleted`, ""), ""},
		{step(when, `"PodDisruptionBudget/web" is deleted once a client has recorded "ready" of "nodes"`, ""), "say which source"},
		{step(when, `"PodDisruptionBudget/web" is deleted once "cloud" has ever recorded "running" of "instances" "a" 2 times`, ""), ""},
		{step(when, `"PodDisruptionBudget/web" is deleted once "clout" has recorded "running" of "instances"`, ""), `unknown source "clout"`},
		{step(when, `"PodDisruptionBudget/web" is deleted once the cloud is there`, ""), `"the cloud is there" is no event to wait for`},
		{step(when, `these objects are created once this is recorded:`, budget),
			`a step quotes one text, and "these objects are created:" has its own: say "When this is recorded:" with the event before it`},
		{append(step(when, "this is recorded:", "{source: api, verb: delete, resource: nodes}"), stepdeftest.Step(when, `these objects are created:`,
			budget)), ""},
		{step(when, `these objects from the file "budget.yaml" are applied once this is recorded:`,
			"{source: api, verb: delete, resource: nodes}"), ""},
		{step(when, `"PodDisruptionBudget/web" is deleted once this is recorded`, ""), `which ends with a colon then: "once this is recorded:"`},
		{step(when, `"PodDisruptionBudget/web" is deleted once this is recorded:`,
			"{source: api, verb: delete, resource: nodes, count: 2, within: 5m}"), ""},
		{step(when, `"PodDisruptionBudget/web" is deleted once this is recorded:`, "{source: api, verb: delete, kind: nodes}"),
			`unknown field "kind"`},
		{step(when, "the target is killed", ""), "the target does not run yet"},
		{append(step(given, "Karpenter", ""), stepdeftest.Step(when, `the target is restarted once "karpenter" has sent "create" of "nodeclaims"`, "")), ""},
		{step(when, `"PodDisruptonBudget/web" is deleted`, ""), `did you mean "PodDisruptionBudget"?`},
		{step(when, `"Node/$name" is deleted`, ""), "$name stands for the name in a record"},
		{step(when, `the simulated node "$name" is NotReady, for 1m`, ""), "$name stands for the name in a record"},
		{append(step(given, `Karpenter has initialized a Node, and 2m have passed since the first NodeClaim was created`, ""),
			stepdeftest.Step(when, `the simulated node "$name" is NotReady, for 1m`, "")), ""},
		{step(when, `"Node/$name" is deleted once "karpenter" has sent "create" of "nodes"`, ""), ""},
		{append(step(when, `"karpenter" has sent "create" of "nodes"`, ""), stepdeftest.Step(when, `"Node/$name" is deleted`, "")), ""},
		{step(when, `"pdb/web" is patched with:`, "spec: {maxUnavailable: 1}"), ""},
		{step(when, `"pdb/web" is patched with:`, "1"), "it is no patch"},
		{step(when, `"pdb/web" is patched from the file "patch.yaml"`, ""), ""},
		{step(when, `"Deployment/shop/web" is scaled to 3`, ""), ""},
		{step(when, `"Deployment/web" is labelled "a=b c"`, ""), "a valid label"},
		{step(when, `"Deployment/web" is annotated "a=b c"`, ""), ""},
		{step(when, `a pod "web" that requests 1 CPU is created once "node" has recorded "ready" of "nodes"`, ""), ""},
	} {
		steps := append([]*messages.PickleStep{stepdeftest.Step(given, "a cluster", "")}, test.steps...)
		err := Steps(steps, files)
		if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v, want %q", test.steps[len(test.steps)-1].Text, err, test.want)
		}
	}
}

func tableOf(rows ...string) *messages.PickleStepArgument {
	table := &messages.PickleTable{}
	for _, row := range rows {
		r := &messages.PickleTableRow{}
		for cell := range strings.SplitSeq(row, "|") {
			r.Cells = append(r.Cells, &messages.PickleTableCell{Value: cell})
		}
		table.Rows = append(table.Rows, r)
	}
	return &messages.PickleStepArgument{DataTable: table}
}

func TestSettings(t *testing.T) {
	for _, test := range []struct {
		text string
		rows []string
		want string
	}{
		{"Cluster Autoscaler with the flags:", []string{"flag|value", "--scan-interval|20s", "nodes|1:2:cx22:fsn1:a",
			"--nodes|1:2:cx22:fsn1:b"}, ""},
		{"Cluster Autoscaler with the flags:", nil, "want a table"},
		{"Cluster Autoscaler with the flags:", []string{"flag|value"}, "the table has no flag"},
		{"Cluster Autoscaler with the flags:", []string{"--scan-interval"}, "row 1 has 1 cells"},
		{"Cluster Autoscaler with the flags:", []string{"--scan interval|1"}, "is no flag"},
		{"Cluster Autoscaler with these flags, whether it knows them or not:", []string{"--leader-elect|false"}, ""},
		{"Cluster Autoscaler with these flags, whether it knows them or not:", []string{"--leader elect|false"}, "is no flag"},
		{"a cluster whose API server also serves \"resource.k8s.io\"", nil, "is no version of an API group"},
		{"a cluster with the admission plugin \"OwnerReferences\"", nil, "is no admission plugin that can be switched on; want one of AlwaysPullImages"},
		{"Karpenter with the flags:", []string{"--batch-max-duration|20s"}, ""},
		{"the target has the environment variables:", []string{"CAPI_GROUP|x"}, ""},
		{"the target has the environment variables:", []string{"CAPI-GROUP|x"}, "is no environment variable"},
		{"the target has the environment variables:", []string{"A|x", "A|y"}, "A is there twice"},
	} {
		step := stepdeftest.Step(messages.PickleStepType_CONTEXT, test.text, "")
		if test.rows != nil {
			step.Argument = tableOf(test.rows...)
		}
		err := Steps([]*messages.PickleStep{stepdeftest.Step(messages.PickleStepType_CONTEXT, "a cluster", ""), step}, nil)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %v: %v, want %q", test.text, test.rows, err, test.want)
		}
	}
}
