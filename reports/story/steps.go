package story

import (
	"encoding/json"
	"time"

	"nodestorm/reports/wording"
	"nodestorm/sim/history"
)

// Step is a step of the scenario, as it was run.
type Step struct {
	// Keyword is Given, When or Then, or empty.
	Keyword, Text string
	// Status is as godog has it: passed, failed, skipped, undefined, pending,
	// ambiguous. Error is why it failed.
	Status, Error string
	From, To      time.Duration // virtual
}

// Steps are the scenario's, in the order they were run. Their texts have nothing
// that does not print.
func (s *Story) Steps() []Step {
	var steps []Step
	since := time.Duration(0)
	for _, e := range s.Events {
		if s.Kinds[e.Kind].Source != string(history.Step) {
			continue
		}
		var detail struct{ Kind, Text, Error string }
		_ = json.Unmarshal([]byte(s.Details[e.Detail]), &detail) // without a detail, a step without a text
		steps = append(steps, Step{
			Keyword: history.Role(detail.Kind).Keyword(), Text: wording.Clean(detail.Text), Status: s.Kinds[e.Kind].Verb,
			Error: wording.Clean(detail.Error),
			From:  min(since, e.Virtual), To: e.Virtual,
		})
		since = e.Virtual
	}
	return steps
}
