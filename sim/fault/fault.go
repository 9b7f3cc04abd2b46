// Package fault is what all faults have in common, whatever they break: what one is (Fault), how it is
// written (List, Parse) and said, and its life: from when to when and how often it acts, and what the history has
// of that. It knows no part of a world: who has something to break has a List of what can go wrong with it, embeds
// a Life in each fault that it has armed, and carries the effect out where it acts.
//
//	armed ──(When, At)──▶ active ──(an occasion, after Skip of them, drawn)──▶ matched ──▶ effective ──(For or Limit over)──▶ cleared
//
// A fault is effective once somebody could have seen a difference, and ineffective on an
// occasion on which it made none. One that was never effective has shown nothing, and a
// verdict says so.
package fault

import (
	"cmp"
	"fmt"
	"reflect"
)

// Fault is one thing that goes wrong with a part of the world.
type Fault struct {
	// Name is what records and errors call it. Required, unique in that part.
	Name string
	// Match is what it strikes, of the type that its List has. Nil is that type's zero value.
	Match Match
	// Plan is when and how often.
	Plan
	// Effect is what goes wrong. Required.
	Effect Effect
}

// Match says what a fault strikes.
type Match interface {
	// Check says what is wrong with it.
	Check() error
}

// Effect is what goes wrong. What it does is said by methods that the part of the world calls
// which it breaks.
type Effect interface {
	// String is what records and errors call it.
	String() string
	// Check says what is wrong with a fault that has the effect, as far as it shows without a world.
	Check(f Fault) error
}

// Injector is a part of the world that can be broken.
type Injector interface {
	// Inject arms a fault.
	Inject(f Fault) error
	// Clear ends a fault before its time. It is an error that there is none of the name.
	Clear(name string) error
}

// Check says what is wrong with a fault for the part of the world that the list is of, as far as
// it shows without a world.
func (l *List) Check(f Fault) error {
	if f.Name == "" {
		return fmt.Errorf("a %s has no name: want unique names", l.noun())
	}
	if err := l.check(f); err != nil {
		return fmt.Errorf("%s %q: %w", l.noun(), f.Name, err)
	}
	if err := f.Effect.Check(f); err != nil {
		return fmt.Errorf("%s %q (%v): %w", l.noun(), f.Name, f.Effect, err)
	}
	return nil
}

func (l *List) check(f Fault) error {
	switch {
	case f.Effect == nil:
		return l.miscounted(nil)
	case l.kind(f.Effect) == nil:
		return fmt.Errorf("unknown effect %q (allowed: %s)", f.Effect, l.keys())
	case f.Match != nil && reflect.TypeOf(f.Match) != reflect.TypeOf(l.Match):
		return fmt.Errorf("it strikes other than %s", l.About)
	}
	match := f.Match
	if match == nil {
		match = l.Match
	}
	return cmp.Or(f.Plan.Check(), match.Check())
}

// Unplanned says what is wrong with a fault of something that there is one of.
func (f Fault) Unplanned(of string) error {
	if f.Skip != 0 || f.Limit != 0 || f.Probability != 0 {
		return fmt.Errorf("it acts on %s: want no skip, limit or probability", of)
	}
	return nil
}
