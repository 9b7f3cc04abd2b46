package queue

import (
	"sync"
	"time"
)

// Sampler notes how busy the machine is. Whatever else runs there is in it: it is for a
// machine that has nothing else to do.
type Sampler struct {
	began time.Time
	step  time.Duration
	stop  chan struct{}
	wait  sync.WaitGroup
	busy  []float64 // processors, a slice each
	err   error
}

// Sample begins to note, a slice each step.
func Sample(step time.Duration) (*Sampler, error) {
	_, before, err := machineTime()
	if err != nil {
		return nil, err
	}
	s := &Sampler{began: time.Now(), step: step, stop: make(chan struct{})}
	s.wait.Go(func() {
		tick := time.NewTicker(step)
		defer tick.Stop()
		at, end := s.began, s.began // of what was read last, and of the last slice
		for {
			select {
			case <-s.stop:
				return
			case now := <-tick.C:
				_, busy, err := machineTime()
				if err != nil {
					s.err = err
					return
				}
				mean := (busy - before).Seconds() / now.Sub(at).Seconds()
				for end.Add(step / 2).Before(now) { // a tick that comes too late is of several slices
					s.busy, end = append(s.busy, mean), end.Add(step)
				}
				at, before = now, busy
			}
		}
	})
	return s, nil
}

// Stop ends it.
func (s *Sampler) Stop() error {
	close(s.stop)
	s.wait.Wait()
	return s.err
}

// Trace is that of a job that was played alone from then on for so long. The sampler must
// have been stopped.
func (s *Sampler) Trace(from time.Time, wall time.Duration) Trace {
	first := max(0, int(from.Sub(s.began)/s.step))
	last := min(len(s.busy), first+max(1, int((wall+s.step/2)/s.step)))
	t := Trace{Step: s.step}
	if first < last {
		t.Busy = append(t.Busy, s.busy[first:last]...)
	}
	return t
}

// Scale makes work what all traces together have: the rest was somebody else's.
func Scale(traces []Trace, work time.Duration) {
	var sum time.Duration
	for _, t := range traces {
		sum += t.Work()
	}
	for _, t := range traces {
		for i := range t.Busy {
			t.Busy[i] *= float64(work) / float64(max(1, sum))
		}
	}
}
