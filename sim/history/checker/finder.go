package checker

import (
	"slices"
	"strings"
	"time"
	"unique"

	"nodestorm/sim/history"
)

// Finder judges a statement by the events of a run that has ended, given one after the other
// in the order of time. It keeps those only that the statement may be about.
type Finder struct {
	s       Statement
	of      []*Pattern      // of a sequence: what it looks at
	ends    bool            // and whether what it looks at is gone
	asked   map[string]bool // first parts of the details' keys that it asks for
	kept    []history.Entry
	monitor *Monitor      // of all else
	limit   time.Duration // of the monitor; zero is the end
	decided *Finding
	there   bool // something that the first of no sequence is about
	unsure  []*unsure
}

// NewFinder begins to judge the statement, which Check has found right.
func NewFinder(s Statement) *Finder {
	f := &Finder{s: s}
	if s.elements() == nil {
		f.monitor = s.Monitor()
		f.unsure = f.monitor.unsure
		if s.Since == nil {
			f.limit = time.Duration(s.Within)
		}
		return f
	}
	f.unsure = s.unsures()
	f.asked = map[string]bool{"subresource": true} // for deletes
	for i := range s.elements() {
		e := &s.elements()[i]
		if e.Match != nil {
			f.lookFor(e.Match)
		}
		for _, path := range e.Capture {
			if key, ok := strings.CutPrefix(path, "detail."); ok {
				f.ask(key)
			}
		}
		for k := range e.While {
			f.lookFor(&e.While[k])
			f.ends = true
		}
		for k := range e.Absent {
			f.lookFor(&e.Absent[k].Pattern)
		}
	}
	return f
}

func (f *Finder) lookFor(p *Pattern) {
	f.of = append(f.of, p.identity())
	for key := range p.Detail {
		f.ask(key)
	}
}

func (f *Finder) ask(key string) {
	first, _, _ := strings.Cut(key, ".")
	f.asked[key], f.asked[first] = true, true
}

// keep remembers of an event what the search may ask for: of a long run it keeps many.
func (f *Finder) keep(r history.Entry) {
	var detail map[string]any
	for key, value := range r.Detail {
		if !f.asked[key] {
			continue
		}
		if detail == nil {
			detail = map[string]any{}
		}
		detail[key] = value
	}
	r.Detail = detail
	for _, word := range []*string{(*string)(&r.Source), &r.Verb, &r.Actor, &r.Object.Resource, &r.Object.Namespace} {
		*word = unique.Make(*word).Value() // each event has been read into memory of its own
	}
	f.kept = append(f.kept, r)
}

// Add takes in the next event.
func (f *Finder) Add(r history.Entry) {
	r.Detail = plain(r.Detail)
	look(f.unsure, &r)
	switch {
	case f.decided != nil, f.monitor != nil && f.limit != 0 && r.Virtual > f.limit:
	case f.monitor != nil:
		if found, decided := f.monitor.Add(r, true); decided {
			f.decided = &found
		}
	default:
		f.there = f.there || f.s.NoSequence != nil && f.s.aboutFirst().matchIdentity(&r, nil)
		// mutant: a recheck keeps what no statement asks for
		// mutant: what is gone before still counts in a history that is read in pieces
		if f.ends && deletes(&r) || slices.ContainsFunc(f.of, func(p *Pattern) bool { return p.matchIdentity(&r, nil) }) {
			f.keep(r)
		}
	}
}

// Finding is the finding at the end of the run.
func (f *Finder) Finding(all Completeness) Finding {
	switch {
	case f.decided != nil:
		return *f.decided
	case f.monitor != nil:
		return f.s.watched(f.monitor, all.completeness)
	}
	return f.s.weigh(Prepared{f.kept, all.completeness}.sequence(f.s, f.there), f.unsure)
}
