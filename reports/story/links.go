package story

import (
	"fmt"
	"iter"
	"strings"

	"nodestorm/sim/history"
	"nodestorm/sim/history/vocabulary"
)

// Link joins two objects: the way from a pod to its machine and back.
type Link struct {
	From, To uint32 // objects
	Why      string
	Event    uint32 // the event that shows it
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
	batch    []uint32          // pods that the autoscaler is making room for
	plans    map[string]*plan  // the last of each group
	machines map[string]uint32 // by name: their namespace is the cluster's
	// instances are a cloud's by their ID, with which the provider ID of a Node ends.
	instances map[string]uint32
}

// plan is a scale-up in an autoscaler's log.
type plan struct {
	object uint32
	pods   []uint32
	linked bool // something came of it
}

func newLinks(s *Story) *links {
	l := &links{s: s, known: map[[2]uint32]bool{}, byID: map[string]uint32{}, plans: map[string]*plan{},
		machines: map[string]uint32{}, instances: map[string]uint32{}, find: make(map[Object]uint32, len(s.Objects))}
	for i, o := range s.Objects {
		l.find[o] = uint32(i)
	}
	return l
}

// named is the object of that name, 0 if no event is about it.
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
		if kind.Resource == vocabulary.NodeClaims || kind.Resource == vocabulary.Machines || kind.Resource == vocabulary.Instances {
			l.join(f.providerID, e.Object, "same provider ID", i)
		} else if other := l.byID[f.providerID]; other != 0 {
			l.link(other, e.Object, "same provider ID", i)
		}
	}
	switch kind.Resource {
	case vocabulary.NodeClaims:
		l.link(e.Object, l.machine(f.providerID), "same provider ID", i)
	}
	switch kind.Resource {
	case vocabulary.Pods:
		if f.node != "" {
			node := l.named(vocabulary.Nodes, f.node)
			l.link(node, e.Object, "runs there", i)
			l.mention(i, node)
		}
	case vocabulary.NodeClaims, vocabulary.Machines:
		if kind.Resource == vocabulary.Machines && kind.Verb == "create" {
			name := l.s.Objects[e.Object].Name
			l.machines[name] = e.Object
			for group := range prefixes(name) { // a MachineDeployment's Machines begin with its name
				l.linkMachine(group, e.Object, i)
			}
		}
		if f.node != "" {
			l.link(e.Object, l.named(vocabulary.Nodes, f.node), "its Node", i)
		}
	case vocabulary.Nodes:
		if machine := l.machine(f.providerID); machine != 0 {
			l.link(machine, e.Object, "same provider ID", i)
		} else {
			l.link(l.named(vocabulary.Instances, l.s.Objects[e.Object].Name), e.Object, "same name", i)
		}
	case vocabulary.Instances:
		if f.id != "" {
			l.instances[f.id] = e.Object
		}
		if kind.Verb == "created" {
			l.link(l.machines[l.s.Objects[e.Object].Name], e.Object, "same name", i)
		}
		l.called(i, e, kind, f)
	}
}

// machine is the instance that a provider ID ends with: its ID or its name.
func (l *links) machine(providerID string) uint32 {
	id := providerID[strings.LastIndexByte(providerID, '/')+1:]
	if is := l.instances[id]; is != 0 || id == "" {
		return is
	}
	return l.find[Object{Resource: vocabulary.Instances, Name: id}]
}

// join remembers who has an ID first and links those that come later.
func (l *links) join(id string, object uint32, why string, event uint32) {
	if other := l.byID[id]; other != 0 {
		l.link(other, object, why, event)
		return
	}
	l.byID[id] = object
}

// called links what a cloud's events are about: calls, instances.
func (l *links) called(i uint32, e *Event, kind Kind, f facts) {
	if history.Source(kind.Source) != history.Cloud {
		return
	}
	for name := range strings.FieldsSeq(f.instances) {
		l.mention(i, l.find[Object{Resource: vocabulary.Instances, Name: name}])
	}
	if e.Object == 0 {
		return
	}
	o := l.s.Objects[e.Object]
	for _, id := range []string{o.Name, f.id} {
		if id == "" {
			continue
		}
		switch o.Resource {
		case vocabulary.Servers:
			l.link(e.Object, l.find[Object{Resource: vocabulary.Instances, Name: id}], "the machine of the call", i)
		case vocabulary.Instances:
			l.link(l.find[Object{Resource: vocabulary.Servers, Name: id}], e.Object, "the machine of the call", i)
		}
	}
	if kind.Resource == vocabulary.Servers && strings.HasPrefix(kind.Verb, "POST") {
		l.linkMachine(f.group, e.Object, i)
		for _, pod := range l.batch {
			l.link(pod, e.Object, "made room for", i)
		}
	}
}

// logged finds the objects that a line of the autoscaler's log mentions. Pods
// that it found no room for belong to the machines that it makes next.
func (l *links) logged(i uint32, f facts) {
	if f.pods != "" {
		if f.claim == "" && f.node == "" {
			l.batch = l.batch[:0]
		}
		for _, name := range strings.Split(f.pods, ", ") {
			pod := l.named(vocabulary.Pods, strings.TrimSpace(name))
			if pod == 0 {
				continue
			}
			l.mention(i, pod)
			if len(l.batch) < maxBatch {
				l.batch = append(l.batch, pod)
			}
		}
	}
	claim := l.named(vocabulary.NodeClaims, f.claim)
	if claim != 0 {
		l.mention(i, claim)
		if l.bare(claim) {
			for _, pod := range l.batch {
				l.link(pod, claim, "made room for", i)
			}
		}
	}
	l.mention(i, l.named(vocabulary.Nodes, f.node))
}

// planned makes an object of a scale-up and gives it the event: what the cloud is
// asked for in the group from then on belongs to it, until the next.
func (l *links) planned(i uint32, e *Event, f facts) {
	group := l.s.Objects[e.Object].Name
	p := &plan{object: uint32(len(l.s.Objects))}
	l.s.Objects = append(l.s.Objects, Object{Resource: vocabulary.ScaleUps, Name: fmt.Sprintf("%s %g → %g", group, f.from, f.size)})
	e.Object = p.object
	for _, name := range strings.Split(f.pods, ", ") {
		if pod := l.named(vocabulary.Pods, name); pod != 0 {
			l.mention(i, pod)
			p.pods = append(p.pods, pod)
		}
	}
	l.plans[group[strings.LastIndexByte(group, '/')+1:]] = p
}

// linkMachine links a machine, or the call for it, to the plan of its group and that to
// its pods. Plans of which nothing came are linked to nothing.
func (l *links) linkMachine(group string, machine uint32, event uint32) {
	p := l.plans[group]
	if p == nil {
		return
	}
	if !p.linked {
		p.linked = true
		for _, pod := range p.pods {
			l.link(pod, p.object, "made room for", event)
		}
	}
	l.link(p.object, machine, "asked for", event)
}

// prefixes are what comes before each dash of a name, the longest first.
func prefixes(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for end := strings.LastIndexByte(name, '-'); end > 0 && yield(name[:end]); end = strings.LastIndexByte(name[:end], '-') {
		}
	}
}

// bare reports whether a claim has no pods yet: its first line of the log names it
// right after the batch it was made for.
func (l *links) bare(claim uint32) bool {
	key := [2]uint32{claim, claim}
	if l.known[key] {
		return false
	}
	l.known[key] = true
	return true
}
