package crosscheck

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"nodestorm/sim/history"
)

// facts are what a history has of the autoscaler's doings.
type facts struct {
	raised  []call            // calls that make a group larger
	removed []call            // calls that delete instances
	scaled  []call            // writes of a size, which may do either
	events  []call            // calls that write events
	failed  []call            // instances that could not be created
	faults  []call            // what faults have acted on
	ids     map[string]string // of instances, to their names
	nodes   map[string]string // of instances, to the names of their Nodes where those are others
	cloud   bool              // whether the autoscaler calls a cloud of ours
	end     time.Duration
	ends    []time.Duration // of the autoscaler, by its own or others' doing, and of the history
}

// call is one call, of a cloud or of the API server.
type call struct {
	seq         uint64
	at          time.Duration
	group, node string
	n           int // the size that a write asks for; -1 is unknown
	granted     bool
	code, text  string // of an event
}

// The kinds of objects that Cluster API's groups are, by their resource.
var scalable = map[string]string{"machinedeployments": "MachineDeployment", "machinesets": "MachineSet", "machinepools": "MachinePool"}

func factsOf(events iter.Seq[history.Entry]) facts {
	f := facts{ids: map[string]string{}, nodes: map[string]string{}}
	for r := range events {
		f.end = max(f.end, r.Virtual)
		f.cloud = f.cloud || r.Source == history.Cloud && r.Actor == Program
		c := call{seq: r.Seq, at: r.Virtual, group: r.Detail.Text("group"), granted: r.Code < 400}
		switch {
		case r.Source == history.Cloud && r.Verb == "created":
			if id, ok := r.Detail.Int("id"); ok {
				f.ids[strconv.Itoa(id)] = r.Object.Name
			}
		case r.Source == history.Node && r.Verb == "boot":
			f.nodes[r.Object.Name] = r.Detail.Text("node")
		case r.Source == history.Cloud && r.Verb == "failed" && r.Object.Resource == "instances":
			f.failed = append(f.failed, c)
		case r.Source == history.Cloud && r.Verb == "failed" && r.Object.Resource == "nodegroups":
			c.group = r.Object.Name
			f.failed = append(f.failed, c)
		case r.Source == history.Harness && (r.Object.Name == Program || r.Actor == Program) &&
			slices.Contains([]string{history.Killed, history.Stopped, history.Died}, r.Verb):
			f.ends = append(f.ends, r.Virtual)
		case r.Source == history.Fault && (r.Verb == history.Matched || r.Verb == history.Effective):
			f.faults = append(f.faults, c)
		case r.Actor != Program:
		case r.Source == history.Cloud && r.Verb == "NodeGroupIncreaseSize":
			c.group = r.Object.Name
			f.raised = append(f.raised, c)
		case r.Source == history.Cloud && r.Verb == "POST /servers":
			c.node = r.Object.Name
			f.raised = append(f.raised, c)
		case r.Source == history.Cloud && r.Verb == "SetDesiredCapacity":
			c.n = -1
			if to, ok := r.Detail.Int("to"); ok {
				c.n = to
			}
			f.scaled = append(f.scaled, c)
		case r.Source == history.Cloud && r.Verb == "TerminateInstanceInAutoScalingGroup":
			c.node = cmp.Or(f.nodes[r.Object.Name], r.Object.Name)
			f.removed = append(f.removed, c)
		case r.Source == history.Cloud && (r.Verb == "NodeGroupDeleteNodes" || r.Verb == "DELETE /servers/{id}"):
			if r.Object.Resource == "nodegroups" {
				c.group = r.Object.Name
			} else {
				c.node = r.Object.Name
			}
			// mutant: of a deletion of several the first was deleted
			together := r.Detail.Texts("instances")
			if len(together) == 0 {
				f.removed = append(f.removed, c)
			}
			for _, c.node = range together {
				f.removed = append(f.removed, c)
			}
		case r.Source == history.API && r.Object.Resource == "events":
			c.code, c.text = r.Detail.Text("reason"), r.Detail.Text("message")
			f.events = append(f.events, c)
		case r.Source == history.API && scalable[r.Object.Resource] != "" && r.Detail.Text("subresource") == "scale" &&
			(r.Verb == "update" || r.Verb == "patch"):
			c.group = scalable[r.Object.Resource] + "/" + r.Object.Namespace + "/" + r.Object.Name
			c.n = -1 // in histories of before it was noted
			if size, ok := r.Detail.Int("replicas"); ok {
				c.n = size
			}
			f.scaled = append(f.scaled, c)
		}
	}
	f.ends = append(f.ends, f.end)
	return f
}

// atEnd reports whether the autoscaler may have ended before it did what it logged.
func (f *facts) atEnd(at time.Duration) bool {
	return slices.ContainsFunc(f.ends, func(end time.Duration) bool { return at >= end-lastWords && at <= end+lastWords })
}

// instance is the name of what the autoscaler calls a node, or an instance without one.
func (f *facts) instance(called string) string {
	scheme, name, ok := strings.Cut(called, "://")
	if !ok {
		return called
	}
	switch known := f.ids[name]; {
	case known != "" && scheme == "hcloud":
		return known
	case scheme == "aws": // aws:///ZONE/INSTANCE
		name = name[strings.LastIndexByte(name, '/')+1:]
		return cmp.Or(f.nodes[name], name)
	}
	return name
}

// placeholder is how Cluster Autoscaler calls instances that an Auto Scaling group of AWS owes: it deletes them by a write of its size.
const placeholder = "i-placeholder-"

// faulty reports whether a fault has acted between two times, on the group or on nothing that is known to be of
// another.
func (f *facts) faulty(group string, from, to time.Duration) bool {
	for _, hit := range f.faults {
		if hit.at >= from && hit.at <= to && (hit.group == "" || hit.group == group) {
			return true
		}
	}
	return false
}
