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

// Records are those of a run, to be read as often as one likes.
type Records interface {
	// Arrived are they in the order of arrival, which is that of Seq.
	Arrived() iter.Seq[Record]
	// Timed are they in the order of Sort.
	Timed() iter.Seq[Record]
	// Err is why the last reading ended before its end; nil if it did not.
	Err() error
}

// InMemory are records in whatever order.
type InMemory []Record

// Arrived implements Records.
func (m InMemory) Arrived() iter.Seq[Record] {
	sorted := slices.Clone(m)
	slices.SortStableFunc(sorted, func(a, b Record) int { return cmp.Compare(a.Seq, b.Seq) })
	return slices.Values(sorted)
}

// Timed implements Records.
func (m InMemory) Timed() iter.Seq[Record] {
	sorted := slices.Clone(m)
	Sort(sorted)
	return slices.Values(sorted)
}

// Err implements Records.
func (InMemory) Err() error { return nil }

// Stored are the records of a history's file, read anew each time, so that they may be more
// than the memory holds. It is for one reader at a time.
type Stored struct {
	// Path is that of the file, whose records have the order of their Seq. It is read as long as Context lasts.
	Path    string
	Context context.Context
	// Late is how much later than others of a later time a record arrives at most, see [Lateness].
	Late time.Duration

	err error
}

// Arrived implements Records.
func (s *Stored) Arrived() iter.Seq[Record] {
	return func(yield func(Record) bool) {
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
			if !yield(l.record) {
				return
			}
		}
	}
}

// Timed implements Records. It keeps those that one of an earlier time may still come before.
func (s *Stored) Timed() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		var waiting byTime
		var last time.Duration
		for r := range s.Arrived() {
			heap.Push(&waiting, r)
			last = max(last, r.Virtual)
			// mutant: records of a stored history come as they arrived, whatever their time
			// mutant: an order of time needs all of a history in memory
			for len(waiting) > 0 && waiting[0].Virtual <= last-s.Late {
				if !yield(heap.Pop(&waiting).(Record)) {
					return
				}
			}
		}
		for len(waiting) > 0 {
			if !yield(heap.Pop(&waiting).(Record)) {
				return
			}
		}
	}
}

// Err implements Records.
func (s *Stored) Err() error { return s.err }

// Lateness is how much later than others of a later time the records of a history arrive at
// most, of all those that Add was given, in the order of arrival.
type Lateness struct {
	Most time.Duration
	last time.Duration
}

// Add takes in the next record.
func (l *Lateness) Add(r Record) {
	l.last = max(l.last, r.Virtual)
	l.Most = max(l.Most, l.last-r.Virtual)
}

// byTime is a heap whose first record is the first in the order of Sort.
type byTime []Record

func (h byTime) Len() int           { return len(h) }
func (h byTime) Less(i, j int) bool { return inOrder(h[i], h[j]) < 0 }
func (h byTime) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byTime) Push(r any)        { *h = append(*h, r.(Record)) }
func (h *byTime) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = Record{}
	*h = (*h)[:len(*h)-1]
	return last
}
