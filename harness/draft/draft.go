// Package draft makes a feature to start from out of what is left of a cluster that
// failed: audit logs, events, the autoscaler's log, dumps. Readers take each source into
// one Cluster; the writer knows nothing of the sources.
//
// What comes into a draft is chosen field by field: no variable's value, no annotation, no
// command line but the autoscaler's flags, and all of it passes reports/redact at last.
// Nothing that is read is trusted: sizes are bounded, and what cannot be read is named.
package draft

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"nodestorm/harness/draft/lines"
	"nodestorm/sim/oneline"
)

// The programs that a draft can be about, as targets are named.
const (
	Karpenter         = "karpenter"
	ClusterAutoscaler = "cluster-autoscaler"
)

// What is kept of the sources at most; a note says that there was more.
const (
	mostObjects = 20_000
	mostNotes   = 50
)

// Cluster is what the sources contain.
type Cluster struct {
	// Autoscaler is Karpenter or ClusterAutoscaler; empty if no source says.
	Autoscaler string
	// Version is its release, such as 1.33.0, Provider the value of --cloud-provider.
	Version, Provider string

	flags      []flag
	printed    bool // a log has all flags, given or not, as far as it goes
	nodes      map[string]*corev1.Node
	groupOf    map[string]string // of nodes, as the autoscaler says
	groups     map[string]*group
	pools      map[string]*unstructured.Unstructured
	priorities map[string]int32
	removed    []string       // nodes that the autoscaler removed, in the order of the sources
	unused     map[string]int // events that say nothing that a draft uses, by their reason
	pods       map[string]*pod
	notes      []string
	sources    []string // what was read, in a line each
	kept       int
	readAny    int // facts of the source that is being read
}

// flag is one of the autoscaler's command line.
type flag struct{ name, value string }

// group is a node group of Cluster Autoscaler's.
type group struct {
	name       string
	min, max   int
	size       int    // what it had when it was first heard of
	kind, zone string // of its machines, if a source says
	bounded    bool   // min and max are known
	sized      bool   // size is known
	topped     bool   // max is known, and min is not
}

// pod is one that is pending, or takes room on a node.
type pod struct {
	namespace, name string
	spec            *corev1.PodSpec // nil: no source has it
	labels          map[string]string
	node            string
	pending         bool
	done            bool // it has ended, and takes no room
	since           time.Time
	why             string // no node was found, in the scheduler's words
}

func newCluster() *Cluster {
	return &Cluster{
		nodes: map[string]*corev1.Node{}, groupOf: map[string]string{}, groups: map[string]*group{},
		pools: map[string]*unstructured.Unstructured{}, priorities: map[string]int32{}, pods: map[string]*pod{},
		unused: map[string]int{},
	}
}

// addNote keeps something that the reader of the draft should know.
func (c *Cluster) addNote(format string, args ...any) {
	text := oneline.Cut(fmt.Sprintf(format, args...), 300)
	if slices.Contains(c.notes, text) || len(c.notes) >= mostNotes {
		return
	}
	c.notes = append(c.notes, text)
}

// noteMissing notes what was not read of a file.
func (c *Cluster) noteMissing(in *lines.File) {
	for _, what := range in.Missing() {
		c.addNote("%s", what)
	}
}

// hasRoom reports whether there is room for another object.
func (c *Cluster) hasRoom() bool {
	if c.kept == mostObjects {
		c.addNote("there are more than %d nodes, pods, groups and pools: the rest is left out", mostObjects)
		return false
	}
	c.kept++
	return true
}

func (c *Cluster) pod(namespace, name string) *pod {
	namespace = cmp.Or(namespace, "default")
	key := namespace + "/" + name
	p := c.pods[key]
	if p == nil {
		p = &pod{namespace: namespace, name: name}
		if c.hasRoom() {
			c.pods[key] = p
		}
	}
	return p
}

func (c *Cluster) group(name string) *group {
	g := c.groups[name]
	if g == nil {
		g = &group{name: name}
		if name != "" && c.hasRoom() {
			c.groups[name] = g
		}
	}
	return g
}

// bounds are what the group may have at least and at most.
func (g *group) bounds(from, to int) {
	if from >= 0 && to >= from && to < 100_000 {
		g.min, g.max, g.bounded = from, max(to, 1), true
	}
}

// setFirstSize is the group's size when it is first heard of: that was before what went wrong.
func (g *group) setFirstSize(size int) {
	if !g.sized && size >= 0 {
		g.size, g.sized = size, true
	}
}

// markUnschedulable marks a pod that no node had room for.
func (p *pod) markUnschedulable(at time.Time, why string) {
	if p.since.IsZero() || !at.IsZero() && at.Before(p.since) {
		p.since = at
	}
	p.pending, p.why = true, cmp.Or(oneline.Cut(why, 300), p.why)
}

// runs records the program that any source names.
func (c *Cluster) runs(program, version string) {
	if c.Autoscaler == "" {
		c.Autoscaler = program
	}
	if c.Autoscaler == program {
		c.Version = cmp.Or(c.Version, strings.TrimPrefix(version, "v"))
	}
}

// flagged takes a flag of the autoscaler's command line. Only --nodes and the like are
// there more than once.
func (c *Cluster) flagged(name, value string) {
	f := flag{strings.ReplaceAll(strings.TrimLeft(name, "-"), "_", "-"), value}
	switch {
	case f.name == "cloud-provider":
		c.Provider = cmp.Or(c.Provider, f.value)
	case f.name == "nodes":
		c.nodesFlag(f.value)
	case !slices.Contains(c.flags, f):
		c.flags = append(c.flags, f)
	}
}

// pending are the pods that wanted a node, those that waited longest first.
func (c *Cluster) pending() (all []*pod) {
	for _, key := range slices.Sorted(maps.Keys(c.pods)) {
		if p := c.pods[key]; p.pending {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b *pod) int { return a.since.Compare(b.since) })
	return all
}

// began is when the first pod was without a node, as far as anybody knows.
func (c *Cluster) began() (at time.Time) {
	for _, p := range c.pods {
		if p.pending && !p.since.IsZero() && (at.IsZero() || p.since.Before(at)) {
			at = p.since
		}
	}
	return at
}

// AddNote keeps something that the reader of the draft should know.
func (c *Cluster) AddNote(text string) { c.addNote("%s", text) }
