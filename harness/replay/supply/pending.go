package supply

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

// Pending gets what replays need and the store lacks, beside them and in the order in which
// they need it: out of registries what those have, and the rest is built, one at a time and
// yielding to all else.
type Pending struct {
	*Supplier
	line   Line // of the replays, for its own news while none is under way
	cancel context.CancelFunc
	ended  sync.WaitGroup

	mu      sync.Mutex
	left    []builds.Ref
	cannot  map[builds.Ref]error // what is not to be had
	failed  error                // ends the command
	news    string
	resting bool          // no replay is under way
	changed chan struct{} // closed at the next change
}

// toBuild is what no registry has, and how it is built.
type toBuild struct {
	ref    builds.Ref
	recipe buildstore.Recipe
}

// Begin begins to get targets beside replays, which are shown on the line. The caller ends it.
func (s *Supplier) Begin(ctx context.Context, line Line, todo []builds.Ref) *Pending {
	p := NewPending(s, line, todo)
	ctx, p.cancel = context.WithCancel(ctx)
	queued := make(chan toBuild, len(todo))
	p.ended.Go(func() {
		defer close(queued)
		for _, ref := range todo {
			if recipe := p.pull(ctx, ref); recipe != nil {
				queued <- toBuild{ref, *recipe}
			}
		}
	})
	p.ended.Go(func() {
		yielding := *s.Store
		yielding.Yields = true
		for next := range queued {
			if ctx.Err() != nil {
				return
			}
			_, err := build(ctx, &yielding, next.recipe, p.progress())
			p.Settle(next.ref, nil, err)
		}
	})
	return p
}

// NewPending is a Pending that gets nothing by itself: what becomes of the targets is settled by
// the caller.
func NewPending(s *Supplier, line Line, todo []builds.Ref) *Pending {
	return &Pending{
		Supplier: s, line: line, cancel: func() {}, resting: true,
		left: slices.Clone(todo), cannot: map[builds.Ref]error{}, changed: make(chan struct{}),
	}
}

// Stop ends what is under way.
func (p *Pending) Stop() {
	p.cancel()
	p.ended.Wait()
}

// pull gets one out of a registry, or returns how to build it.
func (p *Pending) pull(ctx context.Context, ref builds.Ref) *buildstore.Recipe {
	if _, err := p.Find(ref); err == nil { // what came for another serves it too
		p.Settle(ref, nil, nil)
		return nil
	}
	if unsealed := p.Store.Unsealed(ref); unsealed != nil { // no registry has what it lacks
		if recipe, unknown := buildstore.Known(ref); unknown == nil {
			p.Output.Remark("%v", unsealed)
			return &recipe
		}
	}
	offer, err := p.offer(ctx, ref)
	if err == nil && offer != nil {
		if _, err = p.Store.PullOffer(ctx, offer, p.progress()); err == nil {
			p.Settle(ref, nil, nil)
			return nil
		}
	}
	recipe, unknown := buildstore.Known(ref)
	switch {
	case err != nil && errors.As(err, new(*buildstore.MovedError)), ctx.Err() != nil:
		p.Settle(ref, nil, err)
		return nil
	case unknown == nil:
		if err != nil {
			p.Output.Remark("%v; it is built instead", err)
		}
		return &recipe
	case err == nil:
		err = p.unobtainable(ref, unknown)
	}
	if ref == builds.Kubernetes { // nothing can be played without
		p.Settle(ref, nil, err)
		return nil
	}
	p.Settle(ref, err, nil)
	return nil
}

// Settle notes that a target is there, or is not to be had, or that an error ends all.
func (p *Pending) Settle(ref builds.Ref, cannot, failed error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = slices.DeleteFunc(p.left, func(other builds.Ref) bool { return other == ref })
	if cannot != nil {
		p.cannot[ref] = cannot
	}
	if failed != nil && p.failed == nil {
		p.failed = failed
		p.cancel()
	}
	p.news = ""
	close(p.changed)
	p.changed = make(chan struct{})
}

// State is how far a Pending is.
type State struct {
	Left   []builds.Ref         // to get
	Cannot map[builds.Ref]error // what is not to be had, and why
	// Changed is closed when this is otherwise.
	Changed <-chan struct{}
}

// State returns how far it is, or what has failed.
func (p *Pending) State() (State, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return State{slices.Clone(p.left), maps.Clone(p.cannot), p.changed}, p.failed
}

// Resting notes whether no replay is under way, whose line the news would disturb.
func (p *Pending) Resting(resting bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resting = resting
}

// progress shows the news of one target: on a line of its own where lines follow each other, and
// on a terminal beside what a replay does.
func (p *Pending) progress() buildstore.Progress {
	own := p.Output.NewLine()
	return func(u buildstore.Update) {
		text := u.String()
		p.mu.Lock()
		if n := len(p.left); n > 1 {
			text += fmt.Sprintf("; %d more to get", n-1)
		}
		p.news = text
		resting := p.resting
		p.mu.Unlock()
		if !p.line.Changes() {
			own.Show("supply "+u.Ref.String()+string(u.Stage), text, u.Package)
		} else if resting {
			p.line.Show("", text, "")
		}
	}
}

// Text is what is got at this moment, for the line of a replay; empty when all is there.
func (p *Pending) Text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.left) == 0 {
		return ""
	}
	if p.news == "" {
		return "in the background: " + p.left[0].String()
	}
	return "in the background: " + p.news
}
