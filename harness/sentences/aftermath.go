package sentences

import (
	"context"
	"slices"
	"time"

	"nodestorm/harness/sentences/scene"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
	"nodestorm/sim/strict"
)

// unsaid is how long the world goes on for the parts of a symptom that do not say how long they may take, all together.
const unsaid = 10 * time.Minute

// patience is how long a symptom may still take whose first part is there.
func patience(symptom checker.Statement) time.Duration {
	span := symptom.Span()
	for i, e := range symptom.Sequence {
		// mutant: a symptom that does not say how long it may take is not awaited
		if (i > 0 || len(symptom.Sequence) == 1) && e.Within == 0 && e.For == 0 {
			return span + unsaid
		}
	}
	return span
}

// awaitSymptom lets the world go on until the documented symptom is in the history, or
// for as long as its parts may take: a Then can fail before the last of them.
func awaitSymptom(ctx context.Context, s *scene.Scene) {
	span := patience(s.Rig.Symptom)
	if span == 0 { // there is none
		return
	}
	s.Rig.Step("the rest of the symptom, for at most " + strict.Duration(span).Short())
	over := s.World.Clock().Now().Add(span)
	for {
		events := s.World.History().Since(0)
		if shows(events, s.World.Clock().Since(s.World.History().Start()), s.Rig.Symptom) {
			return
		}
		last := events[len(events)-1]
		left, next := over.Sub(s.World.Clock().Now()), last.Virtual+time.Second // to look at all of a long history takes a while
		if _, err := s.Within(ctx, left, last.Seq, func(r history.Entry) bool { return r.Virtual >= next }); err != nil {
			return
		}
	}
}

// shows reports whether the symptom would be in the history if it ended now.
func shows(events []history.Entry, now time.Duration, symptom checker.Statement) bool {
	events = append(slices.Clone(events), history.Entry{
		Seq: events[len(events)-1].Seq + 1, Virtual: now, Event: history.Event{Source: history.Harness, Verb: history.Ended},
	})
	history.Sort(events)
	return checker.Find(events, symptom).Result == checker.Valid
}
