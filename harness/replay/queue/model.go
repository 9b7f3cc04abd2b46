package queue

import (
	"math"
	"time"
)

// Trace is how many processors a job has kept busy while it was played alone, in slices of
// Step. Where it kept less than one busy it mostly waited.
type Trace struct {
	Step time.Duration
	Busy []float64
}

// Work is the processor time of the job.
func (t Trace) Work() (work time.Duration) {
	for _, busy := range t.Busy {
		work += time.Duration(busy * float64(t.Step))
	}
	return work
}

// Waits is the part of its wall time, from 0 to 1, in which it had less than one processor's
// worth of work.
func (t Trace) Waits() float64 {
	if len(t.Busy) == 0 {
		return 0
	}
	n := 0
	for _, busy := range t.Busy {
		if busy < 1 {
			n++
		}
	}
	return float64(n) / float64(len(t.Busy))
}

// Machine is one that jobs are played on.
type Machine struct {
	Processors float64
	AtOnce     int // jobs at a time
}

// Predict is how long the machine needs for the jobs. It assumes that
//
//   - jobs begin in their order, each as soon as fewer than AtOnce are played;
//   - at any moment a job needs as many processors as it had at the same point when it was
//     played alone, however many there are: nothing gets faster than it was then;
//   - when those that are played need more processors than there are, all become slower by
//     the same factor, and no work is added by that;
//   - neither memory nor disks hold anything up.
//
// So the result is no less than each of Bounds.
func (m Machine) Predict(jobs []Trace) time.Duration {
	type playing struct {
		*Trace
		slice int
		left  float64 // of that slice, in seconds at full speed
	}
	var now float64 // seconds
	var all []*playing
	next := 0
	for {
		for len(all) < max(1, m.AtOnce) && next < len(jobs) {
			if job := &jobs[next]; len(job.Busy) > 0 && job.Step > 0 {
				all = append(all, &playing{Trace: job, left: job.Step.Seconds()})
			}
			next++
		}
		if len(all) == 0 {
			return time.Duration(now * float64(time.Second))
		}
		need, left := 0.0, math.Inf(1)
		for _, p := range all {
			need += p.Busy[p.slice]
			left = min(left, p.left)
		}
		speed := 1.0
		if need > m.Processors {
			speed = m.Processors / need
		}
		now += left / speed
		remaining := all[:0]
		for _, p := range all {
			if p.left -= left; p.left < 1e-9 {
				p.slice++
				p.left = p.Step.Seconds()
			}
			if p.slice < len(p.Busy) {
				remaining = append(remaining, p)
			}
		}
		all = remaining
	}
}

// Bounds are what no machine with so many processors is faster than, however many jobs it
// plays at a time: the work, and the longest job.
func (m Machine) Bounds(jobs []Trace) (work, longest time.Duration) {
	for _, job := range jobs {
		work += job.Work()
		longest = max(longest, time.Duration(len(job.Busy))*job.Step)
	}
	return time.Duration(float64(work) / m.Processors), longest
}
