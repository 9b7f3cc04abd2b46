package queue

import (
	"context"
	"slices"
	"sync"
)

// Steps are how the jobs of a sequence, which have numbers from 0, are played.
type Steps[R any] struct {
	// Parallel plays the job while others are played. The worker that calls it, one of as many
	// as play at a time, has a number from 0. again asks for the job to be played alone, as its
	// result may be the others' doing. An error ends all.
	Parallel func(ctx context.Context, worker, job int) (r R, again bool, err error)
	// Alone plays a job once more when no other is played.
	Alone func(ctx context.Context, job int) (R, error)
	// Done, if given, is called with the results so far, in the order of the sequence. An
	// error ends all.
	Done func([]R) error
	// Fewer, if given, is called with how many are played at a time from now on: one less for
	// each that has to be played again.
	Fewer func(atOnce int)
}

// Sequence plays the jobs, atOnce of them at a time, and returns their results in the order
// of the sequence. With an error, it returns the results of those that came to their end.
func Sequence[R any](ctx context.Context, jobs, atOnce int, steps Steps[R]) ([]R, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := playing[R]{steps: steps, atOnce: max(1, min(atOnce, jobs)), results: make([]*R, jobs)}
	var wait sync.WaitGroup
	for worker := range p.atOnce {
		wait.Go(func() {
			for {
				job, more := p.next(worker)
				if !more || ctx.Err() != nil {
					return
				}
				r, again, err := steps.Parallel(ctx, worker, job)
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
		r, err := steps.Alone(ctx, job)
		if err == nil {
			err = p.played(job, r, false)
		}
		if err != nil {
			cancel(err)
		}
	}
	return p.soFar(), context.Cause(ctx)
}

// playing is a sequence that is being played.
type playing[R any] struct {
	steps Steps[R]

	mu      sync.Mutex
	atOnce  int
	begun   int
	results []*R  // nil: not yet
	again   []int // jobs that are to be played alone
}

// next gives a worker the next job. The last workers are those that go when there are to be fewer.
func (p *playing[R]) next(worker int) (job int, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if worker >= p.atOnce || p.begun == len(p.results) {
		return 0, false
	}
	p.begun++
	return p.begun - 1, true
}

func (p *playing[R]) played(job int, r R, again bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if again {
		p.again = append(p.again, job)
		if p.atOnce > 1 {
			if p.atOnce--; p.steps.Fewer != nil {
				p.steps.Fewer(p.atOnce)
			}
		}
		return nil
	}
	// mutant: at a time, who ends first is first
	p.results[job] = &r
	if p.steps.Done == nil {
		return nil
	}
	return p.steps.Done(p.soFar())
}

// soFar returns the results of the jobs that came to their end, in the order of the sequence.
func (p *playing[R]) soFar() (list []R) {
	for _, r := range p.results {
		if r != nil {
			list = append(list, *r)
		}
	}
	return list
}
