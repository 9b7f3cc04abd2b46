package then

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"nodestorm/sim/history"
)

// taken is a call that the API server took, on the object itself or a part of it.
func taken(r history.Entry, resource, subresource string) bool {
	return r.Source == history.API && r.Code < 300 && r.Object.Resource == resource && r.Detail.Text("subresource") == subresource
}

// namespace is that of the pods of features.
const namespace = "default"

// nodes are what the API server has said of Nodes, by name.
type nodes map[string]*nodeState

type nodeState struct {
	created    uint64 // Seq of the event of it
	providerID string
	taints     []string
	gone       bool
}

func (n nodes) add(r history.Entry) {
	if r.Object.Resource != "nodes" {
		return
	}
	s := n[r.Object.Name]
	if s == nil {
		s = &nodeState{}
	}
	switch {
	case taken(r, "nodes", "") && r.Verb == "delete":
		s.gone = true
	case taken(r, "nodes", ""):
		if r.Verb == "create" {
			*s = nodeState{created: r.Seq}
		}
		s.providerID = cmp.Or(r.Detail.Text("providerID"), s.providerID)
		if taints := r.Detail.Texts("taints"); taints != nil {
			s.taints = taints
		}
	default:
		return
	}
	n[r.Object.Name] = s
}

// lookup is a Node that is there.
func (n nodes) lookup(name string) (*nodeState, error) {
	if s := n[name]; s != nil && !s.gone {
		return s, nil
	}
	return nil, fmt.Errorf("nodes %q not found", name)
}

// pods are those that whose is true of, by their names and what owns them ("" or KIND/NAME).
type pods struct {
	whose func(name, owner string) bool
	all   map[string]*podState
	bound map[string]string // Nodes of pods whose creation was answered after their binding, and comes later
	ever  bool
}

type podState struct {
	created     uint64 // Seq of the event of it
	node, phase string
}

// podsOf are those that are named as their owner, a Deployment's or one alone.
func podsOf(owner string) *pods {
	whose := func(name, of string) bool { return name == owner || strings.HasPrefix(of, "ReplicaSet/"+owner+"-") }
	return &pods{whose: whose, all: map[string]*podState{}, bound: map[string]string{}}
}

// everyPod is all of them but those of DaemonSets, which come and go with Nodes.
func everyPod() *pods {
	p := podsOf("")
	p.whose = func(_, of string) bool { return !strings.HasPrefix(of, "DaemonSet/") }
	return p
}

func (p *pods) add(r history.Entry) {
	if r.Object.Resource != "pods" || r.Object.Namespace != namespace {
		return
	}
	name := r.Object.Name
	if taken(r, "pods", "") && r.Verb == "create" {
		if p.whose(name, r.Detail.Text("owner")) {
			node := cmp.Or(r.Detail.Text("node"), p.bound[name])
			p.all[name], p.ever = &podState{created: r.Seq, node: node, phase: "Pending"}, true
		}
		delete(p.bound, name)
		return
	}
	s := p.all[name]
	if s == nil {
		if taken(r, "pods", "binding") {
			p.bound[name] = r.Detail.Text("node")
		}
		return
	}
	switch {
	case r.Source == history.Node && r.Verb == "running":
		s.phase = "Running"
	case r.Source == history.Node && r.Verb == "terminated":
		s.phase = "Succeeded"
		if code, _ := r.Detail.Int("exitCode"); code != 0 {
			s.phase = "Failed"
		}
	case taken(r, "pods", "binding"):
		s.node = r.Detail.Text("node")
	case taken(r, "pods", "eviction"), taken(r, "pods", "") && r.Verb == "delete":
		// Where a kubelet has it, only the kubelet's own deletion or one by force ends it.
		grace, given := r.Detail.Int("gracePeriodSeconds")
		if s.node == "" || s.phase == "Succeeded" || s.phase == "Failed" || given && grace == 0 {
			delete(p.all, name)
		}
	case r.Source == history.API && r.Code == http.StatusNotFound && s.node != "" && s.phase == "Pending":
		// Deleted while it was bound, it is gone at once: the API server took it for one without a kubelet.
		delete(p.all, name)
	}
}

// waiting are those that neither run nor have ended, in the order of their names.
func (p *pods) waiting() (names []string) {
	for name, s := range p.all {
		// mutant: a pod that waits is one that runs
		if s.phase == "Pending" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// instances are those that the cloud has, in the order of their creation.
type instances []instance

type instance struct {
	group string
	id    int
}

func (i *instances) add(r history.Entry) {
	if !life(r) {
		return
	}
	switch r.Verb {
	case "created":
		id, _ := r.Detail.Int("id")
		*i = append(*i, instance{r.Detail.Text("group"), id})
	case "deleted":
		id, _ := r.Detail.Int("id")
		*i = slices.DeleteFunc(*i, func(i instance) bool { return i.id == id })
	}
}

// life is an event of an instance's life, but for those of the machine inside it.
func life(r history.Entry) bool {
	return r.Source == history.Cloud && r.Object.Resource == "instances"
}

// twoStates are two states of one run.
type twoStates struct{ a, b state }

func (s twoStates) add(r history.Entry) { s.a.add(r); s.b.add(r) }

// entryFunc is a state that a function keeps.
type entryFunc func(r history.Entry)

func (t entryFunc) add(r history.Entry) { t(r) }
