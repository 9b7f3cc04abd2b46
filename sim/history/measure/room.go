package measure

import (
	"cmp"
	"slices"
	"time"

	"nodestorm/sim/history"
)

// node is a Node of the API server.
type node struct {
	kind, capacity string // its instance type; "spot" or "on-demand"
	backed         bool   // it has a provider ID: a machine is behind it
	cpu, memory    int64  // allocatable: thousandths of a processor, bytes; 0 if it does not say
	created        time.Duration
	end            time.Duration // from when it is gone
	gone           bool
	deleting       bool          // asked for
	seen           time.Duration // when it was last heard of
}

func (m *Meter) seeNodeObject(r history.Entry) {
	n := m.node[r.Object.Name]
	if r.Verb == "create" && r.Detail.Text("subresource") == "" {
		n = &node{
			kind: r.Detail.Text("instanceType"), capacity: r.Detail.Text("capacity"),
			cpu: amount(r.Detail, "cpu"), memory: amount(r.Detail, "memory"), created: r.Virtual,
		}
		m.node[r.Object.Name] = n
		m.nodes = append(m.nodes, n)
	}
	if n == nil || n.gone {
		return
	}
	n.seen = max(n.seen, r.Virtual)
	n.backed = n.backed || r.Detail.Text("providerID") != ""
	n.deleting = n.deleting || r.Verb == "delete"
}

// ends is from when a Node is gone, if it is: of one that was deleted and of which no kubelet said so, what was last
// heard of it is the removal of a finalizer.
func (n *node) ends() (at time.Duration, gone bool) {
	if n.gone {
		return n.end, true
	}
	return n.seen, n.deleting
}

// change is what comes to a Node, or goes.
type change struct {
	at             time.Duration
	node           int
	cpu, requested int64 // thousandths of a processor: allocatable, and requested by pods
	memory, asked  int64 // the same in bytes
}

// changes are all of Nodes with machines and of the pods on them, in the order of time, until the end.
func (m *Meter) changes(end time.Duration) (all []change, nodes int) {
	place := map[*node]int{}
	put := func(c change, from, to time.Duration, leaves bool) {
		if from > end {
			return
		}
		c.at = from
		all = append(all, c)
		if leaves && to <= end {
			all = append(all, change{max(from, to), c.node, -c.cpu, -c.requested, -c.memory, -c.asked})
		}
	}
	for _, n := range m.nodes {
		if !n.backed {
			continue
		}
		place[n] = len(place)
		to, leaves := n.ends()
		put(change{node: place[n], cpu: n.cpu, memory: n.memory}, n.created, to, leaves)
	}
	for _, p := range m.pods {
		n := cmp.Or(p.node, m.node[p.name])
		at, on := place[n]
		if !p.placed || n == nil || !on {
			continue
		}
		to, leaves := n.ends()
		if p.gone && (!leaves || p.left < to) {
			to, leaves = p.left, true
		}
		put(change{node: at, requested: p.cpu, asked: p.memory}, p.bound, to, leaves)
	}
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	return all, len(place)
}

// stretch is what there is for a while, in all Nodes.
type stretch struct {
	from, to                      time.Duration
	cpu, requested, memory, asked int64
	free, scraps                  int64 // CPU that no pod requests; the part that is too little for a pod
}

// stretches calls each for every while in which nothing changes, with a pod's request on average.
func (m *Meter) stretches(end time.Duration, mean int64, each func(stretch)) {
	changes, n := m.changes(end)
	type room struct{ cpu, requested int64 }
	rooms := make([]room, n)
	var s stretch
	free := func(r room, sign int64) {
		left := max(0, r.cpu-r.requested)
		s.free += sign * left
		// mutant: all that is free is a scrap
		if left < mean {
			s.scraps += sign * left
		}
	}
	for i, c := range changes {
		r := &rooms[c.node]
		free(*r, -1)
		r.cpu, r.requested = r.cpu+c.cpu, r.requested+c.requested
		free(*r, 1)
		s.cpu, s.requested = s.cpu+c.cpu, s.requested+c.requested
		s.memory, s.asked = s.memory+c.memory, s.asked+c.asked
		s.from, s.to = c.at, end
		if i+1 < len(changes) {
			s.to = changes[i+1].at
		}
		if s.from = max(s.from, m.from); s.from < s.to {
			each(s)
		}
	}
}

// meanRequest is the CPU that a pod that needs a place requests on average, of those that request any.
func (m *Meter) meanRequest(end time.Duration) int64 {
	var sum, n int64
	for _, p := range m.pods {
		if p.waits && p.cpu > 0 && p.created <= end {
			sum, n = sum+p.cpu, n+1
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// room is how much of the Nodes' room was requested.
func (m *Meter) room(v Values, end time.Duration) {
	const none = "there has been no Node with a provider ID"
	mean, nodes := m.meanRequest(end), 0
	silentCPU, silentMemory := false, false
	for _, n := range m.nodes {
		if n.backed {
			nodes++
			silentCPU, silentMemory = silentCPU || n.cpu == 0, silentMemory || n.memory == 0
		}
	}
	var cpu, requested, memory, asked, free, scraps float64
	m.stretches(end, mean, func(s stretch) {
		took := (s.to - s.from).Seconds()
		cpu, requested = cpu+took*float64(s.cpu), requested+took*float64(s.requested)
		memory, asked = memory+took*float64(s.memory), asked+took*float64(s.asked)
		free, scraps = free+took*float64(s.free), scraps+took*float64(s.scraps)
	})
	part := func(name string, of, whole float64, silent bool, what string) {
		switch {
		case nodes == 0:
			v[name] = absent(none)
		case silent:
			v[name] = absent("a Node does not say how much %s it has for pods", what)
		case whole == 0:
			v[name] = absent("there was none in that time")
		default:
			v[name] = Value{Value: of / whole}
		}
	}
	part(CPURequested, requested, cpu, silentCPU, "CPU")
	part(MemoryRequested, asked, memory, silentMemory, "memory")
	part(CPUFragmented, scraps, free, silentCPU, "CPU")
	if mean == 0 && nodes > 0 {
		v[CPUFragmented] = absent("no pod that needs a place requests CPU")
	}
}

// Requested is the part of the allocatable CPU that pods request, in per cent, over the time until the end.
func (m *Meter) Requested(end time.Duration) (points []Point) {
	m.stretches(end, 0, func(s stretch) {
		if s.cpu > 0 {
			points = append(points, Point{s.from, 100 * float64(s.requested) / float64(s.cpu)})
		}
	})
	return points
}
