package scenarios

import (
	"errors"
	"fmt"

	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
)

// Work is what a target must have done at least, as records of the history: a program
// that answers every health check and does nothing is not healthy.
type Work struct {
	// Count is how many events must match, one or more. Required.
	Count int `json:"count"`
	// Since is "start" to count from the beginning of the run. Without it, events count from the end of the last When, or from
	// the beginning if the scenario has no When.
	Since string `json:"since,omitempty"`
	// Pattern has a source other than log: what a program says of itself is no work.
	checker.Pattern
}

const start = "start"

func (w *Work) check() error {
	switch {
	case w.Source == nil && w.Count == 0:
		return errors.New("it is missing: write a pattern of what the target must have done and how often, for example" +
			" {source: api, verb: update, resource: configmaps, name: cluster-autoscaler-status, actor: cluster-autoscaler, count: 3}")
	case w.Count < 1:
		return fmt.Errorf("count: %d, want 1 or more", w.Count)
	case w.Since != "" && w.Since != start:
		return fmt.Errorf("since: unknown value %q (allowed: %s, or nothing for the last When)", w.Since, start)
	case w.Actor == nil:
		return errors.New("actor is missing: name whose work it is")
	}
	if err := w.Pattern.Check(); err != nil {
		return err
	}
	for _, source := range []history.Source{history.Logged, history.Step, history.Fault, history.Clock} {
		if w.Pattern.Covers(source) {
			return fmt.Errorf("source: %s shows no work (allowed: %s, %s, %s, %s); of a target that rightly leaves all as it is, ask for the"+
				" event that it writes to the cluster (resource: events), or for what it did before (since: start)", source,
				history.API, history.Cloud, history.Node, history.Harness)
		}
	}
	return nil
}

// FromStart reports whether records count from the beginning of the run.
func (w *Work) FromStart() bool { return w.Since == start }
