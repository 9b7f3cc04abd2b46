package supply

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay"
	"nodestorm/harness/run/exit"
	"nodestorm/reports/wording"
)

// Supplier gets builds. Its methods are safe for concurrent use.
type Supplier struct {
	Store *buildstore.Store
	// Registries are asked for what the store lacks.
	Registries buildstore.Registries
	Output     Output

	registriesGivenUp atomic.Bool // one has given no answer
}

// Find returns what the store has of ref. Of the Kubernetes of worlds they take the kubelet too,
// which is in no image: its official programs are no such build.
func (s *Supplier) Find(ref builds.Ref) (builds.Target, error) {
	t, err := replay.Find(s.Store, ref)
	if err == nil && ref == builds.Kubernetes && t.Lacks("kubelet") {
		return builds.Target{}, &buildstore.NotFoundError{Ref: ref}
	}
	return t, err
}

// Look returns what the store has of targets, and what is missing, each once. It fails if one is
// damaged, or if found, which is called with what is there, does.
func (s *Supplier) Look(
	found func(builds.Target) error, refs ...builds.Ref,
) (have map[builds.Ref]builds.Target, missing []builds.Ref, err error) {
	have = map[builds.Ref]builds.Target{}
	looked := map[builds.Ref]bool{}
	for _, ref := range refs {
		if looked[ref] { // a program and a source folder take a second to look at
			continue
		}
		looked[ref] = true
		t, err := s.Find(ref)
		switch {
		case err == nil:
			have[ref] = t
			if err := found(t); err != nil {
				return nil, nil, err
			}
		case errors.As(err, new(*buildstore.NotFoundError)), errors.As(err, new(*buildstore.StaleError)):
			missing = append(missing, ref)
		default:
			return nil, nil, exit.UsageError(err)
		}
	}
	return have, missing, nil
}

// Refuse is for targets without which nothing can be done, see Ensure.
func Refuse(_ builds.Ref, err error) error { return exit.UsageError(err) }

// todo is what has to be got: as it is offered, or else built.
type todo struct {
	ref    builds.Ref
	offer  *buildstore.Offer
	recipe buildstore.Recipe
}

// Ensure gets targets from the store, and out of registries or by building them those that are
// missing. Nothing is got before it is clear that no other is damaged, and before found was called
// with what is there, and cannot with what is not to be had; an error of theirs ends it.
func (s *Supplier) Ensure(
	ctx context.Context, found func(builds.Target) error, cannot func(builds.Ref, error) error, refs ...builds.Ref,
) (map[builds.Ref]builds.Target, error) {
	have, missing, err := s.Look(found, refs...)
	if err != nil {
		return nil, err
	}
	list, err := s.plan(ctx, missing, cannot)
	if err != nil {
		return nil, err
	}
	s.announce(list)
	for i, next := range list {
		t, err := s.supplyOne(ctx, next, i+1, list[i+1:])
		if err == nil {
			have[next.ref] = t
			continue
		}
		if ctx.Err() != nil {
			return nil, exit.UsageError(err)
		}
		if err := cannot(next.ref, err); err != nil {
			return nil, err
		}
	}
	return have, nil
}

// plan returns how what is missing is got.
func (s *Supplier) plan(ctx context.Context, missing []builds.Ref, cannot func(builds.Ref, error) error) (list []todo, err error) {
	for _, ref := range missing {
		recipe, unknown := buildstore.Known(ref)
		if err := s.Store.Unsealed(ref); err != nil && unknown == nil { // no registry has what it lacks
			s.Output.Remark("%v", err)
			list = append(list, todo{ref, nil, recipe})
			continue
		}
		offer, err := s.offer(ctx, ref)
		if err != nil {
			return nil, exit.UsageError(err)
		}
		if offer == nil && unknown != nil {
			if err := cannot(ref, s.unobtainable(ref, unknown)); err != nil {
				return nil, err
			}
			continue
		}
		list = append(list, todo{ref, offer, recipe})
	}
	return list, nil
}

// announce says what is got, and how long that takes.
func (s *Supplier) announce(list []todo) {
	doing := "building"
	var refs []builds.Ref
	var all time.Duration
	for _, next := range list {
		refs = append(refs, next.ref)
		if next.offer != nil {
			doing = "getting"
		} else {
			all += s.Store.Expected(next.ref)
		}
	}
	switch len(list) {
	case 0:
	case 1:
		s.Output.Remark("%s %s; this is done once", doing, refs[0])
	default:
		s.Output.Remark("%s %s, in about %s: %s; this is done once",
			doing, wording.Counted(len(list), "target"), all.Round(time.Minute), Names(refs))
	}
}

// supplyOne takes the nth of several targets as it is offered, or else builds it.
func (s *Supplier) supplyOne(ctx context.Context, next todo, nth int, after []todo) (builds.Target, error) {
	line := s.Output.NewLine()
	defer line.Clear()
	if next.offer == nil {
		then := ""
		if len(after) > 0 {
			then = "; next: " + after[0].ref.String()
		}
		return build(ctx, s.Store, next.recipe, ShowOn(line, numbered(nth, nth+len(after)), then))
	}
	if t, err := s.Find(next.ref); err == nil { // what came for another serves it too
		return t, nil
	}
	return s.Store.PullOffer(ctx, next.offer, ShowOn(line, "", ""))
}

// Build builds a target.
func (s *Supplier) Build(ctx context.Context, r buildstore.Recipe) (builds.Target, error) {
	line := s.Output.NewLine()
	defer line.Clear()
	return build(ctx, s.Store, r, ShowOn(line, "", ""))
}

// build builds with progress: a program that compiles for long has no news, and is still seen to
// go on.
func build(ctx context.Context, store *buildstore.Store, r buildstore.Recipe, show buildstore.Progress) (builds.Target, error) {
	begun := time.Now()
	var mu sync.Mutex
	var last buildstore.Update
	ticking, stop := context.WithCancel(ctx)
	var ticks sync.WaitGroup
	defer ticks.Wait()
	defer stop()
	ticks.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ticking.Done():
				return
			case <-tick.C:
				mu.Lock()
				if last.Stage != "" {
					last.Elapsed = time.Since(begun)
					show(last)
				}
				mu.Unlock()
			}
		}
	})
	return store.Build(ctx, r, func(u buildstore.Update) {
		mu.Lock()
		defer mu.Unlock()
		last = u
		show(u)
	})
}

// Names lists targets in a sentence.
func Names(refs []builds.Ref) string {
	var names []string
	for _, ref := range refs {
		names = append(names, ref.String())
	}
	return strings.Join(names, ", ")
}
