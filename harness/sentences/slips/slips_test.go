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
	for _, step := range document.Feature.Children[0].Scenario.Steps {
		of := &messages.PickleStep{Text: step.Text, Argument: &messages.PickleStepArgument{}}
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
		{"malformed YAML", "Given these objects:\n\"\"\"\n{: [\n\"\"\"\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var said []string
			for _, p := range slips.Find(steps(t, test.text)) {
				said = append(said, p.Err.Error())
			}
			if all := strings.Join(said, "\n"); (all == "") != (test.want == "") || !strings.Contains(all, test.want) {
				t.Errorf("it says %q, want %q", all, test.want)
			}
		})
	}
}
