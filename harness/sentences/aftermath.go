package sentences

import (
	"context"
	"slices"
	"time"

	"nodestorm/harness/sentences/scene"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
)

// awaitSymptom lets the world go on until the documented symptom is in the history, or
// for as long as its parts may take: a Then can fail before the last of them.
func awaitSymptom(ctx context.Context, s *scene.Scene) {
	s.Rig.Step("the rest of the symptom")
	over := s.World.Clock().Now().Add(s.Rig.Symptom.Span())
	for {
		records := s.World.History().Since(0)
		if shows(records, s.World.Clock().Since(s.World.History().Start()), s.Rig.Symptom) {
			return
		}
		left := over.Sub(s.World.Clock().Now())
		if _, err := s.Within(ctx, left, records[len(records)-1].Seq, func(history.Record) bool { return true }); err != nil {
			return
		}
	}
}

// shows reports whether the symptom would be in the history if it ended now.
func shows(records []history.Record, now time.Duration, symptom checker.Statement) bool {
	records = append(slices.Clone(records), history.Record{
		Seq: records[len(records)-1].Seq + 1, Virtual: now, Event: history.Event{Source: history.Harness, Verb: history.Ended},
	})
	history.Sort(records)
	return checker.Find(records, symptom).Result == checker.Valid
}
