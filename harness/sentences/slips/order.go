package slips

import (
	"errors"
	"slices"
	"strings"

	messages "github.com/cucumber/messages/go/v21"
	"go.yaml.in/yaml/v3"
)

// stated is what is looked at of a statement below a step.
type stated struct {
	Never      any  `yaml:"never"`
	NoSequence any  `yaml:"noSequence"`
	Count      any  `yaml:"count"`
	AtLeast    int  `yaml:"atLeast"`
	AtMost     *int `yaml:"atMost"`
	Until      any  `yaml:"until"`
}

var (
	errUnseen = errors.New("nothing looks at what comes of it: all Thens stand before it. A Then after it says what ought to hold")
	errAtOnce = errors.New("it is judged at once, when nothing can have come of the step before it, so it holds whatever a target does: " +
		"put a Then that waits before it, or say \"this holds for DURATION\", or \"When the scenario waits for DURATION\"")
)

// ofOrder finds steps that are without effect where they stand.
func ofOrder(steps []*messages.PickleStep) (wrong []Problem) {
	last := -1
	for i, step := range steps {
		if step.Type == messages.PickleStepType_OUTCOME {
			last = i
		}
	}
	for i, step := range steps {
		switch {
		// mutant: a When may stand after all Thens
		case last >= 0 && i > last && step.Type == messages.PickleStepType_ACTION:
			wrong = append(wrong, Problem{i, errUnseen})
		// mutant: what has not happened yet holds
		case i > 0 && step.Type == messages.PickleStepType_OUTCOME && acts(steps[i-1]) && forbids(step):
			wrong = append(wrong, Problem{i, errAtOnce})
		}
	}
	return wrong
}

// waiting is in what steps say that wait for something or for a while.
var waiting = []string{" waits ", " once ", " has ", " until ", " within ", " for ", "this has been recorded"}

// acts reports whether a step begins something and does not wait.
func acts(step *messages.PickleStep) bool {
	return step.Type == messages.PickleStepType_ACTION && !slices.ContainsFunc(waiting, func(words string) bool {
		return strings.Contains(step.Text, words)
	})
}

// forbids reports whether a step only says that something has not happened by then.
func forbids(step *messages.PickleStep) bool {
	if step.Text != "this holds:" || step.Argument == nil || step.Argument.DocString == nil {
		return false
	}
	var s stated
	if yaml.Unmarshal([]byte(step.Argument.DocString.Content), &s) != nil {
		return false
	}
	return s.Until == nil && (s.Never != nil || s.NoSequence != nil || s.Count != nil && s.AtLeast == 0 && s.AtMost != nil)
}
