// Package queue plays a sequence of jobs several at a time, so that what comes of it
// is what comes of the sequence; tells how many at a time a machine bears; and has a model
// of what more processors would give. It knows no world.
package queue

import (
	"context"
	"slices"
	"sync"
)

// Hands are how jobs, which have numbers from 0, are played.
type Hands[R any] struct {
	// Beside plays the job while others are played. Who calls it, one of as many as play at
	// a time, has a number from 0. again asks for the job to be played alone, as what came
	// of it may be the others' doing. An error ends all.
	Beside func(ctx context.Context, hand, job int) (r R, again bool, err error)
	// Alone plays a job once more when no other is played, after that came of it before.
	Alone func(ctx context.Context, job int, before R) (R, error)
	// Done, if given, is told what has come of the jobs so far, in the order of the
	// sequence. An error ends all.
	Done func([]R) error
	// Fewer, if given, is told of how many are played at a time from now on: one less for
	// each that has to be played again.
	Fewer func(atOnce int)
}

// Play plays the jobs, atOnce of them at a time, and returns what came of them in the order
// of the sequence. With an error, it returns what came of those that came to their end.
func Play[R any](ctx context.Context, jobs, atOnce int, hands Hands[R]) ([]R, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := playing[R]{hands: hands, atOnce: max(1, min(atOnce, jobs)), results: make([]*R, jobs)}
	var wait sync.WaitGroup
	for hand := range p.atOnce {
		wait.Go(func() {
			for {
				job, more := p.take(hand)
				if !more || ctx.Err() != nil {
					return
				}
				r, again, err := hands.Beside(ctx, hand, job)
				if err == nil {
					err = p.played(job, r, again)
				}
				if err != nil {
					cancel(err) // only the first counts
				}
			}
		})
	}
	wait.Wait()
	slices.Sort(p.again)
	for _, job := range p.again {
		if ctx.Err() != nil {
			break
		}
		r, err := hands.Alone(ctx, job, *p.before[job])
		if err == nil {
			err = p.played(job, r, false)
		}
		if err != nil {
			cancel(err)
		}
	}
	return p.sofar(), context.Cause(ctx)
}

// playing is a sequence that is being played.
type playing[R any] struct {
	hands Hands[R]

	mu      sync.Mutex
	atOnce  int
	next    int
	results []*R       // nil: not yet
	again   []int      // jobs that are to be played alone
	before  map[int]*R // what came of those
}

// take gives a hand the next job. The last hands are those that go when there are to be fewer.
func (p *playing[R]) take(hand int) (job int, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if hand >= p.atOnce || p.next == len(p.results) {
		return 0, false
	}
	p.next++
	return p.next - 1, true
}

func (p *playing[R]) played(job int, r R, again bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if again {
		if p.before == nil {
			p.before = map[int]*R{}
		}
		p.again, p.before[job] = append(p.again, job), &r
		if p.atOnce > 1 {
			if p.atOnce--; p.hands.Fewer != nil {
				p.hands.Fewer(p.atOnce)
			}
		}
		return nil
	}
	p.results[job] = &r
	if p.hands.Done == nil {
		return nil
	}
	return p.hands.Done(p.sofar())
}

// sofar is what came of the jobs that came to their end, in the order of the sequence.
func (p *playing[R]) sofar() (list []R) {
	for _, r := range p.results {
		if r != nil {
			list = append(list, *r)
		}
	}
	return list
}
