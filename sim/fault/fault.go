// Package fault is what all faults have in common, whatever they break: what one is (Fault), how it is
// written (List, Parse) and said, and its life: from when to when and how often it acts, and what the history has
// of that. It knows no part of a world: who has something to break has a List of what can go wrong with it, embeds
// a Life in each fault that it has armed, and carries the effect out where it acts.
//
//	armed ──(When, At)──▶ active ──(an occasion, after Skip of them, drawn)──▶ matched ──▶ effective ──(For or Limit over)──▶ cleared
//
// A fault is effective once a program could have seen a difference, and ineffective on an
// occasion on which it made none. One that was never effective has shown nothing, and a
// verdict says so.
package fault

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"nodestorm/sim/strict"
)

// Fault is one thing that goes wrong with a part of the world.
type Fault struct {
	// Name is what events and errors call it. Required, unique in that part.
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
	// One is the one thing that it strikes, empty if it may strike several. Of one there are no occasions to
	// choose among.
	One() string
}

// Effect is what goes wrong: a value of one of a List's kinds. What it does is said by methods that the part of the
// world calls which it breaks.
type Effect any

// Checker is an effect that can be wrong in more than its durations.
type Checker interface {
	// Check says what is wrong with a fault that has it, as far as it shows without a world.
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
	err := checkSpans(l.kind(f.Effect).Key, f.Effect)
	if c, checks := f.Effect.(Checker); err == nil && checks {
		err = c.Check(f)
	}
	if err != nil {
		return fmt.Errorf("%s %q (%s): %w", l.noun(), f.Name, l.Called(f.Effect), err)
	}
	return nil
}

func (l *List) check(f Fault) error {
	switch {
	case f.Effect == nil:
		return l.miscounted(nil)
	case !l.Has(f.Effect):
		return fmt.Errorf("unknown effect %q (allowed: %s)", l.Called(f.Effect), l.keys())
	case f.Match != nil && reflect.TypeOf(f.Match) != reflect.TypeOf(l.Match):
		return fmt.Errorf("it strikes other than %s", l.About)
	}
	match := f.Match
	if match == nil {
		match = l.Match
	}
	if one := match.One(); one != "" && (f.Skip != 0 || f.Limit != 0 || f.Probability != 0) {
		return fmt.Errorf("it acts on %s: want no skip, limit or probability", one)
	}
	return cmp.Or(f.Plan.Check(), match.Check())
}

// checkSpans looks at the durations of an effect.
func checkSpans(key string, e Effect) error {
	v := reflect.ValueOf(e)
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.Type != reflect.TypeFor[strict.Duration]() {
			continue
		}
		d := v.FieldByIndex(f.Index).Interface().(strict.Duration)
		field, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch positive := f.Tag.Get("want") == "positive"; {
		case positive && d <= 0:
			return fmt.Errorf("field %s.%s is %v: want more than zero", key, field, d)
		case d < 0:
			return fmt.Errorf("field %s.%s is %v: want zero or more", key, field, d)
		}
	}
	return nil
}
