package steps

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nodestorm/sim/history"
)

// count is a detail as it is in a live history or a stored one.
func count(r history.Record, key string) (int, bool) {
	switch n := r.Detail[key].(type) {
	case int:
		return n, true
	case int64:
		return int(n), true
	case float64:
		return int(n), true
	}
	return 0, false
}

// text is a detail; empty if there is none.
func text(r history.Record, key string) string {
	s, _ := r.Detail[key].(string)
	return s
}

// texts is a detail that is a list, as it is in a live history or a stored one.
func texts(r history.Record, key string) (list []string, ok bool) {
	switch l := r.Detail[key].(type) {
	case []string:
		return l, true
	case []any:
		for _, item := range l {
			s, _ := item.(string)
			list = append(list, s)
		}
		return list, true
	}
	return nil, false
}

// taken is a call that the API server took, on the object itself or a part of it.
func taken(r history.Record, resource, subresource string) bool {
	return r.Source == history.API && r.Code < 300 && r.Object.Resource == resource && text(r, "subresource") == subresource
}

// nodes are what the API server and the kubelets have said of Nodes, by name.
type nodes map[string]*nodeState

type nodeState struct {
	ready      string // status of the condition, with its reason
	was        bool   // Ready, at some time
	providerID string
	taints     []string
	gone       bool
}

func (n nodes) take(r history.Record) {
	if r.Object.Resource != "nodes" {
		return
	}
	s := n[r.Object.Name]
	if s == nil {
		s = &nodeState{}
	}
	switch {
	case r.Source == history.Node && r.Verb == "ready":
		s.ready, s.was = "True", true
	case r.Source == history.Node && r.Verb == "notready":
		s.ready = strings.TrimSuffix("False: "+text(r, "reason"), ": ")
	case taken(r, "nodes", "") && r.Verb == "delete":
		s.gone = true
	case taken(r, "nodes", ""):
		if r.Verb == "create" {
			*s = nodeState{was: s.was}
		}
		s.ready = cmp.Or(text(r, "ready"), s.ready)
		s.providerID = cmp.Or(text(r, "providerID"), s.providerID)
		if taints, ok := texts(r, "taints"); ok {
			s.taints = taints
		}
	default:
		return
	}
	n[r.Object.Name] = s
}

// get is a Node that is there.
func (n nodes) get(name string) (*nodeState, error) {
	if s := n[name]; s != nil && !s.gone {
		return s, nil
	}
	return nil, fmt.Errorf("nodes %q not found", name)
}

// ready tells whether a Node's condition has one of the statuses.
func (n nodes) ready(name string, statuses ...string) error {
	s, err := n.get(name)
	if err != nil {
		return err
	}
	status, _, _ := strings.Cut(s.ready, ":")
	switch {
	case s.ready == "":
		return fmt.Errorf("node %q says nothing about Ready", name)
	case !slices.Contains(statuses, status):
		return fmt.Errorf("node %q has Ready=%s", name, s.ready)
	}
	return nil
}

// pods are those that are named as their owner, a Deployment's or one alone.
type pods struct {
	owner string
	all   map[string]*podState
	ever  bool
}

type podState struct {
	node, phase, why string
	deleting         bool
}

func podsOf(owner string) *pods { return &pods{owner: owner, all: map[string]*podState{}} }

func (p *pods) take(r history.Record) {
	if r.Object.Resource != "pods" || r.Object.Namespace != namespace {
		return
	}
	name := r.Object.Name
	if taken(r, "pods", "") && r.Verb == "create" {
		if name == p.owner || strings.HasPrefix(text(r, "owner"), "ReplicaSet/"+p.owner+"-") {
			p.all[name], p.ever = &podState{node: text(r, "node"), phase: "Pending"}, true
		}
		return
	}
	s := p.all[name]
	if s == nil {
		return
	}
	switch {
	case r.Source == history.Node && r.Verb == "running":
		s.phase, s.why = "Running", ""
	case r.Source == history.Node && r.Verb == "terminated":
		s.phase = "Succeeded"
		if code, _ := count(r, "exitCode"); code != 0 {
			s.phase = "Failed"
		}
	case taken(r, "pods", "binding"):
		s.node, s.why = text(r, "node"), ""
	case taken(r, "pods", "status") && text(r, "message") != "":
		s.why = text(r, "message")
	case taken(r, "pods", "eviction"), taken(r, "pods", "") && r.Verb == "delete":
		// Where a kubelet has it, only the kubelet's own deletion or one by force ends it.
		s.deleting = true
		grace, given := count(r, "gracePeriodSeconds")
		if s.node == "" || s.phase == "Succeeded" || s.phase == "Failed" || given && grace == 0 {
			delete(p.all, name)
		}
	}
}

func (p *pods) running(want int) error {
	running := 0
	var other string
	for _, name := range slices.Sorted(maps.Keys(p.all)) {
		s := p.all[name]
		if s.phase == "Running" && !s.deleting {
			running++
		} else if other == "" {
			other = "; " + name + " " + s.String()
		}
	}
	if running >= want {
		return nil
	}
	missing := ""
	if n := want - len(p.all); n > 0 {
		missing = fmt.Sprintf(", %d not there", n)
	}
	return fmt.Errorf("%d of %d Running%s%s", running, want, missing, other)
}

func (s *podState) String() string {
	how := s.phase
	if s.deleting {
		how = "being deleted, " + how
	}
	if s.node != "" {
		how += " on " + s.node
	}
	if s.why != "" {
		how += ": " + s.why
	}
	return how
}

// instances are those that the cloud has, in the order of their creation.
type instances []instance

type instance struct {
	name, group, kind string
	id                int
}

func (i *instances) take(r history.Record) {
	if !life(r) {
		return
	}
	switch r.Verb {
	case "created":
		id, _ := count(r, "id")
		*i = append(*i, instance{r.Object.Name, text(r, "group"), text(r, "type"), id})
	case "deleted":
		id, _ := count(r, "id")
		*i = slices.DeleteFunc(*i, func(i instance) bool { return i.id == id })
	}
}

// life is a record of an instance's life, but for those of the machine inside it.
func life(r history.Record) bool {
	return r.Source == history.Cloud && r.Object.Resource == "instances"
}

// both are two states of one run.
type both struct{ a, b state }

func (s both) take(r history.Record) { s.a.take(r); s.b.take(r) }

// taking is a state that a function keeps.
type taking func(r history.Record)

func (t taking) take(r history.Record) { t(r) }

// joined are the Nodes of servers.
type joined struct {
	nodes     nodes
	instances instances
}

func (j *joined) take(r history.Record) { j.nodes.take(r); j.instances.take(r) }

// hasProviderID makes sure that a Node has the provider ID of the server of its name.
func (j *joined) hasProviderID(name string) error {
	n, err := j.nodes.get(name)
	if err != nil {
		return err
	}
	for _, i := range j.instances {
		if i.name == name {
			if want := fmt.Sprintf("hcloud://%d", i.id); n.providerID != want {
				return fmt.Errorf("node %q has the provider ID %q, and its server %q", name, n.providerID, want)
			}
			return nil
		}
	}
	return fmt.Errorf("node %q is no server", name)
}
