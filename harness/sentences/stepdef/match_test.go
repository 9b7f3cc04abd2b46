package stepdef

import (
	"strings"
	"testing"
	"testing/fstest"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/sentences/stepdef/stepdeftest"
)

// What a step quotes, or the file that it names has, is what is stated.
func TestQuotedIsStated(t *testing.T) {
	const text = "never: {source: apo}"
	files := fstest.MapFS{"s.yaml": {Data: []byte(text)}}
	for _, step := range []*messages.PickleStep{
		stepdeftest.Step(messages.PickleStepType_OUTCOME, "this holds:", text),
		stepdeftest.Step(messages.PickleStepType_OUTCOME, "this holds within 5m:", text),
		stepdeftest.Step(messages.PickleStepType_OUTCOME, `this holds from the file "s.yaml"`, ""),
		stepdeftest.Step(messages.PickleStepType_OUTCOME, `this holds within 5m from the file "s.yaml"`, ""),
	} {
		m, err := Find(step, files)
		if err != nil || m.Args.Quoted != text {
			t.Fatalf("%s quotes %q (%v)", step.Text, m.Args.Quoted, err)
		}
		if _, err := m.Definition.Observes.Observation(m.Args); err == nil || !strings.Contains(err.Error(), `unknown source "apo"`) {
			t.Errorf("%s: %v", step.Text, err)
		}
	}
}
