package queue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"nodestorm/harness/replay/queue"
)

// stage is where made-up jobs are played, which end only when the test ends them.
type stage struct {
	t       *testing.T
	began   chan int
	end     map[int]chan string // by job
	alone   atomic.Int32
	on      atomic.Int32
	most    atomic.Int32
	workers sync.Map // that are at work
}

func newStage(t *testing.T, jobs int) *stage {
	s := &stage{t: t, began: make(chan int, jobs), end: map[int]chan string{}}
	for job := range jobs {
		s.end[job] = make(chan string, 1)
	}
	return s
}

func (s *stage) parallel(ctx context.Context, worker, job int) (string, bool, error) {
	if _, busy := s.workers.LoadOrStore(worker, true); busy {
		s.t.Errorf("worker %d plays two jobs at once", worker)
	}
	defer s.workers.Delete(worker)
	if now := s.on.Add(1); now > s.most.Load() {
		s.most.Store(now)
	}
	defer s.on.Add(-1)
	s.began <- job
	select {
	case what := <-s.end[job]:
		if what == "broken" {
			return "", false, errors.New("the disk is full")
		}
		return fmt.Sprintf("%d %s", job, what), what == "late", nil
	case <-ctx.Done():
		return "", false, ctx.Err()
	}
}

func (s *stage) Alone(_ context.Context, job int) (string, error) {
	if s.on.Load() != 0 {
		s.t.Errorf("job %d is played alone beside others", job)
	}
	s.alone.Add(1)
	return fmt.Sprintf("%d alone", job), nil
}

// started waits for so many to begin, and returns which.
func (s *stage) started(n int) (jobs []int) {
	for range n {
		jobs = append(jobs, <-s.began)
	}
	slices.Sort(jobs)
	return jobs
}

// Jobs that end in another order than they began have their results in that of the sequence,
// at every moment; one that was late is played again when no other is, in its place.
func TestOrder(t *testing.T) {
	const jobs = 5
	s := newStage(t, jobs)
	var reported [][]string
	var fewer []int
	ended := make(chan error, 1)
	var results []string
	go func() {
		var err error
		results, err = queue.Sequence(t.Context(), jobs, 3, queue.Steps[string]{
			Parallel: s.parallel, Alone: s.Alone,
			Done:  func(r []string) error { reported = append(reported, slices.Clone(r)); return nil },
			Fewer: func(n int) { fewer = append(fewer, n) },
		})
		ended <- err
	}()
	if first := s.started(3); !slices.Equal(first, []int{0, 1, 2}) {
		t.Errorf("%v begin first", first)
	}
	s.end[2] <- "ok"
	s.started(1) // 3
	s.end[0] <- "late"
	s.end[3] <- "ok"
	s.started(1) // 4
	s.end[4] <- "ok"
	s.end[1] <- "ok"
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	want := []string{"0 alone", "1 ok", "2 ok", "3 ok", "4 ok"}
	if !slices.Equal(results, want) {
		t.Errorf("results %q, want %q", results, want)
	}
	for _, sofar := range reported {
		if !slices.IsSorted(sofar) {
			t.Errorf("reported %q on the way", sofar)
		}
	}
	if !slices.Equal(reported[len(reported)-1], want) || s.alone.Load() != 1 || !slices.Equal(fewer, []int{2}) || s.most.Load() != 3 {
		t.Errorf("reported %q; %d alone, fewer %v, %d at once", reported, s.alone.Load(), fewer, s.most.Load())
	}
}

// Whatever the number at a time, the results are those of one at a time.
func TestSameAsSequence(t *testing.T) {
	play := func(atOnce int) []string {
		results, err := queue.Sequence(t.Context(), 40, atOnce, queue.Steps[string]{
			Parallel: func(_ context.Context, _, job int) (string, bool, error) {
				return fmt.Sprint("job ", job, " beside"), job%7 == 3, nil
			},
			Alone: func(_ context.Context, job int) (string, error) {
				return fmt.Sprint("job ", job, " alone"), nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return results
	}
	one := play(1)
	for _, atOnce := range []int{0, 2, 5, 40, 1000} {
		if got := play(atOnce); !slices.Equal(got, one) {
			t.Errorf("%d at once: %q, want %q", atOnce, got, one)
		}
	}
}

// An error ends those that are under way, nothing begins after it, and what was done is kept.
func TestErrorEndsAll(t *testing.T) {
	s := newStage(t, 6)
	type end struct {
		results []string
		err     error
	}
	ended := make(chan end, 1)
	go func() {
		results, err := queue.Sequence(t.Context(), 6, 2, queue.Steps[string]{Parallel: s.parallel, Alone: s.Alone})
		ended <- end{results, err}
	}()
	s.started(2)
	s.end[1] <- "ok"
	s.started(1)
	s.end[2] <- "broken"
	got := <-ended
	if got.err == nil || !strings.Contains(got.err.Error(), "disk is full") || !slices.Equal(got.results, []string{"1 ok"}) || s.on.Load() != 0 {
		t.Errorf("%q, %v, %d still play", got.results, got.err, s.on.Load())
	}
	if len(s.began) != 0 || s.alone.Load() != 0 {
		t.Error("something began after the error")
	}
}

// The end of the context ends all.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	s := newStage(t, 4)
	ended := make(chan error, 1)
	go func() {
		_, err := queue.Sequence(ctx, 4, 2, queue.Steps[string]{Parallel: s.parallel, Alone: s.Alone})
		ended <- err
	}()
	s.started(2)
	cause := errors.New("Ctrl-C")
	cancel(cause)
	if err := <-ended; !errors.Is(err, cause) || s.on.Load() != 0 || len(s.began) != 0 {
		t.Errorf("%v, %d still play", err, s.on.Load())
	}
}
