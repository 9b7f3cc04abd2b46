package story

import (
	"strings"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
)

// Tone is how a state looks: what of it a reader must know without reading.
type Tone uint8

// The tones.
const (
	Neutral Tone = iota
	Waiting      // under way, nothing wrong yet
	Good
	Wrong
	Ending
)

// Span is a state of something for a while.
type Span struct {
	From, To time.Duration
	Tone     Tone
	Label    string
	Event    uint32 // the event that began it
}

// Life is what became of one thing: a node, a pod, a claim, an instance, a
// fault, the steps.
type Life struct {
	Group  string
	Label  string
	Object uint32 // 0 for none
	Spans  []Span
	// Under are the taints of a node.
	Under []Span
}

// Groups of lives that are of no resource; the others are the vocabulary's.
const (
	Steps  = "Steps"
	Faults = "Faults"
	// Interruptions are what becomes of an instance that its cloud is going to take, or has trouble with.
	Interruptions = "Interruptions"
)

// planned is the verb of a scale-up in an autoscaler's log: its object is the group,
// its details say for which pods.
const planned = "plan"

// life is a Life that is being lived.
type life struct {
	Life
	resource        string
	born, dying     bool
	gone            bool
	lastSeen        time.Duration
	wasReady        bool
	ready, taints   string
	tainted         bool
	phase, provider string
	bound, running  bool
	daemon          bool
	place           string   // of an instance: its type, where it is, which capacity
	counted         []string // the curves that it counts in now
}

// live goes through the events in order and makes lives, links, curves and
// decisions.
func (b *Builder) live() {
	s := &b.story
	w := walk{s: s, facts: b.facts, lives: map[uint32]*life{}, faults: map[string]*life{}, links: newLinks(s),
		counts: newCounts(), namer: newNamer(),
		taken: newInterruptions()}
	for i := range s.Events {
		w.event(uint32(i))
	}
	w.finish()
}

type walk struct {
	s      *Story
	facts  []facts
	lives  map[uint32]*life
	order  []*life // lives, as they began
	faults map[string]*life
	steps  *life
	since  time.Duration // the end of the step before
	links  *links
	counts *counts
	namer  *namer
	taken  *interruptions
}

func (w *walk) event(i uint32) {
	e := &w.s.Events[i]
	kind, f := w.s.Kinds[e.Kind], w.facts[e.facts]
	switch history.Source(kind.Source) {
	case history.Step:
		w.step(i, f)
	case history.Fault:
		w.fault(i, kind, f)
	case history.Harness:
		w.install(i, kind, f)
	case history.Logged:
		switch {
		case kind.Resource != vocabulary.NodeGroups:
		case kind.Verb == planned:
			w.links.planned(i, e, f)
			return
		case f.sized:
			w.counts.resize(e.Object, e.Virtual, f.size)
		}
		w.links.logged(i, f)
	case history.API, history.Node, history.Cloud:
		if kind.Code >= 300 {
			w.decide(i, kind, f)
			return
		}
		if f.sized && vocabulary.ResourceNamed(kind.Resource).Sized {
			w.counts.resize(e.Object, e.Virtual, f.size)
		}
		w.object(i, kind, f)
		w.decide(i, kind, f)
	}
}

// object lives on by what an event says of it.
func (w *walk) object(i uint32, kind Kind, f facts) {
	e := &w.s.Events[i]
	group := vocabulary.ResourceNamed(kind.Resource).Group
	if e.Object == 0 || group == "" || kind.IsCall() { // a call says nothing of what became of it
		w.links.called(i, e, kind, f)
		w.interruptedCall(i, f)
		return
	}
	l := w.lives[e.Object]
	if l == nil {
		l = &life{Life: Life{Group: group, Label: w.s.Objects[e.Object].Name, Object: e.Object}, resource: kind.Resource}
		w.lives[e.Object] = l
		w.order = append(w.order, l)
	}
	l.lastSeen = e.Virtual
	before := [...]string{l.ready, l.taints, l.phase, l.provider}
	switch kind.Resource {
	case vocabulary.Nodes:
		l.node(i, e.Virtual, kind, f)
	case vocabulary.Pods:
		l.pod(i, e.Virtual, kind, f)
	case vocabulary.NodeClaims, vocabulary.Machines:
		l.claim(i, e.Virtual, kind, f)
	case vocabulary.Instances:
		l.instance(i, e.Virtual, kind, f)
	}
	if f.providerID != "" {
		l.provider = f.providerID
	}
	after := [...]string{l.ready, l.taints, l.phase, l.provider}
	if (kind.Verb == "patch" || kind.Verb == "update") && before == after && !f.changes && f.reason == "" && e.Flags&Evidence == 0 {
		e.Flags |= Noise // it repeats what is known
	}
	w.counts.see(l, e.Virtual)
	w.links.lived(i, e, kind, f)
	w.interrupted(i, l, kind, f)
}

// enterState begins a new state at t, unless it is that already.
func (l *life) enterState(t time.Duration, tone Tone, label string, event uint32) {
	l.Spans = push(l.Spans, t, tone, label, event)
}

// push ends the last span at t and begins another; an empty label begins none.
func push(spans []Span, t time.Duration, tone Tone, label string, event uint32) []Span {
	if n := len(spans); n > 0 && spans[n-1].To == open {
		if spans[n-1].Label == label && spans[n-1].Tone == tone {
			return spans
		}
		spans[n-1].To = max(t, spans[n-1].From)
	}
	if label == "" {
		return spans
	}
	return append(spans, Span{t, open, tone, label, event})
}

// open is the end of a span that has none yet.
const open = time.Duration(1<<63 - 1)

func (l *life) node(i uint32, t time.Duration, kind Kind, f facts) {
	fromAPI := history.Source(kind.Source) == history.API
	switch {
	case fromAPI && kind.Verb == "delete":
		l.dying = true
		l.enterState(t, Ending, "deleting", i)
		return
	case !fromAPI && kind.Verb == "deleted":
		l.finish(t)
		return
	case !fromAPI && kind.Verb == "register":
		l.born = true
	case !fromAPI && kind.Verb == "ready":
		l.ready = "True"
	case !fromAPI && kind.Verb == "notready":
		l.ready = "False"
	case fromAPI && kind.Verb == "create":
		l.born = true
		fallthrough
	case fromAPI:
		if f.ready != "" && (l.ready == "" || f.ready != "False" || l.wasReady) {
			l.ready = f.ready
		}
		if f.tainted && f.taints != l.taints || f.tainted && !l.tainted {
			l.taints, l.tainted = f.taints, true
			l.Under = push(l.Under, t, Neutral, l.taints, i)
		}
	}
	if l.dying {
		return
	}
	switch {
	case l.ready == "True":
		l.wasReady = true
		l.enterState(t, Good, "Ready", i)
	case l.ready == "Unknown":
		l.enterState(t, Wrong, "Unknown", i)
	case l.wasReady:
		l.enterState(t, Wrong, "NotReady", i)
	case l.born:
		l.enterState(t, Waiting, "NotReady", i)
	}
}

func (l *life) pod(i uint32, t time.Duration, kind Kind, f facts) {
	switch {
	case kind.Verb == "delete":
		l.dying = true
		l.enterState(t, Ending, "deleting", i)
	case kind.Verb == "create" && kind.Subresource == "binding":
		l.born, l.bound = true, true
		l.enterState(t, Neutral, "bound to "+f.node, i)
	case kind.Verb == "create" && kind.Subresource == "":
		l.born, l.daemon = true, f.daemon
		l.enterState(t, Waiting, "pending", i)
	case kind.Verb == "patch" && f.reason == "Unschedulable" && !l.bound:
		l.enterState(t, Waiting, "unschedulable", i)
	case kind.Verb == "running":
		l.born, l.bound, l.running = true, true, true
		l.enterState(t, Good, "running on "+f.node, i)
	case kind.Verb == "waiting":
		l.enterState(t, Waiting, "waiting: "+f.reason, i)
	case kind.Verb == "terminated":
		l.running = false
		l.enterState(t, Ending, "terminated", i)
		if l.dying {
			l.finish(t)
		}
	}
}

func (l *life) claim(i uint32, t time.Duration, kind Kind, f facts) {
	switch kind.Verb {
	case "delete":
		l.dying = true
		l.enterState(t, Ending, "deleting", i)
		return
	case "create":
		l.born = true
		l.enterState(t, Waiting, "created", i)
	}
	if f.phase != "" && f.phase != l.phase && !l.dying {
		l.phase, l.born = f.phase, true
		tone := Waiting
		if f.phase == "Initialized" {
			tone = Good
		}
		l.enterState(t, tone, strings.ToLower(f.phase), i)
	}
}

func (l *life) instance(i uint32, t time.Duration, kind Kind, f facts) {
	switch kind.Verb {
	case "created":
		l.born, l.place = true, f.place
		l.enterState(t, Waiting, "creating", i)
	case "running":
		l.born = true
		label := "running"
		if l.place != "" {
			label += ": " + l.place
		}
		l.enterState(t, Good, label, i)
	case "off", "failed":
		l.enterState(t, Wrong, kind.Verb, i)
	case "deleted":
		l.finish(t)
	default:
		if history.Source(kind.Source) == history.Cloud {
			l.enterState(t, Waiting, kind.Verb, i)
		}
	}
}

func (l *life) finish(t time.Duration) {
	l.gone = true
	l.Spans = push(l.Spans, t, Neutral, "", 0)
	l.Under = push(l.Under, t, Neutral, "", 0)
}

// step makes the steps a life: each lasts from the end of the one before.
func (w *walk) step(i uint32, f facts) {
	e := &w.s.Events[i]
	if w.steps == nil {
		w.steps = &life{Life: Life{Group: Steps, Label: "scenario"}}
	}
	tone := Good
	switch w.s.Kinds[e.Kind].Verb {
	case "passed":
	case "skipped":
		tone = Neutral
	default:
		tone = Wrong
	}
	w.steps.Spans = append(w.steps.Spans, Span{min(w.since, e.Virtual), e.Virtual, tone, f.state, i})
	w.since = e.Virtual
}

// fault makes each fault a life: armed, effective, cleared. One that is armed for
// an object of its own is kept apart from those on others.
func (w *walk) fault(i uint32, kind Kind, f facts) {
	e := &w.s.Events[i]
	o := w.s.Objects[e.Object]
	label := f.state
	if label == "" {
		label = kind.Actor
	}
	if o.Name != "" && w.faults[label] == nil { // armed for all, it is one fault
		label += " on " + o.Name
	}
	l := w.faults[label]
	if l == nil {
		l = &life{Life: Life{Group: Faults, Label: label, Object: e.Object}}
		w.faults[label] = l
		w.order = append(w.order, l)
	}
	l.lastSeen = e.Virtual
	switch kind.Verb {
	case "armed":
		l.enterState(e.Virtual, Waiting, "armed", i)
	case "matched": // "effective" says more, and comes once
	case "effective":
		l.enterState(e.Virtual, Wrong, "effective", i)
	case "cleared":
		l.finish(e.Virtual)
	default:
		l.enterState(e.Virtual, Neutral, kind.Verb, i)
	}
}

// finish closes what is open and hands everything over.
func (w *walk) finish() {
	s := w.s
	if w.steps != nil {
		s.Lives = append(s.Lives, w.steps.Life)
	}
	for _, l := range w.order {
		if len(l.Spans) == 0 {
			continue
		}
		end := max(s.End, l.lastSeen)
		if l.dying && !l.gone {
			// A finalizer's removal is the last that is heard of what was deleted.
			end = l.lastSeen
			w.counts.endLate(l, end)
		}
		closeAt(l.Spans, end)
		closeAt(l.Under, end)
		s.Lives = append(s.Lives, l.Life)
	}
	s.Curves = w.counts.curves(s.Begin)
	s.Links, s.Mentions = w.links.all, w.links.mentions
	s.Decisions = w.namer.decisions
}

func closeAt(spans []Span, end time.Duration) {
	if n := len(spans); n > 0 && spans[n-1].To == open {
		spans[n-1].To = max(end, spans[n-1].From)
	}
}
