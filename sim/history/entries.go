package history

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"nodestorm/sim/strict"
)

// Entries are those of a run, to be read as often as one likes.
type Entries interface {
	// Arrived are they in the order of arrival, which is that of Seq.
	Arrived() iter.Seq[Entry]
	// Timed are they in the order of Sort.
	Timed() iter.Seq[Entry]
	// Err is why the last reading ended before its end; nil if it did not.
	Err() error
}

// InMemory are events in whatever order.
type InMemory []Entry

// Arrived implements Entries.
func (m InMemory) Arrived() iter.Seq[Entry] {
	sorted := slices.Clone(m)
	slices.SortStableFunc(sorted, func(a, b Entry) int { return cmp.Compare(a.Seq, b.Seq) })
	return slices.Values(sorted)
}

// Timed implements Entries.
func (m InMemory) Timed() iter.Seq[Entry] {
	sorted := slices.Clone(m)
	Sort(sorted)
	return slices.Values(sorted)
}

// Err implements Entries.
func (InMemory) Err() error { return nil }

// Stored are the events of a history's file, read anew each time, so that they may be more
// than the memory holds. It is for one reader at a time.
type Stored struct {
	// Path is that of the file, whose events have the order of their Seq. It is read as long as Context lasts.
	Path    string
	Context context.Context
	// Late is how much later than others of a later time an event arrives at most, see [Lateness].
	Late time.Duration

	err error
}

// Arrived implements Entries.
func (s *Stored) Arrived() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		var file *strict.File
		if file, s.err = strict.Open(s.Context, s.Path); s.err != nil {
			return
		}
		defer file.Close()
		for l := range lines(file) {
			if l.err != nil {
				s.err = fmt.Errorf("%s: %w", s.Path, Problem{l.n, l.err})
				return
			}
			if !yield(l.event) {
				return
			}
		}
	}
}

// Timed implements Entries. It keeps those that one of an earlier time may still come before.
func (s *Stored) Timed() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		var waiting byTime
		var last time.Duration
		for r := range s.Arrived() {
			heap.Push(&waiting, r)
			last = max(last, r.Virtual)
			// mutant: events of a stored history come as they arrived, whatever their time
			// mutant: an order of time needs all of a history in memory
			for len(waiting) > 0 && waiting[0].Virtual <= last-s.Late {
				if !yield(heap.Pop(&waiting).(Entry)) {
					return
				}
			}
		}
		for len(waiting) > 0 {
			if !yield(heap.Pop(&waiting).(Entry)) {
				return
			}
		}
	}
}

// Err implements Entries.
func (s *Stored) Err() error { return s.err }

// Lateness is how much later than others of a later time the events of a history arrive at
// most, of all those that Add was given, in the order of arrival.
type Lateness struct {
	Most time.Duration
	last time.Duration
}

// Add takes in the next event.
func (l *Lateness) Add(r Entry) {
	l.last = max(l.last, r.Virtual)
	l.Most = max(l.Most, l.last-r.Virtual)
}

// byTime is a heap whose first event is the first in the order of Sort.
type byTime []Entry

func (h byTime) Len() int           { return len(h) }
func (h byTime) Less(i, j int) bool { return inOrder(h[i], h[j]) < 0 }
func (h byTime) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byTime) Push(r any)        { *h = append(*h, r.(Entry)) }
func (h *byTime) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = Entry{}
	*h = (*h)[:len(*h)-1]
	return last
}
