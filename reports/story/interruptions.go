package story

import (
	"slices"
	"strings"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
)

// troubles are what a cloud says of an instance before it takes it, or that it has trouble with it.
var troubles = []string{"interrupted", "impaired", "maintenance"}

// interruptions follow instances from their cloud's word to the drained Node.
type interruptions struct {
	of      map[uint32]*interruption // by the instance
	machine map[uint32]uint32        // of a Node or a claim its instance
	node    map[uint32]uint32        // of an instance its Node
	place   map[uint32]uint32        // of a pod its Node
	pods    map[uint32]int           // of a Node: how many pods have to leave it
}

// interruption is what becomes of one instance since its cloud's word.
type interruption struct {
	*life
	verb     string // the word
	draining bool
	lost     bool // the instance is gone, and pods are on its Node still
}

func newInterruptions() *interruptions {
	return &interruptions{of: map[uint32]*interruption{}, machine: map[uint32]uint32{}, node: map[uint32]uint32{},
		place: map[uint32]uint32{}, pods: map[uint32]int{}}
}

// interrupted takes an event that says something of l's state, which has it already.
func (w *walk) interrupted(i uint32, l *life, kind Kind, f facts) {
	e := &w.s.Events[i]
	switch kind.Resource {
	case vocabulary.Instances:
		w.trouble(i, l, kind)
	case vocabulary.Nodes, vocabulary.NodeClaims, vocabulary.Machines:
		if machine := w.links.machine(f.providerID); machine != 0 {
			w.taken.machine[e.Object] = machine
			if kind.Resource == vocabulary.Nodes {
				w.taken.node[machine] = e.Object
			}
		}
		is := w.taken.of[w.taken.machine[e.Object]]
		switch {
		case is == nil:
		case kind.Resource == vocabulary.Nodes && l.gone:
			w.taken.finish(is, e.Virtual)
		case l.dying, f.cordoned && w.s.Run.Autoscaler != "" && strings.HasPrefix(kind.Actor, w.s.Run.Autoscaler):
			w.drain(i, is)
		}
	case vocabulary.Pods:
		w.lodge(i, l, kind, f)
	}
}

// trouble begins with a cloud's word, and ends with the instance if nothing is left on its Node.
func (w *walk) trouble(i uint32, l *life, kind Kind) {
	e := &w.s.Events[i]
	is := w.taken.of[e.Object]
	switch {
	case slices.Contains(troubles, kind.Verb):
		if is == nil || is.gone {
			is = &interruption{life: &life{Life: Life{Group: Interruptions, Label: l.Label, Object: e.Object}}}
			w.taken.of[e.Object] = is
			w.order = append(w.order, is.life)
		}
		is.verb = kind.Verb
		is.enterState(e.Virtual, Waiting, kind.Verb, i)
	case is == nil || is.gone || !l.gone:
	case w.taken.pods[w.taken.node[e.Object]] > 0:
		is.lost = true
		is.enterState(e.Virtual, Wrong, "gone, not drained", i)
	default:
		is.finish(e.Virtual)
	}
	if is != nil {
		is.lastSeen = e.Virtual
	}
}

// interruptedCall takes a call by which a program may learn of an interruption.
func (w *walk) interruptedCall(i uint32, f facts) {
	for message := range strings.SplitSeq(f.messages, "\n") {
		verb, name, _ := strings.Cut(message, " ")
		is := w.taken.of[w.links.find[Object{Resource: vocabulary.Instances, Name: name}]]
		if is != nil && is.verb == verb && !is.draining && !is.lost && !is.gone {
			is.enterState(w.s.Events[i].Virtual, Waiting, "message received", i)
		}
	}
}

// drain begins when pods are kept off the Node, or it or its claim is deleted.
func (w *walk) drain(i uint32, is *interruption) {
	if is.draining || is.lost || is.gone {
		return
	}
	is.draining = true
	is.enterState(w.s.Events[i].Virtual, Ending, "draining", i)
	w.drained(i, w.taken.node[is.Object])
}

// drained notes that no pod is left that has to leave the Node.
func (w *walk) drained(i, node uint32) {
	is := w.taken.of[w.taken.machine[node]]
	if node == 0 || is == nil || is.gone || w.taken.pods[node] > 0 {
		return
	}
	switch t := w.s.Events[i].Virtual; {
	case is.lost:
		is.finish(t)
	case is.draining:
		is.enterState(t, Good, "drained", i)
	}
}

// lodge counts the pods on each Node, but those that stay as long as it does.
func (w *walk) lodge(i uint32, l *life, kind Kind, f facts) {
	e := &w.s.Events[i]
	before := w.taken.place[e.Object]
	left := l.gone || history.Source(kind.Source) == history.Node && kind.Verb == "terminated"
	switch {
	case l.daemon:
	case before == 0 && l.bound && !left:
		if node := w.links.named(vocabulary.Nodes, f.node); node != 0 {
			w.taken.place[e.Object] = node
			w.taken.pods[node]++
		}
	case before != 0 && left:
		delete(w.taken.place, e.Object)
		w.taken.pods[before]--
		w.drained(i, before)
	}
}

// finish is when the Node of an interrupted instance is gone: nothing can be left to drain.
func (t *interruptions) finish(is *interruption, at time.Duration) {
	if is.lost {
		is.life.finish(at)
	}
}
