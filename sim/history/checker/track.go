package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"nodestorm/sim/history"
)

// track judges a statement for one of what its events are about.
type track struct {
	m    *Monitor
	key  string
	hits []hit // in the order of time, those of before the beginning first

	known    *hit     // that has set the value
	spans    []*span  // that are open, those of Since in the order in which they began
	open     *span    // the one of them that is looked at, the first otherwise
	complete int      // spans that are over, and held
	evidence []uint64 // of the last of them
	broken   *broken  // by the first span that did not
}

// hit is an event that the statement is about.
type hit struct {
	at     time.Duration
	seq    uint64
	early  bool // before the beginning
	object history.Object

	since, until, counted, first, then bool
	value                              any
	gone                               bool // the object that has the value
}

func (h hit) earlierThan(other hit) bool {
	if h.early != other.early {
		return h.early
	}
	return cmp.Or(cmp.Compare(h.at, other.at), cmp.Compare(h.seq, other.seq)) < 0
}

// inOrder puts a hit among those that are in the order of time.
func inOrder(hits []hit, h hit) []hit {
	at, _ := slices.BinarySearchFunc(hits, h, func(a, b hit) int {
		if a.earlierThan(b) {
			return -1
		}
		return 1
	})
	return slices.Insert(hits, at, h)
}

// span is what a statement has to hold in.
type span struct {
	from     time.Duration
	since    uint64 // Seq of the event that began it, zero for the span without Since
	counted  []hit  // all of them, or those that a span of Every ending now has
	most     int    // of those, ever
	first    bool
	judged   bool // a value was there
	met      bool // nothing is missing any more
	evidence []uint64
}

type broken struct {
	reason   string
	evidence []uint64
}

// add takes in a hit. One that happened before another and arrives after it is judged
// in its place.
func (t *track) add(h hit) {
	n := len(t.hits)
	// mutant: a late event is judged as if it came last
	if n == 0 || !h.earlierThan(t.hits[n-1]) {
		t.hits = append(t.hits, h)
		t.step(h)
		return
	}
	t.hits = inOrder(t.hits, h)
	if t.m.onlyCounts() {
		t.step(h)
		return
	}
	*t = track{m: t.m, key: t.key, hits: t.hits}
	t.m.effort -= len(t.hits)
	opened := false
	for _, h := range t.hits {
		if !h.early && !opened {
			opened = true
			t.begin()
		}
		t.step(h)
	}
	if t.m.begun && !opened {
		t.begin()
	}
}

// begin opens the span without Since.
func (t *track) begin() {
	if t.m.s.Since == nil {
		t.enter(&span{})
	}
}

func (t *track) enter(s *span) {
	t.spans, t.open = append(t.spans, s), s
	if t.known != nil {
		t.look()
	}
	t.open = t.spans[0]
}

// forEachOpen does something with every span that is open.
func (t *track) forEachOpen(do func()) {
	for _, t.open = range slices.Clone(t.spans) {
		do()
	}
	if t.open = nil; len(t.spans) > 0 {
		t.open = t.spans[0]
	}
}

func (t *track) step(h hit) {
	s := t.m.s
	t.forEachOpen(func() {
		end := t.open.from + time.Duration(s.Within)
		// mutant: a span after since has no end
		// mutant: until ends nothing
		if t.open.since != 0 && (s.Within != 0 && h.at > end || h.until) {
			t.closeCurrent()
		}
	})
	switch {
	// mutant: the value of an object outlives it
	case h.gone && t.known != nil && t.known.object == h.object:
		t.known = nil
	case h.value != nil:
		t.known = &h
	}
	t.forEachOpen(func() {
		t.addHit(h)
		if s.Since != nil && s.Within != 0 && t.open.met && t.m.most < 0 && s.state() == nil {
			t.closeCurrent() // nothing can break it
		}
	})
	switch {
	case !h.since:
	case t.open == nil:
		t.enter(&span{from: h.at, since: h.seq})
	case s.Within == 0: // the open one holds all that this one would
	case t.m.most == 0: // of never the spans are one that is longer
		t.open.from, t.open.since = h.at, h.seq
	default:
		t.enter(&span{from: h.at, since: h.seq})
	}
}

// addHit is a hit in the open span.
func (t *track) addHit(h hit) {
	switch {
	// mutant: what comes first needs nothing before it
	case h.then && t.open.first:
		t.open.met, t.open.evidence = true, append(t.open.evidence, h.seq)
	case h.then:
		t.breaks(fmt.Sprintf("%q came with none of %q before it", t.m.s.Then, t.m.s.First), h.seq)
	}
	if h.first && !t.open.first {
		t.open.first, t.open.evidence = true, []uint64{h.seq}
	}
	if h.counted {
		t.count(h)
	}
	if h.value != nil {
		t.look()
	}
}

func (t *track) count(h hit) {
	o := t.open
	o.counted = inOrder(o.counted, h)
	if every := time.Duration(t.m.s.Every); every != 0 {
		// mutant: a rate counts for ever
		o.counted = slices.DeleteFunc(o.counted, func(earlier hit) bool { return h.at-earlier.at >= every })
	}
	n := len(o.counted)
	o.most = max(o.most, n)
	// mutant: one less than at least will do
	if t.m.least > 0 && n >= t.m.least && !o.met {
		o.met, o.evidence = true, seqs(o.counted)
	}
	// mutant: one more than at most will do
	if t.m.most >= 0 && n > t.m.most {
		t.breaks(fmt.Sprintf("%q was seen %s%s, at most %d allowed", t.m.counted, Times(n), t.inAny(), t.m.most), seqs(o.counted)...)
	}
}

func (t *track) inAny() string {
	if t.m.s.Every == 0 {
		return ""
	}
	return fmt.Sprintf(" within %s", time.Duration(t.m.s.Every))
}

// look compares the value that is known.
func (t *track) look() {
	state := t.m.s.state()
	wrong := state.mismatch(t.known.value)
	t.open.judged = true
	switch {
	case t.m.s.Eventually != nil && wrong == "":
		t.open.met, t.open.evidence = true, []uint64{t.known.seq}
	case t.m.s.Throughout != nil && wrong != "":
		t.breaks(fmt.Sprintf("%s of %q is %s", state.Value, state.Of, wrong), t.known.seq)
	}
}

// closeCurrent ends the span that is looked at.
func (t *track) closeCurrent() {
	o, m := t.open, t.m
	t.spans = slices.DeleteFunc(t.spans, func(s *span) bool { return s == o })
	each := len(m.fields) > 0 && m.s.Since == nil // then something may have none
	switch {
	case m.least > 0 && !o.met:
		t.breaks(fmt.Sprintf("%q was seen %s%s, at least %d required", m.counted, Times(o.most), t.inAny(), m.least), seqs(o.counted)...)
	case m.s.First != nil && !o.met && each && o.first:
		return
	case m.s.First != nil && !o.met:
		missing := m.s.Then
		if !o.first {
			missing = m.s.First
		}
		t.breaks(fmt.Sprintf("%q was not seen", missing), o.evidence...)
	case m.s.Finally != nil && each && t.known == nil: // it is gone
		return
	case m.s.state() != nil:
		t.leaveState()
	}
	if t.broken == nil {
		t.complete, t.evidence = t.complete+1, o.evidence
	}
}

func (t *track) leaveState() {
	s, o := t.m.s, t.open
	state := s.state()
	none := fmt.Sprintf("no event of %q has %s", state.Of, state.Value)
	switch {
	case s.Finally != nil && t.known == nil:
		t.breaks(none + " at the end")
	case s.Finally != nil && t.known != nil:
		if wrong := state.mismatch(t.known.value); wrong != "" {
			t.breaks(fmt.Sprintf("%s of %q is %s", state.Value, state.Of, wrong), t.known.seq)
		}
		o.evidence = []uint64{t.known.seq}
	case s.Throughout != nil && !o.judged:
		t.breaks(none)
	case s.Eventually != nil && !o.met && t.known == nil:
		t.breaks(none)
	case s.Eventually != nil && !o.met:
		t.breaks(fmt.Sprintf("%s of %q is %s", state.Value, state.Of, state.mismatch(t.known.value)), t.known.seq)
	}
}

// endBy ends what is open, if it could be over by then.
func (t *track) endBy(end time.Duration) {
	s := t.m.s
	t.forEachOpen(func() {
		// mutant: a span that the end cuts off is over
		if t.open.since == 0 || s.Within != 0 && t.open.from+time.Duration(s.Within) <= end || s.Within == 0 && s.Until == nil {
			t.closeCurrent()
		}
	})
}

// breaks keeps the first reason why the statement does not hold.
func (t *track) breaks(reason string, evidence ...uint64) {
	if t.broken != nil {
		return
	}
	if t.key != "" {
		reason = fmt.Sprintf("of %s, %s", t.key, reason)
	}
	if t.open.since != 0 {
		reason += fmt.Sprintf(", since event %d", t.open.since)
		if len(evidence) == 0 {
			evidence = []uint64{t.open.since}
		}
	}
	t.broken = &broken{reason, evidence}
}

// Times says how often something is there: "1 time", "2 times".
func Times(n int) string {
	if n == 1 {
		return "1 time"
	}
	return fmt.Sprintf("%d times", n)
}

// mostEvidence is how many events are quoted for a count.
const mostEvidence = 20

func seqs(hits []hit) (all []uint64) {
	for _, h := range hits[max(0, len(hits)-mostEvidence):] {
		all = append(all, h.seq)
	}
	return all
}
