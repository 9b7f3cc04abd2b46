// Package bisect finds where a failure came or went: between which two releases, by
// which commit; and what each release shows. It knows no world: a Player builds candidates and
// plays them. The search itself knows no git either: candidates are points of a graph.
package bisect

import (
	"math"
	"math/bits"
	"slices"
)

// Point is a candidate and those right before it. A release has one before it, a merge
// commit several.
type Point struct {
	ID      string
	Parents []string
	// Ready is cheap to ask: it has been built.
	Ready bool
}

// State is on which side of the change a point is.
type State int

// A point is like the older end, or like the newer one, or cannot be decided.
const (
	Unknown State = iota
	Old
	New
	Skipped
)

// Search narrows down which point was the first that is New. As git bisect does, it
// takes it that what comes before an Old point is Old, and what comes after a New one New.
type Search struct {
	points []Point
	state  []State
	// before[i] are the points that i cannot be without, and i itself, as bits.
	before []bitset
	// left are those that may be the first, all before or at newest, which is New.
	left   bitset
	newest int
}

// NewSearch is one over points, the newest first and each before its parents. All that
// is before them is Old, and the first of them New.
func NewSearch(points []Point) *Search {
	s := &Search{points: points, state: make([]State, len(points)), before: make([]bitset, len(points)), left: newBitset(len(points))}
	at := map[string]int{}
	for i, p := range points {
		at[p.ID] = i
	}
	for i := len(points) - 1; i >= 0; i-- {
		s.before[i] = newBitset(len(points))
		s.before[i].set(i)
		for _, parent := range points[i].Parents {
			if j, in := at[parent]; in && j > i {
				s.before[i].add(s.before[j])
			}
		}
	}
	for i := range points {
		s.left.set(i)
	}
	if len(points) > 0 {
		s.settle(0, New)
	}
	return s
}

// Learn notes what is known of a point. IDs of other points have no effect.
func (s *Search) Learn(id string, state State) {
	if i := slices.IndexFunc(s.points, func(p Point) bool { return p.ID == id }); i >= 0 {
		s.settle(i, state)
	}
}

func (s *Search) settle(i int, state State) {
	if !s.left.has(i) { // it is settled
		return
	}
	switch state {
	case New:
		s.left.intersect(s.before[i])
		s.newest = i
	case Old:
		if i != s.newest {
			// mutant: what comes before an old point may be the first
			s.left.remove(s.before[i])
		}
	case Unknown:
		return
	}
	s.state[i] = state
}

// Next is the point to ask next, false if no other one helps.
func (s *Search) Next() (Point, bool) {
	total := s.left.count()
	aim := s.aim() * float64(total)
	best, least := -1, math.Inf(1)
	ready, leastReady := -1, math.Inf(1)
	for i, p := range s.points {
		if i == s.newest || !s.left.has(i) || s.state[i] == Skipped {
			continue
		}
		weight := s.before[i].countWith(s.left)
		off := math.Abs(float64(weight) - aim)
		if off < least {
			best, least = i, off
		}
		// A build costs more than a third of what is left does.
		if p.Ready && 3*min(weight, total-weight) >= total-1 && off < leastReady {
			ready, leastReady = i, off
		}
	}
	switch {
	case best < 0:
		return Point{}, false
	case ready >= 0:
		return s.points[ready], true
	}
	return s.points[best], true
}

// aim is which part of what is left should be before the next point: half, and after each
// point that cannot be decided elsewhere, since those around it often cannot either. It is
// van der Corput's sequence: 1/2, 1/4, 3/4, 1/8…
func (s *Search) aim() float64 {
	skipped := uint32(0)
	for i := range s.points {
		if s.left.has(i) && s.state[i] == Skipped {
			skipped++
		}
	}
	return float64(bits.Reverse32(skipped+1)) / (1 << 32)
}

// Remaining is how many points may be the first still, and about how many have to be asked.
func (s *Search) Remaining() (points, steps int) {
	points = s.left.count()
	return points, stepsTo(points)
}

// First are the points of which one is the first that is New, the newest first: one, or
// more if some could not be decided.
func (s *Search) First() (ids []string) {
	for i, p := range s.points {
		if s.left.has(i) {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// bitset is a set of small numbers.
type bitset []uint64

func newBitset(n int) bitset            { return make(bitset, (n+63)/64) }
func (b bitset) set(i int)              { b[i/64] |= 1 << (i % 64) }
func (b bitset) has(i int) bool         { return b[i/64]&(1<<(i%64)) != 0 }
func (b bitset) add(other bitset)       { b.combine(other, func(a, o uint64) uint64 { return a | o }) }
func (b bitset) intersect(other bitset) { b.combine(other, func(a, o uint64) uint64 { return a & o }) }

func (b bitset) remove(other bitset) {
	b.combine(other, func(a, o uint64) uint64 { return a &^ o })
}

func (b bitset) combine(other bitset, do func(a, o uint64) uint64) {
	for i := range b {
		b[i] = do(b[i], other[i])
	}
}

func (b bitset) count() (n int) { return b.countWith(b) }

func (b bitset) countWith(other bitset) (n int) {
	for i := range b {
		n += bits.OnesCount64(b[i] & other[i])
	}
	return n
}
