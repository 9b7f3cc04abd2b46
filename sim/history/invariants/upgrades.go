package invariants

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nodestorm/sim/history"
)

const (
	// restBefore is how long nothing has happened in a cluster that is at rest. Karpenter looks again at what it found to be in
	// order after five minutes (state.Cluster.ConsolidationState).
	restBefore = 5 * time.Minute
	// watched is how long after an upgrade what is done without another reason counts as done for its sake.
	watched = 10 * time.Minute
	// disrupted is the taint of Nodes that Karpenter is to remove.
	disrupted = "karpenter.sh/disrupted"
)

// upgraded reports whether a release takes the target's place with the event, be it a newer or an older one.
func (w *world) upgraded(r *history.Entry) bool {
	return r.Source == history.Harness && r.Verb == history.Upgraded && r.Actor == w.Actor
}

// released reports whether a release of the target's, or of the control plane's, takes the place of another one with the event.
func released(r *history.Entry) bool {
	return r.Source == history.Harness && r.Verb == history.Upgraded
}

// upgradeLeavesAlone: what is in order stays as it is when another release comes.
func upgradeLeavesAlone(w *world, broken breaks) judge {
	if w.hasFact(LaunchesForGroups) {
		return groupsLeftAlone(w, broken)
	}
	var stirred time.Duration   // when something last happened that may be a reason
	var upgrade moment          // of a cluster at rest, none once there may be another reason
	var found map[string]*claim // those that it found, and would not have removed
	return judge{see: func(r *history.Entry) {
		// mutant: an upgrade of the control plane is no upgrade
		if released(r) {
			upgrade, found = moment{}, map[string]*claim{}
			// mutant: an upgrade is judged where things happen
			if w.now-stirred < restBefore || !w.inOrder() {
				return
			}
			upgrade = momentOf(r)
			for name, c := range w.claims {
				if c.consolidatable.isSet() && w.now-c.consolidatable.at >= restBefore && !c.drifted.isSet() {
					found[name] = c
				}
			}
			return
		}
		if upgrade.isSet() && w.now-upgrade.at < watched {
			if did := w.changed(r, found); did != "" {
				broken(fmt.Sprintf("%s %s after an upgrade that found all in order", did, (w.now-upgrade.at).Round(time.Second)), upgrade.seq, r.Seq)
			}
		}
		if w.stirs(r) {
			stirred, upgrade = w.now, moment{}
		}
	}}
}

// changed is what the target does with the event to machines or pods, empty if it does nothing. Of machines that are not among
// those found, Karpenter may have waited with the removal until then.
func (w *world) changed(r *history.Entry, found map[string]*claim) string {
	if r.Source != history.API || r.Actor != w.Actor || r.Code >= 400 {
		return ""
	}
	name := r.Object.Name
	switch resource := r.Object.Resource; {
	case resource == "nodeclaims" && r.Verb == "create" && !w.fixed[r.Detail.Text("nodePool")]:
		return name + " is launched"
	case resource == "nodeclaims" && r.Verb == "delete" && found[name] != nil:
		return name + " is removed"
	// mutant: what drifts for the sake of an upgrade is no matter
	case resource == "nodeclaims" && w.claims[name].drifts(r):
		return name + " drifts, " + strings.TrimPrefix(r.Detail.Mapping("conditions").Text("Drifted"), "True: ") + ","
	case resource == "nodes" && w.nodes[name].marked(r) && w.isAmong(w.nodes[name], found):
		return name + " is marked as one that is to go"
	case resource == "pods" && r.Detail.Text("subresource") == "eviction":
		return "the pod " + r.Object.Namespace + "/" + name + " is evicted"
	}
	return ""
}

// isAmong reports whether a Node is that of one of the claims.
func (w *world) isAmong(n *node, claims map[string]*claim) bool {
	for _, c := range claims {
		if w.nodeOf(c) == n {
			return true
		}
	}
	return false
}

// inOrder reports whether nothing waits for anything: no pod for a place, no machine for its Node or for its end.
func (w *world) inOrder() bool {
	for _, p := range w.pods {
		if !p.bound.isSet() && !p.evicted.isSet() && !p.deleted.isSet() {
			return false
		}
	}
	for _, c := range w.claims {
		if c.deleting.isSet() && w.nodeOf(c) != nil || !c.deleting.isSet() && !c.initialized {
			return false
		}
	}
	for _, n := range w.nodes {
		if n.registered.isSet() && !n.deleted.isSet() && (!n.ready || n.taints[disrupted].isSet() || n.taints[toBeDeleted].isSet()) {
			return false
		}
	}
	return w.alive() && len(w.faults) == 0
}

// stirs reports whether an event may be a reason to launch or remove machines: what becomes of pods, nodes, claims and pools,
// what people do, faults, and what a cloud does by itself.
func (w *world) stirs(r *history.Entry) bool {
	switch r.Source {
	case history.API:
		sub := r.Detail.Text("subresource")
		switch {
		case r.Code >= 400:
			return false
		case r.Actor == history.People:
			return true
		case !slices.Contains([]string{"pods", "nodes", "nodeclaims", "nodepools"}, r.Object.Resource):
			return false
		case r.Actor == w.Actor: // it notes things on objects, too
			return r.Verb == "create" || r.Verb == "delete" || r.Object.Resource == "nodes" && w.nodes[r.Object.Name].marked(r)
		}
		return sub == "" || sub == "binding" || sub == "eviction"
	case history.Node, history.Fault:
		return true
	case history.Cloud:
		return r.Actor != w.Actor
	case history.Harness:
		// mutant: a process that comes or goes is a reason for what others do
		return r.Actor != w.Actor && slices.Contains([]string{history.Killed, history.Stopped, history.Started}, r.Verb)
	}
	return false
}

// marked reports whether the event is that by which the node is to go.
func (n *node) marked(r *history.Entry) bool {
	return n != nil && (n.taints[disrupted].seq == r.Seq || n.taints[toBeDeleted].seq == r.Seq)
}

// drifts reports whether the event is that of its drift.
func (c *claim) drifts(r *history.Entry) bool { return c != nil && c.drifted.seq == r.Seq }

// upgradeCarriesOn: what another release finds under way comes to its end.
func upgradeCarriesOn(w *world, broken breaks) judge {
	if w.hasFact(LaunchesForGroups) {
		return groupsCarriedOn(w, broken)
	}
	// A machine has fifteen minutes to register (Karpenter's registrationTTL) before it is given up.
	const enough = 20 * time.Minute
	starting, marked := map[string]moment{}, map[string]moment{} // claims and Nodes, and the upgrade that found them so
	return judge{see: func(r *history.Entry) {
		for _, name := range slices.Sorted(maps.Keys(starting)) {
			switch c, upgrade := w.claims[name], starting[name]; {
			case c.initialized || c.deleting.isSet():
				delete(starting, name)
			// mutant: a machine that an upgrade found starting may start for ever
			case w.quiet(upgrade.at, enough):
				broken(fmt.Sprintf("%s, which an upgrade found starting, starts for %s more", name, (w.now-upgrade.at).Round(time.Second)),
					c.created.seq, upgrade.seq)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(marked)) {
			switch n, upgrade := w.nodes[name], marked[name]; {
			case n.deleted.isSet() || !n.taints[disrupted].isSet() || w.going(n):
				delete(marked, name)
			case w.quiet(upgrade.at, enough):
				broken(fmt.Sprintf("%s, which an upgrade found marked as one that is to go, is there %s later", name,
					(w.now-upgrade.at).Round(time.Second)), n.taints[disrupted].seq, upgrade.seq)
			}
		}
		if !w.upgraded(r) {
			return
		}
		for name, c := range w.claims {
			if !c.initialized && !c.deleting.isSet() {
				starting[name] = momentOf(r)
			}
		}
		for name, n := range w.nodes {
			if !n.deleted.isSet() && n.taints[disrupted].isSet() && !w.going(n) {
				marked[name] = momentOf(r)
			}
		}
	}}
}

// going reports whether the claim of a Node is being deleted.
func (w *world) going(n *node) bool {
	for _, c := range w.claims {
		if c.deleting.isSet() && w.nodeOf(c) == n {
			return true
		}
	}
	return false
}
