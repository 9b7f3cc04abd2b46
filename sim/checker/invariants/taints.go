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

// taintHygiene: a mark stays no longer than its reason.
func taintHygiene(w *world, broken breaks) judge {
	needed := map[string]int{} // the loop from which on a candidate is needed again
	return judge{see: func(r *history.Record) {
		switch {
		case r.Source == history.API && text(r, "subresource") == "binding" && r.Code < 400:
			p := w.pods[r.Object.Namespace+"/"+r.Object.Name]
			if n := w.nodes[text(r, "node")]; n != nil && p != nil && !p.daemon {
				if _, marked := n.taints[candidate]; marked {
					needed[n.name] = w.loops
				}
			}
		case r.Source == history.Logged && r.Verb == "loop":
			for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
				n := w.nodes[name]
				if i := w.instances[name]; n.deleted.is() || i != nil && i.gone.is() {
					continue // of a machine that is gone, its Node is another's to remove
				}
				if since, marked := n.taints[toBeDeleted]; marked {
					left := since.at < w.programs.started.at && w.loops > 3
					if left || w.now-since.at > drains {
						broken(fmt.Sprintf("%s is still marked %s", name, toBeDeleted), since.seq, r.Seq)
					}
				}
				since, marked := n.taints[candidate]
				if from, is := needed[name]; is && marked && w.loops > from+8 && w.busy(n) {
					broken(fmt.Sprintf("%s is still marked %s, with pods on it for %d loops", name, candidate, w.loops-from-1), since.seq, r.Seq)
				}
				if !marked {
					delete(needed, name)
				}
			}
		}
	}}
}

// drains is how long a node may be marked for its deletion: --max-graceful-termination-sec,
// with time for the cloud.
const drains = 20 * time.Minute

// busy tells whether a pod that nobody asked to go is on the node, and none of those that
// are on every node.
func (w *world) busy(n *node) bool {
	for _, p := range w.pods {
		if p.node == n.name && !p.daemon && !p.evicted.is() && !p.deleted.is() {
			return true
		}
	}
	return false
}
