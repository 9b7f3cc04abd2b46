package acts

import (
	"context"
	"slices"
	"sync/atomic"

	"nodestorm/harness/sentences/scene"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
)

// invariants are those of a scenario; broken says that one is.
type invariants struct{ broken atomic.Bool }

// guard judges the invariants as records arrive, until the world ends, and notes in the
// history when one is broken. The verdict is made of the whole history, by recheck as well.
func guard(ctx context.Context, s *scene.Scene) {
	if len(s.Rig.Invariants) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	over := make(chan struct{})
	go func() {
		defer close(over)
		open := guards(s.Rig.Invariants)
		_, _ = s.World.History().WaitAfter(ctx, 0, func(r history.Entry) bool { // it ends with the world
			for _, broken := range open.take(r) {
				scene.State[invariants](s).broken.Store(true)
				s.World.History().Record(history.Broken(broken.Statement, broken.Reason))
			}
			return len(open) == 0
		})
	}()
	s.World.OnStop(func() error {
		cancel()
		<-over
		return nil
	})
}

// Broken reports whether an invariant is.
func Broken(s *scene.Scene) bool { return scene.State[invariants](s).broken.Load() }

// guarded are invariants that nothing has decided yet.
type guarded []guardedOne

type guardedOne struct {
	*checker.Statement
	monitor *checker.Monitor
}

func guards(list []checker.Statement) (open guarded) {
	for i := range list {
		open = append(open, guardedOne{&list[i], list[i].Monitor()})
	}
	return open
}

// take takes in the next record, and returns what it breaks.
func (g *guarded) take(r history.Entry) (broken []checker.Finding) {
	*g = slices.DeleteFunc(*g, func(one guardedOne) bool {
		f, decided := one.monitor.Add(r, true)
		if decided && one.Breaks(f) {
			broken = append(broken, f)
		}
		return decided
	})
	return broken
}
