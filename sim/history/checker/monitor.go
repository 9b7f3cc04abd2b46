package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/history/measure"
)

// Monitor judges a statement by the events of a run as they arrive. It is for one
// judgement, and the same whether the events come live or from a file.
type Monitor struct {
	s           *Statement
	counted     *Pattern // of which there are so many
	least, most int      // most is below zero without a bound
	fields      []string // that distinguish what the events are about

	begun  bool              // the span without Since
	tracks map[string]*track // by what they are about
	there  bool              // something has been that the statement is about
	events []history.Entry   // of a sequence
	unsure []*unsure
	effort int
	watch  *measure.Watch // of a measure
}

// Monitor begins to judge the statement, which Check has found right.
func (s *Statement) Monitor() *Monitor {
	m := &Monitor{s: s, counted: s.Count, most: -1, fields: s.fields(), tracks: map[string]*track{}, unsure: s.unsures(), effort: effort,
		watch: s.Measure.Watch()}
	switch {
	case s.Happens != nil:
		m.counted, m.least = s.Happens, 1
	case s.Never != nil:
		m.counted, m.most = s.Never, 0
	}
	if s.AtLeast != nil {
		m.least = *s.AtLeast
	}
	if s.AtMost != nil {
		m.most = *s.AtMost
	}
	if len(m.fields) == 0 {
		m.tracks[""] = &track{m: m}
	}
	return m
}

// Add takes in the next event. counts says whether the span without Since has begun;
// of an event before, a state keeps the value. Decided means that the finding stays,
// whatever comes.
func (m *Monitor) Add(r history.Entry, counts bool) (f Finding, decided bool) {
	r.Detail = plain(r.Detail)
	look(m.unsure, &r)
	if m.s.elements() != nil {
		return m.takeSequence(r)
	}
	if m.watch != nil {
		m.watch.Add(r, counts)
		return f, false
	}
	var touched []*track
	if counts {
		touched = m.begin()
	}
	if p := m.counted; p != nil {
		m.there = m.there || p.Source.match(string(r.Source), nil) && p.Resource.match(field(&r, "resource"), nil)
	}
	if h, hits := m.classify(&r, counts); hits {
		if key, ok := keyOf(&r, m.fields); ok {
			t := m.tracks[key]
			if t == nil {
				t = &track{m: m, key: key}
				m.tracks[key] = t
				if m.begun {
					t.begin()
				}
			}
			t.add(h)
			touched = append(touched, t)
		}
	}
	m.takeDeletion(&r, counts) // which may have set a value itself
	return m.decided(counts, touched)
}

// begin opens the span without Since, once.
func (m *Monitor) begin() (begun []*track) {
	if m.begun {
		return nil
	}
	m.begun = true
	for _, t := range m.tracks {
		t.begin()
		begun = append(begun, t)
	}
	return begun
}

// classify is what an event is to the statement.
func (m *Monitor) classify(r *history.Entry, counts bool) (h hit, hits bool) {
	matches := func(p *Pattern) bool { return counts && p != nil && p.match(r, nil) }
	h = hit{at: r.Virtual, seq: r.Seq, early: !counts, object: r.Object}
	h.since, h.until = matches(m.s.Since), matches(m.s.Until)
	h.counted, h.first, h.then = matches(m.counted), matches(m.s.First), matches(m.s.Then)
	if state := m.s.state(); state != nil && state.Of.match(r, nil) {
		if value := fieldAt(r, state.Value); value != nil {
			h.value = value
		}
	}
	return h, h.since || h.until || h.counted || h.first || h.then || h.value != nil
}

// onlyCounts reports whether it makes no difference in which order the hits were.
func (m *Monitor) onlyCounts() bool {
	return m.s.Since == nil && m.s.Until == nil && m.s.First == nil && m.s.Every == 0 && m.s.state() == nil
}

// takeDeletion ends the values of an object that is gone.
func (m *Monitor) takeDeletion(r *history.Entry, counts bool) {
	if m.s.state() == nil || !deletes(r) {
		return
	}
	for _, t := range m.tracks {
		if len(m.fields) == 0 || t.known != nil && t.known.object == r.Object {
			t.add(hit{at: r.Virtual, seq: r.Seq, early: !counts, object: r.Object, gone: true})
		}
	}
}

// decided reports whether no event can change the finding any more, after these.
func (m *Monitor) decided(counts bool, touched []*track) (f Finding, decided bool) {
	if m.effort < 0 {
		return Finding{Statement: m.s.Statement, Result: Unknown, Reason: "too many events arrived late", GaveUp: true}, true
	}
	if !counts {
		return f, false
	}
	any := len(m.s.ForAny) > 0
	// What breaks an order can be mended by an event that happened before and arrives later.
	mendable := m.s.Since != nil || m.s.First != nil
	// A span that nothing ends is met for good.
	forGood := m.most < 0 && m.s.Throughout == nil && m.s.Finally == nil && m.s.Until == nil &&
		(m.s.Since == nil || m.s.Within == 0) && (len(m.fields) == 0 || any) && unseen(m.unsure) == ""
	for _, t := range touched {
		switch {
		case t.broken != nil && !any && !mendable:
			return m.finding(Invalid, t.broken.reason, t.broken.evidence), true
		case t.broken == nil && t.open != nil && t.open.met && forGood:
			return m.finding(Valid, "", t.open.evidence), true
		}
	}
	return f, false
}

func (m *Monitor) finding(result Result, reason string, evidence []uint64) Finding {
	return Finding{Statement: m.s.Statement, Result: result, Reason: reason, Evidence: evidence}
}

// FindingAt is the finding when nothing that comes after end counts.
func (m *Monitor) FindingAt(end time.Duration) Finding { return m.s.weigh(m.findingAt(end), m.unsure) }

func (m *Monitor) findingAt(end time.Duration) Finding {
	if m.s.elements() != nil {
		return m.overSequence(end)
	}
	if m.watch != nil {
		result, why := m.watch.ResultAt(end)
		return Finding{Statement: m.s.Statement, Result: Result(result), Reason: why, Hollow: result == string(Unknown)}
	}
	// mutant: of nothing everything holds
	if m.most >= 0 && m.least == 0 && m.s.Since == nil && !m.there {
		about := Pattern{Source: m.counted.Source, Resource: m.counted.Resource}
		return m.finding(Invalid, fmt.Sprintf("nothing in the history is about %q: of what never was nothing holds", &about), nil)
	}
	m.begin()
	var broken, cut, held *track
	for _, key := range sortedKeys(m.tracks) {
		t := m.tracks[key]
		t.endBy(end)
		switch {
		case t.broken != nil:
			broken = cmp.Or(broken, t)
		case t.complete > 0:
			held = cmp.Or(held, t)
		case t.open != nil:
			cut = cmp.Or(cut, t)
		}
	}
	any := len(m.s.ForAny) > 0
	switch {
	case broken != nil && !any, broken != nil && held == nil && cut == nil:
		return m.finding(Invalid, broken.broken.reason, broken.broken.evidence)
	case held != nil:
		return m.finding(Valid, "", held.evidence)
	case cut != nil:
		return m.finding(Unknown, fmt.Sprintf("what began with event %d is not over at %s", cut.open.since, end), []uint64{cut.open.since})
	case m.s.Since != nil:
		return m.finding(Invalid, fmt.Sprintf("%q, since when it counts, is not in the history", m.s.Since), nil)
	case m.most >= 0 && m.least == 0 && !any:
		return m.finding(Valid, "", nil)
	}
	return m.finding(Invalid, fmt.Sprintf("%q is not in the history", m.patternOfAll()), nil)
}

// patternOfAll is without what every one of ForEach has nothing to hold of.
func (m *Monitor) patternOfAll() *Pattern {
	switch {
	case m.counted != nil:
		return m.counted
	case m.s.Then != nil:
		return m.s.Then
	}
	return m.s.state().Of
}

// takeSequence searches whenever an event may be the last of the sequence.
func (m *Monitor) takeSequence(r history.Entry) (f Finding, decided bool) {
	m.events = append(m.events, r)
	elements := m.s.elements()
	last := elements[len(elements)-1].Match
	if last == nil || !last.identity().matchIdentity(&r, nil) {
		return f, false
	}
	f = m.overSequence(r.Virtual)
	return f, m.s.Sequence != nil && f.Result == Valid || m.s.NoSequence != nil && f.Result == Invalid && len(f.Evidence) > 0
}

// overSequence searches as if the run had ended then.
func (m *Monitor) overSequence(end time.Duration) Finding {
	ended := history.Entry{Virtual: end, Event: history.Event{Source: history.Harness, Verb: history.Ended}}
	return Find(append(slices.Clip(m.events), ended), *m.s)
}

// watched is the finding of a monitor that was given all events of a run, or those up to
// the end of its span, and has decided nothing by them.
func (s *Statement) watched(m *Monitor, complete completeness) Finding {
	end := complete.end
	limit := time.Duration(s.Within)
	if s.Since != nil || limit == 0 {
		limit = end
	}
	f := m.FindingAt(min(limit, end))
	why := complete.incompleteReason()
	switch {
	case f.Result == Unknown:
	case limit > end:
		why = fmt.Sprintf("it would have to hold until %s, and the history ends at %s", limit, end)
	case complete.damaged == 0 && limit < end:
		why = "" // also of a history that was cut off later
	}
	if f.Result == Invalid && why == "" {
		for _, of := range s.patterns() {
			why = cmp.Or(why, complete.silent(of.pattern))
		}
		f.Unexcused = why != "" && len(f.Evidence) > 0
	}
	// mutant: a statement is true of a history that was cut off
	if why != "" {
		f.Result, f.Reason = Unknown, why
	}
	return f
}
