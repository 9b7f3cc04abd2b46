package invariants

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"nodestorm/sim/history"
)

// world is what a history has shown so far of what the judges ask about.
type world struct {
	Subject
	now time.Duration // virtual

	instances map[string]*instance
	sizes     map[string]int // how many instances each group has that no call deletes
	nodes     map[string]*node
	pods      map[string]*pod
	faults    map[string]string // the effects of those that are armed, by their words
	plans     []*plan           // of Cluster Autoscaler, see seePlan
	claims    map[string]*claim
	fixed     map[string]bool // NodePools of a fixed size, whose claims are for no pods
	batch     batch
	programs  programs
	// act is when the scenario last did something, or a fault began or ended, cleared when one
	// ended.
	act, cleared time.Duration
	// misled is when a fault last had the cloud list what is not so, deaf when one last kept the
	// target from what the API server had to send it.
	misled, deaf moment
	// loops are those of Cluster Autoscaler since it was last started.
	loops int
	loop  time.Duration // when the last began
}

// instance is one of the cloud's.
type instance struct {
	name     string
	group    string // empty if it has none, or none any more
	id       string
	created  moment
	deleting moment // a call has asked for it, or it is gone
	gone     moment
	failed   moment   // it went off, or came to nothing
	faults   []string // the effects of those that took effect on it
}

// moment is that of an event. The zero is none.
type moment struct {
	at  time.Duration
	seq uint64
}

func (m moment) isSet() bool { return m.seq != 0 }

func momentOf(r *history.Entry) moment { return moment{r.Virtual, r.Seq} }

// node is a Node of the API.
type node struct {
	name       string
	registered moment
	ready      bool
	deleted    moment
	taints     map[string]moment // since when it has each, by key
	providerID string
	cpu        float64 // thousandths of a processor for pods; -1: unknown
}

// pod is one of the API.
type pod struct {
	name          string  // with its namespace
	cpu           float64 // thousandths of a processor that it requests; -1: unknown
	daemon        bool
	owner         string
	created       moment
	unschedulable moment
	node          string
	bound         moment
	evicted       moment // asked to go, or ended by itself
	deleted       moment
}

type programs struct {
	died    moment          // the target did, by itself
	started moment          // it was started again, or leads since then
	running map[string]bool // its processes, by their names
}

func newWorld(s Subject) *world {
	return &world{
		Subject: s, instances: map[string]*instance{}, sizes: map[string]int{}, nodes: map[string]*node{}, pods: map[string]*pod{},
		faults: map[string]string{}, programs: programs{running: map[string]bool{s.Actor: true}},
		claims: map[string]*claim{}, fixed: map[string]bool{},
		batch: batch{launched: map[string]*claim{}, known: map[string]bool{}, held: map[string]moment{}},
	}
}

// see takes in an event.
func (w *world) see(r *history.Entry) {
	w.now = r.Virtual
	switch r.Source {
	case history.Cloud:
		w.seeCloud(r)
	case history.API:
		if r.Code < 400 {
			w.seeAPI(r)
		}
	case history.Node:
		w.seeNode(r)
	case history.Fault:
		w.seeFault(r)
	case history.Step:
		if role := history.Role(r.Detail.Text("kind")); role == history.When || role == history.Given {
			w.act = r.Virtual
		}
	case history.Harness:
		w.seeProgram(r)
	case history.Logged:
		w.seeLog(r)
	}
	w.seePlan(r)
	w.seeBatch(r)
}

func (w *world) seeCloud(r *history.Entry) {
	if r.Object.Resource == "nodegroups" && r.Verb == "deleted" && r.Actor != w.Actor { // what it had is in no group now
		for _, i := range w.instances {
			if i.group == r.Object.Name {
				i.group = ""
			}
		}
		delete(w.sizes, r.Object.Name)
	}
	if r.Object.Resource != "instances" || r.Actor == w.Actor {
		return
	}
	i := w.instances[r.Object.Name]
	if i == nil || r.Verb == "created" {
		i = &instance{name: r.Object.Name, group: r.Detail.Text("group")}
		if id := number(r, "id"); id >= 0 {
			i.id = strconv.Itoa(int(id))
		}
		if i.created = momentOf(r); r.Verb != "created" {
			i.created = moment{}
		}
		w.instances[i.name] = i
		w.sizes[i.group]++
	}
	switch r.Verb {
	case "running":
		i.failed = moment{}
	case "deleting", "deleted":
		if !i.deleting.isSet() {
			i.deleting = momentOf(r)
			w.sizes[i.group]--
		}
		if r.Verb == "deleted" {
			i.gone = momentOf(r)
		}
	case "failed", "off":
		i.failed = momentOf(r)
	}
}

func (w *world) seeFault(r *history.Entry) {
	words := r.Detail.Text("fault")
	switch r.Verb {
	case history.Armed:
		w.faults[words] = r.Detail.Text("effect")
		w.act = r.Virtual
	case history.Cleared:
		delete(w.faults, words)
		w.act, w.cleared = r.Virtual, r.Virtual
	case history.Effective, history.Matched:
		w.act = r.Virtual
		if slices.Contains([]string{"stale", "partial", "missing"}, r.Detail.Text("effect")) { // they match only what they change
			// mutant: a list of servers that is wrong misleads no judge
			w.misled = momentOf(r)
		}
		if r.Actor == w.Actor && slices.Contains([]string{"freeze", "stale list"}, r.Detail.Text("effect")) {
			w.deaf = momentOf(r)
		}
		if i := w.instances[r.Object.Name]; i != nil && r.Verb == history.Effective {
			i.faults = append(i.faults, r.Detail.Text("effect"))
		}
	}
}

func (w *world) seeProgram(r *history.Entry) {
	if r.Actor != w.Actor {
		return
	}
	switch r.Verb {
	case history.Died:
		if !w.programs.died.isSet() {
			w.programs.died = momentOf(r)
		}
	case history.Killed, history.Stopped:
		// mutant: nothing goes on where one of two processes ends
		if delete(w.programs.running, r.Object.Name); len(w.programs.running) > 0 {
			w.programs.started = momentOf(r)
		}
	case history.Started:
		// mutant: one that stands by is taken for one that begins
		if len(w.programs.running) == 0 || w.programs.running[r.Object.Name] {
			w.programs.started, w.loops = momentOf(r), 0
		}
		w.programs.running[r.Object.Name] = true
	}
}

func (w *world) seeLog(r *history.Entry) {
	switch {
	case r.Actor != w.Actor:
	case r.Verb == "loop":
		w.loops, w.loop = w.loops+1, r.Virtual
	// A program does nothing until it leads: for 15s and more where the one before it kept the lease, which an end
	// by SIGTERM does as well when it hits a renewal.
	// mutant: a program works while another holds its lease
	case strings.HasPrefix(strings.ToLower(r.Detail.Text("message")), "successfully acquired lease"):
		w.programs.started = momentOf(r)
	}
}

// alive reports whether the target runs, as far as is known.
func (w *world) alive() bool { return !w.programs.died.isSet() && len(w.programs.running) > 0 }

// refused reports whether a fault is armed that may keep the cloud from what it is asked.
func (w *world) refused() bool {
	for _, effect := range w.faults {
		if slices.Contains([]string{"refuse", "hang", "rateLimit"}, effect) {
			return true
		}
	}
	return false
}

// misledSince reports whether the target may count fewer instances than there are, or pods that
// have a place: it has not heard of all that was since then, or it takes the size of a group from
// a list of servers, and such a list was not so.
func (w *world) misledSince(then moment) bool {
	// mutant: a list that was wrong once excuses all that is launched
	// mutant: a wrong list excuses clouds that do not go by it
	return w.deaf.seq > then.seq || w.hasFact(CountsServers) && w.misled.seq > then.seq
}

func (w *world) seeNode(r *history.Entry) {
	switch {
	case r.Object.Resource == "nodes" && r.Verb == "ready":
		w.node(r).ready = true
	case r.Object.Resource == "nodes" && (r.Verb == "notready" || r.Verb == "shutdown"):
		w.node(r).ready = false
	case r.Object.Resource == "pods" && r.Verb == "terminated":
		if p := w.pod(r); !p.evicted.isSet() { // a Job's has done its work: it is on no Node any more
			p.evicted, p.deleted = momentOf(r), momentOf(r)
		}
	}
}

func (w *world) seeAPI(r *history.Entry) {
	switch r.Object.Resource {
	case "nodes":
		w.seeAPINode(r)
	case "pods":
		w.seePod(r)
	case "nodeclaims":
		w.seeClaim(r)
	case "nodepools":
		if r.Verb == "create" {
			w.fixed[r.Object.Name] = number(r, "replicas") >= 0
		}
	}
}

func (w *world) seeAPINode(r *history.Entry) {
	if r.Object.Name == "" {
		return
	}
	n := w.node(r)
	if r.Verb == "create" {
		*n = node{name: n.name, registered: momentOf(r), taints: map[string]moment{}, cpu: number(r, "cpu")}
	}
	if id := r.Detail.Text("providerID"); id != "" {
		n.providerID = id
	}
	if _, has := r.Detail["taints"]; has {
		keys := taintKeys(r)
		for key := range n.taints {
			if !slices.Contains(keys, key) {
				delete(n.taints, key)
			}
		}
		for _, key := range keys {
			if _, had := n.taints[key]; !had {
				n.taints[key] = momentOf(r)
			}
		}
	}
	if r.Verb == "delete" {
		n.deleted = momentOf(r)
	}
}

// node is that of the event, which may be the first about it.
func (w *world) node(r *history.Entry) *node {
	n := w.nodes[r.Object.Name]
	if n == nil {
		n = &node{name: r.Object.Name, taints: map[string]moment{}, cpu: -1}
		w.nodes[n.name] = n
	}
	return n
}

// joined is the Node of an instance that is there.
func (w *world) joined(i *instance) *node {
	if n := w.nodes[i.name]; n != nil && n.registered.isSet() && !n.deleted.isSet() {
		return n
	}
	return nil
}

// cordoned reports whether nothing more is to come to the node.
func (n *node) cordoned() bool { return n.taints["node.kubernetes.io/unschedulable"].isSet() }

// taintKeys are the keys of the taints that an event of a Node has.
func taintKeys(r *history.Entry) (keys []string) {
	for _, taint := range r.Detail.Texts("taints") {
		taint, _, _ = strings.Cut(taint, ":")
		key, _, _ := strings.Cut(taint, "=")
		keys = append(keys, key)
	}
	return keys
}

func (w *world) pod(r *history.Entry) *pod {
	name := r.Object.Namespace + "/" + r.Object.Name
	p := w.pods[name]
	if p == nil {
		p = &pod{name: name, cpu: -1}
		w.pods[name] = p
	}
	return p
}

func (w *world) seePod(r *history.Entry) {
	if r.Object.Name == "" {
		return
	}
	p := w.pod(r)
	switch sub := r.Detail.Text("subresource"); {
	case r.Verb == "create" && sub == "":
		*p = pod{name: p.name, cpu: number(r, "cpu"), created: momentOf(r), owner: r.Detail.Text("owner"),
			daemon: strings.HasPrefix(r.Detail.Text("owner"), "DaemonSet/")}
	case sub == "binding":
		p.node, p.bound, p.unschedulable = r.Detail.Text("node"), momentOf(r), moment{}
	case sub == "eviction":
		p.evicted = momentOf(r)
	case r.Verb == "patch" && r.Detail.Text("reason") == "Unschedulable" && !p.unschedulable.isSet():
		p.unschedulable = momentOf(r)
	case r.Verb == "delete":
		if !p.evicted.isSet() {
			p.evicted = momentOf(r)
		}
		if number(r, "gracePeriodSeconds") == 0 {
			p.deleted = momentOf(r)
		}
	}
}

// number is a detail's, live or as read from a file; -1 if there is none.
func number(r *history.Entry, key string) float64 {
	if n, ok := r.Detail.Number(key); ok {
		return n
	}
	return -1
}
