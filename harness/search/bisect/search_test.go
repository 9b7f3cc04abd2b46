package bisect

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// chain is n points in a row, the newest first: n-1, …, 0.
func chain(n int) (points []Point) {
	for i := n - 1; i >= 0; i-- {
		p := Point{ID: fmt.Sprint(i)}
		if i > 0 {
			p.Parents = []string{fmt.Sprint(i - 1)}
		}
		points = append(points, p)
	}
	return points
}

// ask runs a search to its end.
func ask(t *testing.T, s *Search, answer func(id string) State) (asked []string) {
	t.Helper()
	for {
		p, more := s.Next()
		if !more {
			return asked
		}
		if slices.Contains(asked, p.ID) {
			t.Fatalf("%s is asked twice, after %v", p.ID, asked)
		}
		asked = append(asked, p.ID)
		s.Learn(p.ID, answer(p.ID))
	}
}

// Wherever the change is, it is found, in no more steps than were announced.
func TestChain(t *testing.T) {
	for n := 1; n <= 40; n++ {
		for change := range n {
			s := NewSearch(chain(n))
			_, announced := s.Remaining()
			asked := ask(t, s, func(id string) State {
				var i int
				_, _ = fmt.Sscan(id, &i)
				if i >= change {
					return New
				}
				return Old
			})
			if first := s.First(); len(first) != 1 || first[0] != fmt.Sprint(change) || len(asked) > announced {
				t.Errorf("of %d with the change at %d: %v after %v, and %d steps were announced", n, change, first, asked, announced)
			}
		}
	}
}

// random is a history with merges: each point has one or two of those before.
func random(rng *rand.Rand, n int) []Point {
	points := chain(n)
	for i := range points {
		if at := n - 1 - i; at > 2 {
			points[i].Parents = []string{fmt.Sprint(at - 1 - rng.IntN(2))}
			if rng.IntN(3) == 0 {
				points[i].Parents = append(points[i].Parents, fmt.Sprint(rng.IntN(at)))
			}
		}
	}
	return points
}

// In a history with merges, the one commit that all New ones have is found, as long as
// the newest has it; what cannot be decided widens the answer and never falsifies it.
func TestMerges(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		points := random(rng, 2+rng.IntN(40))
		before := NewSearch(points).before
		var of []int
		for i := range points {
			if before[0].has(i) {
				of = append(of, i)
			}
		}
		change := of[rng.IntN(len(of))]
		blind := rng.IntN(3) * 2 // in ten
		undecided := map[string]bool{}
		s := NewSearch(points)
		ask(t, s, func(id string) State {
			i := slices.IndexFunc(points, func(p Point) bool { return p.ID == id })
			switch {
			case rng.IntN(10) < blind:
				undecided[id] = true
				return Skipped
			case before[i].has(change):
				return New
			}
			return Old
		})
		first := s.First()
		if !slices.Contains(first, points[change].ID) || len(first) > 1+len(undecided) {
			t.Fatalf("%v: the change is %s, found %v, not decided %v", points, points[change].ID, first, undecided)
		}
	}
}

// One that is built already is asked first, unless it rules out little.
func TestReady(t *testing.T) {
	for ready, want := range map[int]string{9: "9", 6: "6", 1: "8", 14: "8"} {
		points := chain(16)
		points[len(points)-1-ready].Ready = true
		if p, _ := NewSearch(points).Next(); p.ID != want && (want != "8" || p.ID != "7") {
			t.Errorf("with %d built, %s is asked, want %s", ready, p.ID, want)
		}
	}
}

// Where many in a row cannot be decided, it looks elsewhere soon.
func TestSkipped(t *testing.T) {
	s := NewSearch(chain(100))
	asked := ask(t, s, func(id string) State {
		var i int
		_, _ = fmt.Sscan(id, &i)
		switch {
		case i > 30 && i < 70:
			return Skipped
		case i >= 75:
			return New
		}
		return Old
	})
	if first := s.First(); len(first) != 1 || first[0] != "75" || len(asked) > 12 {
		t.Errorf("found %v after %v", first, asked)
	}
}
