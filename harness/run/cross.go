package run

import (
	"context"
	"slices"
	"strings"

	"nodestorm/harness/run/verdict"
	"nodestorm/scenarios"
	"nodestorm/sim/history/checker"
)

// Foreign is what was found of another scenario's symptom in a run.
type Foreign struct {
	// ID is the scenario of the symptom.
	ID      string
	Finding checker.Finding
}

// Cross looks in a stored run for the symptoms of all other scenarios. It returns
// those that are there though the run is healthy, or its scenario none of their
// record's kin: they are too loose, or the run fails in another way than its own
// record says. Those on which the search gave up are returned as well; none if ctx ends.
func (r Rechecked) Cross(ctx context.Context, catalogue *scenarios.Catalogue) []Foreign {
	var foreign []Foreign
	prepared := checker.Prepare(slices.Collect(r.Events.Timed()))
	for _, record := range catalogue.Records() {
		kin := slices.Contains(record.Kin, r.Run.ID) && r.Now.Verdict != verdict.Healthy
		if ctx.Err() != nil {
			return nil
		}
		if record.ID == r.Run.ID || kin {
			continue
		}
		if found := prepared.Find(record.Symptom); found.Result == checker.Valid || found.GaveUp {
			foreign = append(foreign, Foreign{record.ID, found})
		}
	}
	return foreign
}

// Likeness says which other records' symptoms a failed run shows, or "": it fails as their failures do. Records of other
// programs, and symptoms on which the search gave up, say nothing.
func (r Rechecked) Likeness(ctx context.Context, catalogue *scenarios.Catalogue) string {
	if r.Now.Verdict != verdict.Failed {
		return ""
	}
	var ids []string
	prepared := checker.Prepare(slices.Collect(r.Events.Timed()))
	for _, record := range catalogue.Records() {
		if ctx.Err() != nil {
			return ""
		}
		// mutant: a run that fails in another record's way does not name it
		if record.ID != r.Run.ID && record.Autoscaler == r.Run.Target.Name && prepared.Find(record.Symptom).Result == checker.Valid {
			ids = append(ids, record.ID)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return "it shows the failure of " + strings.Join(ids, ", ")
}
