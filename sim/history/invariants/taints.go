package invariants

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"nodestorm/sim/history"
)

const (
	toBeDeleted = "ToBeDeletedByClusterAutoscaler"
	candidate   = "DeletionCandidateOfClusterAutoscaler"
)

// mark is one of a candidate that stays with pods on its Node.
type mark struct {
	node        *node
	since, seen uint64 // events
	loops       int    // with pods
}

// taintHygiene: a mark stays no longer than its reason.
func taintHygiene(w *world, broken breaks) judge {
	needed := map[string]int{} // the loop from which on a candidate is needed again
	var stays []*mark
	return judge{see: func(r *history.Entry) {
		switch {
		case r.Source == history.API && r.Object.Resource == "nodes" && r.Code < 400:
			if n := w.nodes[r.Object.Name]; n != nil && w.busy(n) {
				if _, goes := n.taints[toBeDeleted]; goes { // with its pods, so that it was none that is needed
					stays = slices.DeleteFunc(stays, func(m *mark) bool { return m.node == n })
				}
			}
		case r.Source == history.API && r.Detail.Text("subresource") == "binding" && r.Code < 400:
			p := w.pods[r.Object.Namespace+"/"+r.Object.Name]
			if n := w.nodes[r.Detail.Text("node")]; n != nil && p != nil && !p.daemon {
				if _, marked := n.taints[candidate]; marked {
					needed[n.name] = w.loops
				}
			}
		case r.Source == history.Logged && r.Verb == "loop":
			for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
				n := w.nodes[name]
				// mutant: a Node without a machine is to be unmarked
				if i := w.instances[name]; n.deleted.isSet() || i != nil && i.gone.isSet() {
					continue // of a machine that is gone, its Node is another's to remove
				}
				if since, marked := n.taints[toBeDeleted]; marked {
					left := since.at < w.programs.started.at && w.loops > 3
					// mutant: a mark from before a restart may stay
					if left || w.now-since.at > drains {
						broken(fmt.Sprintf("%s is still marked %s", name, toBeDeleted), since.seq, r.Seq)
					}
				}
				since, marked := n.taints[candidate]
				if i := w.instances[name]; i != nil && i.group == "" {
					marked = false // its group is taken away, and no group has it
				}
				_, goes := n.taints[toBeDeleted] // with its pods
				if from, is := needed[name]; is && marked && !goes && w.loops > from+8 && w.busy(n) && !w.light(n) {
					stays = append(stays, &mark{n, since.seq, r.Seq, w.loops - from - 1})
					delete(needed, name)
				}
				if !marked {
					delete(needed, name)
				}
			}
		}
	}, end: func() {
		for _, m := range stays {
			broken(fmt.Sprintf("%s is still marked %s, with pods on it for %d loops", m.node.name, candidate, m.loops), m.since, m.seen)
		}
	}}
}

// drains is how long a node may be marked for its deletion: --max-graceful-termination-sec,
// with time for the cloud.
const drains = 20 * time.Minute

// light reports whether the pods of a node that stay leave so much of it that they may be moved
// elsewhere, which makes it a candidate with them. It is not, where the history lacks the requests.
func (w *world) light(n *node) bool {
	taken := 0.0
	for _, p := range w.pods {
		if p.node == n.name && !p.evicted.isSet() && !p.deleted.isSet() {
			if p.cpu < 0 {
				return false
			}
			taken += p.cpu
		}
	}
	return n.cpu > 0 && taken/n.cpu < w.share("--scale-down-utilization-threshold", 0.5)
}

// busy reports whether a pod that was not asked to go is on the node, and none of those that
// are on every node.
func (w *world) busy(n *node) bool {
	for _, p := range w.pods {
		if p.node == n.name && !p.daemon && !p.evicted.isSet() && !p.deleted.isSet() {
			return true
		}
	}
	return false
}
