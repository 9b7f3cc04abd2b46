// Package agenda is what is to be done when, in the order of the times, and of one time in the order in which it was added.
package agenda

import (
	"container/heap"
	"time"
)

// Agenda is empty at first.
type Agenda struct {
	queue queue
	added int
}

// Add has something be done at a time.
func (a *Agenda) Add(at time.Time, do func()) {
	a.added++
	heap.Push(&a.queue, event{at, a.added, do})
}

// Take takes out what is due first, of what is due until now; ok reports whether there is any.
func (a *Agenda) Take(now time.Time) (at time.Time, do func(), ok bool) {
	if len(a.queue) == 0 || a.queue[0].at.After(now) {
		return time.Time{}, nil, false
	}
	e := heap.Pop(&a.queue).(event)
	return e.at, e.do, true
}

// Due is when something is due next; zero means that nothing is.
func (a *Agenda) Due() time.Time {
	if len(a.queue) == 0 {
		return time.Time{}
	}
	return a.queue[0].at
}

// event is something that is due at a time.
type event struct {
	at  time.Time
	seq int // among those of the same time
	do  func()
}

type queue []event

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].at.Before(q[j].at) || (q[i].at.Equal(q[j].at) && q[i].seq < q[j].seq)
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *queue) Push(x any) { *q = append(*q, x.(event)) }

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
