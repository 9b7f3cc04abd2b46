package invariants

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nodestorm/sim/history"
)

// judgeRepeats judges every plan that is for a pod for which something was launched already. It
// passes on what was, and that it is still on its way.
func judgeRepeats(w *world, judge func(p, before *plan, pod string, launched *instance)) func(*history.Entry) {
	return func(r *history.Entry) {
		if r.Source != history.Logged || r.Verb != "plan" || len(w.plans) == 0 {
			return
		}
		p := w.plans[len(w.plans)-1]
		// mutant: no other pod takes the place that was made
		if p.misled || !w.allBoughtFor(p) {
			return
		}
		for _, pod := range p.pods {
			if q := w.previousPlan(p, pod); q != nil && w.pods[pod] != nil {
				judge(p, q, pod, q.instances[0])
			}
		}
	}
}

// maySchedule reports whether an instance is, or may become, a Node in its time that takes pods.
func (w *world) maySchedule(i *instance) bool {
	if n := w.joined(i); n != nil && n.cordoned() {
		return false
	}
	// mutant: what failed counts as on its way
	return i.group != "" && i.healthy() && !i.deleting.isSet() && i.created.isSet() && w.now-i.created.at < w.provision()
}

// unclaimed are instances of a group that are on their way and another client asked for.
func (w *world) unclaimed(group string) (found []*instance) {
	for _, name := range slices.Sorted(maps.Keys(w.instances)) {
		i := w.instances[name]
		claimed := slices.ContainsFunc(w.plans, func(p *plan) bool { return slices.Contains(p.instances, i) })
		if i.group == group && w.maySchedule(i) && w.joined(i) == nil && !claimed {
			found = append(found, i)
		}
	}
	return found
}

// allBoughtFor reports whether for every pod that waits an instance is on its way, not counting
// the latest plan: else one of them may have taken the place of another. So may pods of several
// kinds that are to share instances, as they can be put on them in another order, or that have
// instances of several groups: small ones find a place on those that only large ones need.
func (w *world) allBoughtFor(latest *plan) bool {
	waiting, kinds, groups, launched := 0, map[string]bool{}, map[string]bool{}, map[*instance]bool{}
	for name, p := range w.pods {
		if !slices.Contains(latest.pods, name) && (!p.unschedulable.isSet() || p.bound.isSet() || p.daemon || p.evicted.isSet()) {
			continue
		}
		q := w.previousPlan(latest, name)
		if q == nil || q.failed.isSet() || len(q.instances) == 0 ||
			slices.ContainsFunc(q.instances, func(i *instance) bool { return !w.maySchedule(i) }) {
			return false
		}
		if w.openPlaces(q) == 0 || w.overtaken(q) { // others have a place that was launched for it, and it may do so in turn
			return false
		}
		waiting++
		kinds[cmp.Or(p.owner, name)] = true
		groups[q.group] = true
		for _, i := range q.instances {
			launched[i] = true
		}
	}
	// mutant: pods of several kinds share instances as they were meant to
	// mutant: pods that share an instance never get two
	// mutant: instances of several groups are planned for pods as one group's are
	return len(kinds) == 1 || len(groups) == 1 && len(launched) >= waiting
}

// openPlaces are how many instances of a plan take no pods yet.
func (w *world) openPlaces(p *plan) (n int) {
	for _, i := range p.instances {
		if of := w.joined(i); of == nil || !of.ready || of.starts() {
			n++
		}
	}
	return n
}

// overtaken reports whether a pod that the plan was not for came to one of its instances.
func (w *world) overtaken(p *plan) bool {
	for _, pod := range w.pods {
		if !pod.daemon && pod.bound.isSet() && !p.hasPod(pod.name) &&
			slices.ContainsFunc(p.instances, func(i *instance) bool { return i.name == pod.node }) {
			return true
		}
	}
	return false
}

// noOvershoot: what is launched for a pod is waited for; and of what is launched together,
// nothing is left over.
func noOvershoot(w *world, broken breaks) judge {
	if w.hasFact(MakesClaims) {
		return claimTwice(w, broken, isComing)
	}
	twice := judgeRepeats(w, func(p, q *plan, pod string, i *instance) {
		if w.joined(i) == nil && w.programs.started.at <= q.at.at {
			broken(fmt.Sprintf("another instance is launched for %s while %s is on its way", pod, i.name), q.at.seq, i.created.seq, p.at.seq)
		}
	})
	return judge{
		see: func(r *history.Entry) {
			twice(r)
			if r.Source != history.Logged || r.Verb != "plan" || len(w.plans) == 0 {
				return
			}
			p := w.plans[len(w.plans)-1]
			if there := w.unclaimed(p.group); len(p.pods) > 0 && len(there) >= len(p.pods) && !w.misledSince(there[0].created) {
				broken(fmt.Sprintf("an instance is launched for %s while %s, which another asked for, is on its way", strings.Join(p.pods, ", "),
					there[0].name), there[0].created.seq, p.at.seq)
			}
		},
		end: func() {
			hosts := map[string]bool{}
			for _, p := range w.pods {
				if !p.daemon {
					hosts[p.node] = true
				}
			}
			for _, p := range w.plans {
				if left := w.leftOver(p, hosts); left != nil {
					broken(fmt.Sprintf("no pod came to %s, of %d instances launched for %s", left.name, p.to-p.from,
						strings.Join(p.pods, ", ")), p.at.seq, left.created.seq)
				}
			}
		},
	}
}

// leftOver is an instance of the plan that became a Node and got none of the pods, though
// all of these were bound since, and are, and none took the place of a pod that has gone since.
func (w *world) leftOver(p *plan, hosts map[string]bool) *instance {
	var last time.Duration
	for _, pod := range p.pods {
		at := w.pods[pod]
		if at == nil || !at.bound.isSet() || at.bound.at < p.at.at || at.evicted.isSet() || at.deleted.isSet() {
			return nil
		}
		last = max(last, at.bound.at)
	}
	for _, other := range w.pods {
		for _, went := range []moment{other.evicted, other.deleted} {
			if other.node != "" && went.isSet() && went.at > p.at.at && went.at <= last {
				return nil
			}
		}
	}
	if p.misled || p.undone || len(p.pods) == 0 || len(p.instances) < p.to-p.from {
		return nil
	}
	for _, i := range p.instances {
		if n := w.joined(i); n == nil || !n.ready || !i.healthy() {
			return nil
		}
	}
	for _, i := range p.instances {
		if !hosts[i.name] {
			return i
		}
	}
	return nil
}

// restartIdempotence: what was launched before a restart is waited for as well.
func restartIdempotence(w *world, broken breaks) judge {
	if w.hasFact(MakesClaims) {
		return claimTwice(w, broken, wasHanded)
	}
	return judge{see: judgeRepeats(w, func(p, q *plan, pod string, i *instance) {
		if w.programs.started.at > q.at.at {
			broken(fmt.Sprintf("another instance is launched for %s after a restart, while %s is on its way", pod, i.name), q.at.seq,
				i.created.seq, w.programs.started.seq, p.at.seq)
		}
	})}
}

// startupDiscipline: a Node that is not ready for pods yet counts as one on its way.
func startupDiscipline(w *world, broken breaks) judge {
	if w.hasFact(MakesClaims) {
		return claimTwice(w, broken, hasJoined)
	}
	return judge{see: judgeRepeats(w, func(p, q *plan, pod string, i *instance) {
		if n := w.joined(i); n != nil && (!n.ready || n.starts()) && w.programs.started.at <= q.at.at {
			broken(fmt.Sprintf("another instance is launched for %s while %s starts, with the taints %s", pod, i.name,
				strings.Join(slices.Sorted(maps.Keys(n.taints)), ", ")), q.at.seq, n.registered.seq, p.at.seq)
		}
	})}
}

// starts reports whether the node has a taint that is removed once it has started.
func (n *node) starts() bool {
	for key := range n.taints {
		for _, prefix := range []string{"node.kubernetes.io/", "node.cloudprovider.kubernetes.io/",
			"startup-taint.cluster-autoscaler.kubernetes.io/", "ignore-taint.cluster-autoscaler.kubernetes.io/"} {
			if strings.HasPrefix(key, prefix) {
				return true
			}
		}
	}
	return false
}
