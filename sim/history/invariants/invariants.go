// Package invariants has what must hold in every run of a node autoscaler, whatever its
// scenario is about: no instance is left behind, no group outgrows its maximum. Each is a
// named checker of its own, and judges only where it is promised: of which targets, and
// what must be quiet. A history is read once for all of them.
//
// What holds in one scenario or one catalogue is said in statements, see package checker.
package invariants

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
)

// Subject is the program that a run is about.
type Subject struct {
	// Target is its name, Version its release, Provider the cloud that its build serves,
	// where builds differ in that.
	Target, Version, Provider string
	// Settings are the arguments and variables it was started with, as --name=value.
	Settings []string
}

// setting is the value of a setting, or "".
func (s Subject) setting(name string) string {
	for _, setting := range s.Settings {
		if value, ok := strings.CutPrefix(setting, name+"="); ok {
			return value
		}
	}
	return ""
}

// leavesPaused tells whether the release leaves paused groups alone, as 1.36 does; of what is
// no release that is not known, and expected.
func (s Subject) leavesPaused() bool {
	is, err := semver.NewVersion(s.Version)
	return err != nil || !is.LessThan(semver.MustParse("1.36.0"))
}

// lasts is the duration that a setting has, or the default.
func (s Subject) lasts(name string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(s.setting(name)); err == nil {
		return d
	}
	return otherwise
}

// share is the number that a setting has, or the default.
func (s Subject) share(name string, otherwise float64) float64 {
	if n, err := strconv.ParseFloat(s.setting(name), 64); err == nil {
		return n
	}
	return otherwise
}

// Invariant is one that the product brings.
type Invariant struct {
	Name string `json:"name"`
	// Statement says in a sentence what must hold, When where it is promised.
	Statement string `json:"statement"`
	When      string `json:"when"`
	// Of are the targets it is about, with a slash before a provider.
	Of []string `json:"of"`
	// begin makes the judge of one run.
	begin func(*world, breaks) judge
}

// breaks tells that the invariant does not hold, and which records show it, the last of
// which breaks it. Only the first time counts.
type breaks func(why string, evidence ...uint64)

// judge sees each record after the world has, and then the end of a history.
type judge struct {
	see func(*history.Record)
	end func()
}

// About tells whether the invariant is about the subject.
func (i *Invariant) About(s Subject) bool {
	return slices.ContainsFunc(i.Of, func(of string) bool {
		name, provider, one := strings.Cut(of, "/")
		return name == s.Target && (!one || provider == s.Provider)
	})
}

// All are the invariants, in the order of their names.
func All() []Invariant { return all }

// Known tells whether there is one of the name.
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

// Judge finds those that do not hold in a run that has come to its end. The records are
// in the order of time.
func Judge(records iter.Seq[history.Record], subject Subject) (broken []Broken) {
	w := newWorld(subject)
	type running struct {
		judge
		found *Broken
	}
	var judges []running
	for i := range all {
		if !all[i].About(subject) {
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
	for r := range records {
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
