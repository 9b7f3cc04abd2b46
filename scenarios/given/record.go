package given

import (
	"fmt"
	"regexp"
	"strconv"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/scenarios"
	"nodestorm/sim/history/checker"
)

// AddSteps adds the names of what a scenario's steps make: those of its Givens and Whens. read is the text of a file beside
// its feature, empty if there is none.
func (n *Names) AddSteps(steps []*messages.PickleStep, read func(file string) []byte) {
	for _, step := range steps {
		if step.Type == messages.PickleStepType_OUTCOME {
			continue
		}
		quoted := ""
		if of := step.Argument; of != nil && of.DocString != nil {
			quoted = of.DocString.Content
		}
		if of := step.Argument; of != nil && of.DataTable != nil {
			for _, row := range of.DataTable.Rows {
				for _, cell := range row.Cells {
					quoted += "\nname: " + cell.Value
				}
			}
		}
		if file, is := scenarios.FileOf(step.Text); is {
			quoted = string(read(file))
		}
		n.AddStep(step.Text, quoted+simulated(step.Text))
	}
}

var someNodes = regexp.MustCompile(`^(\d+) simulated nodes?$`)

// mostNamed is how many of the nodes that a step counts have names here. Further ones are in no Then that people write.
const mostNamed = 1000

// simulated are the names of the nodes that a step counts, as if it quoted them.
func simulated(step string) (names string) {
	if of := someNodes.FindStringSubmatch(step); of != nil {
		count, _ := strconv.Atoi(of[1])
		for i := range min(count, mostNamed) {
			names += fmt.Sprintf("\nname: node-%d", i+1)
		}
	}
	return names
}

// CheckRecord finds what the record's statements name that its scenario does not make, see [Names.Check].
func (n *Names) CheckRecord(r *scenarios.Record) error {
	if r.Bare() {
		return nil
	}
	type named struct {
		name string
		*checker.Statement
	}
	all := []named{
		{"trigger", &r.Trigger}, {"work", &checker.Statement{Happens: &r.Work.Pattern}}, {"symptom", &r.Symptom},
	}
	if r.Elsewhere != nil {
		all = append(all, named{"elsewhere", r.Elsewhere})
	}
	for i := range r.Invariants {
		all = append(all, named{fmt.Sprintf("invariants[%d]", i), &r.Invariants[i]})
	}
	for _, of := range all {
		if err := n.Check(of.Statement); err != nil {
			return fmt.Errorf("%s: %w", of.name, err)
		}
	}
	return nil
}
