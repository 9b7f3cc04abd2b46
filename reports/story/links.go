package story

import (
	"strings"

	"nodestorm/sim/history"
)

// Link joins two objects: the way from a pod to its machine and back.
type Link struct {
	From, To uint32 // objects
	Why      string
	Event    uint32 // the event that tells
}

// maxBatch bounds how many pods of one batch are linked to each of its claims:
// a batch of ten thousand pods and a hundred claims says nothing of any of them.
const maxBatch = 50

type links struct {
	s        *Story
	all      []Link
	mentions []Mention
	known    map[[2]uint32]bool
	byID     map[string]uint32 // provider ID, or the cloud's own → object
	find     map[Object]uint32
	batch    []uint32 // pods that the autoscaler is making room for
}

func newLinks(s *Story) *links {
	l := &links{s: s, known: map[[2]uint32]bool{}, byID: map[string]uint32{}, find: make(map[Object]uint32, len(s.Objects))}
	for i, o := range s.Objects {
		l.find[o] = uint32(i)
	}
	return l
}

// named is the object of that name, 0 if no record is about it.
func (l *links) named(resource, name string) uint32 {
	namespace, rest, found := strings.Cut(name, "/")
	if !found {
		namespace, rest = "", name
	}
	return l.find[Object{resource, namespace, rest}]
}

func (l *links) link(from, to uint32, why string, event uint32) {
	if from == 0 || to == 0 || from == to || l.known[[2]uint32{from, to}] {
		return
	}
	l.known[[2]uint32{from, to}], l.known[[2]uint32{to, from}] = true, true
	l.all = append(l.all, Link{from, to, why, event})
}

func (l *links) mention(event, object uint32) {
	if object != 0 {
		l.mentions = append(l.mentions, Mention{event, object})
	}
}

// lived links the object of an event to those that its detail names.
func (l *links) lived(i uint32, e *Event, kind Kind, f facts) {
	if f.providerID != "" {
		if kind.Resource == "nodeclaims" || kind.Resource == "machines" || kind.Resource == "instances" {
			l.join(f.providerID, e.Object, "same provider ID", i)
		} else if other := l.byID[f.providerID]; other != 0 {
			l.link(other, e.Object, "same provider ID", i)
		}
	}
	switch kind.Resource {
	case "pods":
		if f.node != "" {
			node := l.named("nodes", f.node)
			l.link(node, e.Object, "runs there", i)
			l.mention(i, node)
		}
	case "nodeclaims", "machines":
		if f.node != "" {
			l.link(e.Object, l.named("nodes", f.node), "its Node", i)
		}
	case "nodes":
		o := l.s.Objects[e.Object]
		l.link(l.named("instances", o.Name), e.Object, "same name", i)
	case "instances":
		l.called(i, e, kind, f)
	}
}

// join remembers who has an ID first and links those that come later.
func (l *links) join(id string, object uint32, why string, event uint32) {
	if other := l.byID[id]; other != 0 {
		l.link(other, object, why, event)
		return
	}
	l.byID[id] = object
}

// called links what a cloud's records are about: calls, instances.
func (l *links) called(i uint32, e *Event, kind Kind, f facts) {
	if history.Source(kind.Source) != history.Cloud || e.Object == 0 {
		return
	}
	o := l.s.Objects[e.Object]
	for _, id := range []string{o.Name, f.id, f.instance} {
		if id == "" {
			continue
		}
		if o.Resource == "servers" {
			l.link(e.Object, l.find[Object{Resource: "instances", Name: id}], "the machine of the call", i)
		} else if o.Resource == "instances" {
			l.link(l.find[Object{Resource: "servers", Name: id}], e.Object, "the machine of the call", i)
			l.link(e.Object, l.find[Object{Resource: "nodes", Name: id}], "same name", i)
		}
	}
	if kind.Resource == "servers" && strings.HasPrefix(kind.Verb, "POST") {
		for _, pod := range l.batch {
			l.link(pod, e.Object, "made room for", i)
		}
	}
}

// logged finds the objects that a line of the autoscaler's log tells of. Pods
// that it found no room for belong to the machines that it makes next.
func (l *links) logged(i uint32, e *Event, f facts) {
	if f.pods != "" {
		if f.claim == "" && f.node == "" {
			l.batch = l.batch[:0]
		}
		for _, name := range strings.Split(f.pods, ", ") {
			pod := l.named("pods", strings.TrimSpace(name))
			if pod == 0 {
				continue
			}
			l.mention(i, pod)
			if len(l.batch) < maxBatch {
				l.batch = append(l.batch, pod)
			}
		}
	}
	claim := l.named("nodeclaims", f.claim)
	if claim != 0 {
		l.mention(i, claim)
		if l.bare(claim) {
			for _, pod := range l.batch {
				l.link(pod, claim, "made room for", i)
			}
		}
	}
	l.mention(i, l.named("nodes", f.node))
}

// bare tells whether a claim has no pods yet: its first line of the log names it
// right after the batch it was made for.
func (l *links) bare(claim uint32) bool {
	key := [2]uint32{claim, claim}
	if l.known[key] {
		return false
	}
	l.known[key] = true
	return true
}
