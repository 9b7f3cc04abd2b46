package fault

import "fmt"

// Set is the faults of one part of the world, in the order in which they were armed. A
// are pointers to what embeds a Life. It is as little safe for concurrent use as they.
type Set[A interface{ life() *Life }] struct{ all []A }

func (l *Life) life() *Life { return l }

// All are all of them, those that are over too. The caller must not change the slice.
func (s *Set[A]) All() []A { return s.all }

// Free says what is wrong with arming a fault of the name.
func (s *Set[A]) Free(name string) error {
	if _, err := s.Named(name); err == nil {
		return fmt.Errorf("fault %q is there already: want unique names", name)
	}
	return nil
}

// Add puts an armed fault behind the others. Its name is Free.
func (s *Set[A]) Add(armed A) { s.all = append(s.all, armed) }

// Named finds a fault.
func (s *Set[A]) Named(name string) (armed A, err error) {
	for _, a := range s.all {
		if a.life().name == name {
			return a, nil
		}
	}
	return armed, fmt.Errorf("there is no fault %q", name)
}

// Unmet are the names of those that have made no difference so far: a run that ends with
// one has not shown what it set out to show.
func (s *Set[A]) Unmet() (names []string) {
	for _, a := range s.all {
		if a.life().effective.IsZero() {
			// mutant: a fault that made no difference is not reported
			names = append(names, a.life().name)
		}
	}
	return names
}
