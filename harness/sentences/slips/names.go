package slips

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	messages "github.com/cucumber/messages/go/v21"
	"go.yaml.in/yaml/v3"

	"nodestorm/scenarios"
	"nodestorm/sim/history/vocabulary"
	"nodestorm/sim/strict"
)

var (
	// kindAndName is what steps call an object.
	kindAndName = regexp.MustCompile(`"([A-Z][A-Za-z0-9]+)/([^"\n]+)"`)
	// inNames are the words that a scenario has, and parts of names.
	inNames = regexp.MustCompile(`[a-z0-9]+(?:[-.][a-z0-9]+)*`)
)

// brought are the kinds of which nothing is there that no step brings.
var brought = []string{"Deployment", "StatefulSet", "ReplicaSet", "NodePool", "EC2NodeClass", "PodDisruptionBudget", "Pod", "Job"}

// ofNames finds objects of kinds that there are not, and objects that no step before brings.
func ofNames(steps []*messages.PickleStep) (wrong []Problem) {
	kinds := slices.Clone(vocabulary.Kinds())
	said, unread := map[string]bool{}, false
	for i, step := range steps {
		for _, m := range kindAndName.FindAllStringSubmatch(step.Text, -1) {
			kind, name := m[1], m[2]
			// mutant: a kind may be almost another
			if near := strict.NearestName(kind, kinds); near != "" {
				wrong = append(wrong, Problem{i, fmt.Errorf("there is no kind %s: did you mean %s?", kind, near)})
			}
			name = name[strings.LastIndex(name, "/")+1:]
			// mutant: a step may be about what no step brings
			if step.Type == messages.PickleStepType_ACTION && !unread && slices.Contains(brought, kind) && plain.MatchString(name) &&
				!said[name] && !said[owner(name)] {
				wrong = append(wrong, Problem{i, fmt.Errorf("no step before brings %s %q", kind, name)})
			}
		}
		if _, is := scenarios.FileOf(step.Text); is { // whatever is in there
			unread = true
		}
		text := step.Text
		if step.Argument != nil && step.Argument.DocString != nil {
			text += " " + step.Argument.DocString.Content
			for n := range documents(step.Argument.DocString.Content) {
				kinds = append(kinds, defined(n)...)
			}
		}
		if step.Argument != nil && step.Argument.DataTable != nil {
			for _, row := range step.Argument.DataTable.Rows {
				for _, cell := range row.Cells {
					text += " " + cell.Value
				}
			}
		}
		for _, word := range inNames.FindAllString(text, -1) {
			said[word] = true
		}
	}
	return wrong
}

// owner is the name of the StatefulSet that a pod with a number is of.
func owner(pod string) string { return pod[:max(0, strings.LastIndex(pod, "-"))] }

// defined are the kinds that an object defines.
func defined(n *yaml.Node) []string {
	var definition struct {
		Spec struct {
			Names struct {
				Kind string `yaml:"kind"`
			} `yaml:"names"`
		} `yaml:"spec"`
	}
	if n.Decode(&definition) != nil || definition.Spec.Names.Kind == "" {
		return nil
	}
	return []string{definition.Spec.Names.Kind}
}
