package acts

import (
	"context"
	"errors"

	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/scene"
	"nodestorm/sim/history"
)

// Holds judges an observation live: it waits until it is decided or its window is over.
func Holds(ctx context.Context, s *scene.Scene, o then.Observation) (found error) {
	j := then.NewJudge(o, s.World.History().Since(0))
	for seen := uint64(0); ; {
		at := j.Next()
		wait := s.World.History().Start().Add(at).Sub(s.World.Clock().Now())
		_, err := s.Within(ctx, max(wait, 0), seen, func(r history.Entry) (decided bool) {
			seen = r.Seq
			decided, found = j.Add(r)
			return decided
		})
		if !errors.Is(err, scene.ErrOver) {
			return errors.Join(found, err)
		}
		if decided, err := j.DecideAt(at); decided {
			return err
		}
	}
}
