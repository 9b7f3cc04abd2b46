// Package stepdeftest makes steps for the tests of packages that match them.
package stepdeftest

import messages "github.com/cucumber/messages/go/v21"

// Step is a step of a scenario with a text below it, or without one if that is empty.
func Step(kind messages.PickleStepType, text, below string) *messages.PickleStep {
	step := &messages.PickleStep{Type: kind, Text: text}
	if below != "" {
		step.Argument = &messages.PickleStepArgument{DocString: &messages.PickleDocString{Content: below}}
	}
	return step
}
