package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
)

// supply gets what replays need and the store lacks, beside them and in the order in which
// they need it: out of registries what those have, and the rest is built, one at a time and
// yielding to all else.
type supply struct {
	*env
	status *status // that of the replays, whose line it has while none is under way
	cancel context.CancelFunc
	ended  sync.WaitGroup

	mu      sync.Mutex
	left    []builds.Ref
	cannot  map[builds.Ref]error // what is not to be had
	failed  error                // ends the command
	skipped map[int]bool         // jobs that were told to be
	news    string
	resting bool          // no replay is under way
	changed chan struct{} // closed at the next change
}

// toBuild is what no registry has, and how it is built.
type toBuild struct {
	ref    builds.Ref
	recipe buildstore.Recipe
}

// newSupply begins to get the targets. The caller ends it.
func (e *env) newSupply(ctx context.Context, status *status, todo []builds.Ref) *supply {
	s := &supply{env: e, status: status, left: slices.Clone(todo), cannot: map[builds.Ref]error{}, skipped: map[int]bool{}, resting: true, changed: make(chan struct{})}
	ctx, s.cancel = context.WithCancel(ctx)
	queued := make(chan toBuild, len(todo))
	s.ended.Go(func() {
		defer close(queued)
		for _, ref := range todo {
			if recipe := s.pull(ctx, ref); recipe != nil {
				queued <- toBuild{ref, *recipe}
			}
		}
	})
	s.ended.Go(func() {
		yielding := *e.store
		yielding.Yields = true
		for next := range queued {
			if ctx.Err() != nil {
				return
			}
			_, err := built(ctx, &yielding, next.recipe, s.teller())
			s.settle(next.ref, nil, err)
		}
	})
	return s
}

// end ends what is under way.
func (s *supply) end() {
	s.cancel()
	s.ended.Wait()
}

// pull gets one out of a registry, or returns how to build it.
func (s *supply) pull(ctx context.Context, ref builds.Ref) *buildstore.Recipe {
	if _, err := s.found(ref); err == nil { // what came for another serves it too
		s.settle(ref, nil, nil)
		return nil
	}
	offer, err := s.offered(ctx, ref)
	if err == nil && offer != nil {
		if _, err = s.store.Take(ctx, offer, s.teller()); err == nil {
			s.settle(ref, nil, nil)
			return nil
		}
	}
	recipe, unknown := buildstore.Known(ref)
	switch {
	case err != nil && errors.As(err, new(*buildstore.MovedError)), ctx.Err() != nil:
		s.settle(ref, nil, err)
		return nil
	case unknown == nil:
		if err != nil {
			s.remark("%v; it is built instead", err)
		}
		return &recipe
	case err == nil:
		err = s.unobtainable(ref, unknown)
	}
	if ref == builds.Kubernetes { // nothing can be played without
		s.settle(ref, nil, err)
		return nil
	}
	s.settle(ref, err, nil)
	return nil
}

// settle notes that a target is there, or is not to be had, or that an error ends all.
func (s *supply) settle(ref builds.Ref, cannot, failed error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = slices.DeleteFunc(s.left, func(other builds.Ref) bool { return other == ref })
	if cannot != nil {
		s.cannot[ref] = cannot
	}
	if failed != nil && s.failed == nil {
		s.failed = failed
		s.cancel()
	}
	s.news = ""
	close(s.changed)
	s.changed = make(chan struct{})
}

// now is how far it is: what is left to get, what is not to be had, and what is closed when that
// is otherwise; or what has failed.
func (s *supply) now() (left []builds.Ref, cannot map[builds.Ref]error, changed <-chan struct{}, failed error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.left), maps.Clone(s.cannot), s.changed, s.failed
}

// rest says whether no replay is under way, whose line this one's news would disturb.
func (s *supply) rest(resting bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resting = resting
}

// teller is a line for the news of one.
func (s *supply) teller() buildstore.Progress {
	line := s.newStatus()
	return func(u buildstore.Update) { s.tellOn(line, u) }
}

// tellOn shows it on a line of its own where lines follow each other, and on a terminal beside
// what a replay does.
func (s *supply) tellOn(line *status, u buildstore.Update) {
	text := progressOf(u)
	s.mu.Lock()
	if n := len(s.left); n > 1 {
		text += fmt.Sprintf("; %d more to get", n-1)
	}
	s.news = text
	resting := s.resting
	s.mu.Unlock() // a status asks us what to show besides
	if s.status.terminal == nil {
		line.about("supply "+u.Ref.String()+string(u.Stage), text, u.Package)
	} else if resting {
		s.status.alone(text)
	}
}

// beside is what is got meanwhile, for a replay's line; empty when all is there.
func (s *supply) beside() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.left) == 0 {
		return ""
	}
	if s.news == "" {
		return "meanwhile: " + s.left[0].String()
	}
	return "meanwhile: " + s.news
}
