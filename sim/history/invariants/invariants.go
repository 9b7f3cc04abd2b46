// Package invariants has what must hold in every run of a node autoscaler, whatever its
// scenario is about: no instance is left behind, no group outgrows its maximum. Each is a
// named checker of its own, and judges only where it is promised: of programs and clouds of
// which certain facts are so, and where what must be quiet is. It knows no name of them. A history is read once for all of them.
//
// What holds in one scenario or one catalogue is said in statements, see package checker.
package invariants

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
)

// Invariant is one that the product brings.
type Invariant struct {
	Name string `json:"name"`
	// Statement says in a sentence what must hold, When where it is promised.
	Statement string `json:"statement"`
	When      string `json:"when"`
	// Of are facts about a subject: it is judged where one of them is so.
	Of []Fact `json:"-"`
	// begin makes the judge of one run.
	begin func(*world, breaks) judge
}

// breaks reports that the invariant does not hold, and which events show it, the last of
// which breaks it. Only the first time counts.
type breaks func(why string, evidence ...uint64)

// judge sees each event after the world has, and then the end of a history.
type judge struct {
	see func(*history.Entry)
	end func()
}

// AppliesTo reports whether the invariant is about the subject.
func (i *Invariant) AppliesTo(s Subject) bool { return slices.ContainsFunc(i.Of, s.hasFact) }

// All are the invariants, in the order of their names.
func All() []Invariant { return all }

// Known reports whether there is one of the name.
func Known(name string) bool {
	return slices.ContainsFunc(all, func(i Invariant) bool { return i.Name == name })
}

// Sentence is the name and what must hold; only the name, if today's program has no such.
func Sentence(name string) string {
	for _, i := range all {
		if i.Name == name {
			return name + ": " + i.Statement
		}
	}
	return name
}

// Names are theirs.
func Names() (names []string) {
	for _, i := range all {
		names = append(names, i.Name)
	}
	return names
}

// Broken is an invariant that does not hold.
type Broken struct {
	Name string
	checker.Finding
}

// Judge finds those that do not hold in a run that has come to its end. The events are
// in the order of time.
func Judge(events iter.Seq[history.Entry], subject Subject) (broken []Broken) {
	w := newWorld(subject)
	type running struct {
		judge
		found *Broken
	}
	var judges []running
	for i := range all {
		if !all[i].AppliesTo(subject) {
			continue
		}
		found := &Broken{Name: all[i].Name}
		found.Statement = all[i].Statement
		judges = append(judges, running{all[i].begin(w, func(why string, evidence ...uint64) {
			if found.Result != "" {
				return
			}
			found.Result, found.Reason = checker.Invalid, fmt.Sprintf("%s, %s", why, w.now.Round(time.Second))
			found.Evidence = slices.DeleteFunc(slices.Clone(evidence), func(seq uint64) bool { return seq == 0 })
		}), found})
	}
	for r := range events {
		w.see(&r)
		for _, j := range judges {
			if j.see != nil {
				j.see(&r)
			}
		}
	}
	for _, j := range judges {
		if j.end != nil {
			j.end()
		}
		if j.found.Result != "" {
			broken = append(broken, *j.found)
		}
	}
	return broken
}
