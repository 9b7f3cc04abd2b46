package sentences

import (
	"context"
	"slices"

	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
)

// guard judges the invariants as records arrive, until the world ends, and notes in the
// history when one is broken. The verdict is made of the whole history, by recheck as well.
func (s *scenario) guard(ctx context.Context) {
	if len(s.rig.Invariants) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	over := make(chan struct{})
	go func() {
		defer close(over)
		open := guards(s.rig.Invariants)
		_, _ = s.world.History().WaitAfter(ctx, 0, func(r history.Record) bool { // it ends with the world
			for _, broken := range open.take(r) {
				s.broken.Store(true)
				s.world.History().Record(history.Broken(broken.Statement, broken.Reason))
			}
			return len(open) == 0
		})
	}()
	s.world.OnStop(func() error {
		cancel()
		<-over
		return nil
	})
}

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
func (g *guarded) take(r history.Record) (broken []checker.Finding) {
	*g = slices.DeleteFunc(*g, func(one guardedOne) bool {
		f, decided := one.monitor.Take(r, true)
		if decided && one.Breaks(f) {
			broken = append(broken, f)
		}
		return decided
	})
	return broken
}
