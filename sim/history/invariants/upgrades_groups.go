package invariants

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"nodestorm/sim/history"
)

// groupsLeftAlone is upgradeLeavesAlone of an autoscaler of groups.
func groupsLeftAlone(w *world, broken breaks) judge {
	// What is unneeded goes after its time, which begins anew in each process: it has gone before.
	const settings = 10 * time.Minute // their default
	rest := max(restBefore, w.lasts("--scale-down-unneeded-time", settings), w.lasts("--scale-down-delay-after-add", settings)) + time.Minute
	m := removalsOf(w)
	var stirred time.Duration // when something last happened that may be a reason
	var upgrade moment        // of a cluster at rest, none once there may be another reason
	return judge{see: func(r *history.Entry) {
		asked := m.asked(r)
		if released(r) {
			// mutant: an upgrade of an autoscaler of groups is judged where things happen
			if upgrade = momentOf(r); w.now-stirred < rest || !w.inOrder() || !w.joinedAll() {
				upgrade = moment{}
			}
			return
		}
		if upgrade.isSet() && w.now-upgrade.at < watched {
			if did := w.changedGroups(r, asked); did != "" {
				broken(fmt.Sprintf("%s %s after an upgrade that found all in order", did, (w.now-upgrade.at).Round(time.Second)), upgrade.seq, r.Seq)
			}
		}
		if w.stirs(r) || len(asked) > 0 || w.launches(r) {
			stirred, upgrade = w.now, moment{}
		}
	}}
}

// changedGroups is what the target does with the event to groups, machines or pods, empty if it does nothing. The machines are those
// that it asks to delete.
func (w *world) changedGroups(r *history.Entry, asked []string) string {
	switch name := r.Object.Name; {
	case w.launches(r):
		return lastPart(name) + " is scaled up"
	case len(asked) > 0:
		return asked[0] + " is removed"
	case r.Source != history.API || r.Actor != w.Actor || r.Code >= 400:
	// mutant: a Node may be marked for the sake of an upgrade
	case r.Object.Resource == "nodes" && w.nodes[name].marked(r):
		return name + " is marked as one that is to go"
	case r.Object.Resource == "pods" && r.Detail.Text("subresource") == "eviction":
		return "the pod " + r.Object.Namespace + "/" + name + " is evicted"
	}
	return ""
}

// launches reports whether the target scales a group up with the event, or is about to.
func (w *world) launches(r *history.Entry) bool {
	return r.Actor == w.Actor && (r.Source == history.Logged && r.Verb == "plan" ||
		r.Source == history.Cloud && r.Code < 400 && slices.Contains([]string{"NodeGroupIncreaseSize", "POST /servers"}, r.Verb))
}

// joinedAll reports whether no machine is on its way to its Node, or to its end.
func (w *world) joinedAll() bool {
	for _, i := range w.instances {
		if i.deleting.isSet() != i.gone.isSet() || !i.gone.isSet() && w.joined(i) == nil {
			return false
		}
	}
	return true
}

// underway is what an upgrade found under way in groups.
type underway struct {
	upgrade  moment
	starting map[*instance]bool
	marked   map[*node]bool
	decided  map[*plan]bool // and not carried out
}

// groupsCarriedOn is upgradeCarriesOn of an autoscaler of groups.
func groupsCarriedOn(w *world, broken breaks) judge {
	const enough = 20 * time.Minute
	var found underway
	return judge{see: func(r *history.Entry) {
		maps.DeleteFunc(found.starting, func(i *instance, _ bool) bool { return !w.comes(i) })
		maps.DeleteFunc(found.marked, func(n *node, _ bool) bool { return !w.isToGo(n) })
		maps.DeleteFunc(found.decided, func(p *plan, _ bool) bool { return !w.isOwed(p) })
		// mutant: what an upgrade of an autoscaler of groups found under way may last for ever
		if w.quiet(found.upgrade.at, max(enough, w.provision()+5*time.Minute)) && len(w.faults) == 0 {
			since := (w.now - found.upgrade.at).Round(time.Second)
			for _, i := range sorted(found.starting, func(i *instance) string { return i.name }) {
				broken(fmt.Sprintf("%s, which an upgrade found starting, starts for %s more", i.name, since), i.created.seq, found.upgrade.seq)
			}
			for _, n := range sorted(found.marked, func(n *node) string { return n.name }) {
				broken(fmt.Sprintf("%s, which an upgrade found marked as one that is to go, is there %s later", n.name, since),
					n.taints[toBeDeleted].seq, found.upgrade.seq)
			}
			for _, p := range sorted(found.decided, func(p *plan) string { return p.group }) {
				broken(fmt.Sprintf("%s was to be scaled to %d when an upgrade came, and pods wait for that %s later", p.group, p.to, since),
					p.at.seq, found.upgrade.seq)
			}
		}
		if w.upgraded(r) {
			found = w.underWay(momentOf(r))
		}
	}}
}

func sorted[T any](of map[*T]bool, name func(*T) string) []*T {
	return slices.SortedFunc(maps.Keys(of), func(a, b *T) int { return cmp.Compare(name(a), name(b)) })
}

func (w *world) underWay(upgrade moment) underway {
	found := underway{upgrade, map[*instance]bool{}, map[*node]bool{}, map[*plan]bool{}}
	for _, i := range w.instances {
		found.starting[i] = true
	}
	for _, n := range w.nodes {
		found.marked[n] = true
	}
	for _, p := range w.plans {
		found.decided[p] = true
	}
	return found // the next event leaves out what is not under way
}

// comes reports whether an instance of a group is to become a Node, and is none.
func (w *world) comes(i *instance) bool {
	return i.created.isSet() && !i.deleting.isSet() && i.group != "" && w.joined(i) == nil
}

// isToGo reports whether a Node is marked as one that is to go, and its machine is there.
func (w *world) isToGo(n *node) bool {
	i := w.instances[n.name]
	return !n.deleted.isSet() && n.taints[toBeDeleted].isSet() && (i == nil || !i.deleting.isSet())
}

// isOwed reports whether a plan has not been carried out, though nothing failed, and pods that it is for wait without another one.
func (w *world) isOwed(p *plan) bool {
	if p.failed.isSet() || p.undone || p.capped || len(p.instances) >= p.to-p.from || w.sizes[p.group] >= p.to {
		return false
	}
	for _, q := range w.plans {
		if q.at.seq > p.at.seq && slices.ContainsFunc(p.pods, q.hasPod) {
			return false
		}
	}
	return slices.ContainsFunc(p.pods, func(name string) bool {
		pod := w.pods[name]
		return pod != nil && !pod.bound.isSet() && !pod.evicted.isSet() && !pod.deleted.isSet()
	})
}
