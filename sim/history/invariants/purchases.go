package invariants

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"nodestorm/sim/history"
)

// again judges every plan that is for a pod for which something was bought already. It
// tells what was, and that it is still on its way.
func again(w *world, judge func(p, before *plan, pod string, bought *instance)) func(*history.Record) {
	return func(r *history.Record) {
		if r.Source != history.Logged || r.Verb != "plan" || len(w.plans) == 0 {
			return
		}
		p := w.plans[len(w.plans)-1]
		if p.misled || !w.allBoughtFor(p) {
			return
		}
		for _, pod := range p.pods {
			if q := w.before(p, pod); q != nil && w.pods[pod] != nil {
				judge(p, q, pod, q.instances[0])
			}
		}
	}
}

// coming tells whether an instance is, or may become, a Node in its time that takes pods.
func (w *world) coming(i *instance) bool {
	if n := w.joined(i); n != nil && n.cordoned() {
		return false
	}
	return i.group != "" && i.healthy() && !i.deleting.is() && i.created.is() && w.now-i.created.at < w.provision()
}

// unclaimed are instances of a group that are on their way and were bought by somebody else.
func (w *world) unclaimed(group string) (found []*instance) {
	for _, name := range slices.Sorted(maps.Keys(w.instances)) {
		i := w.instances[name]
		claimed := slices.ContainsFunc(w.plans, func(p *plan) bool { return slices.Contains(p.instances, i) })
		if i.group == group && w.coming(i) && w.joined(i) == nil && !claimed {
			found = append(found, i)
		}
	}
	return found
}

// allBoughtFor tells whether for every pod that waits an instance is on its way, not counting
// the latest plan: else one of them may have taken the place of another. So may pods of several
// kinds that are to share instances, as they can be put on them in another order, or that have
// instances of several groups: small ones find a place on those that only large ones need.
func (w *world) allBoughtFor(latest *plan) bool {
	waiting, kinds, groups, bought := 0, map[string]bool{}, map[string]bool{}, map[*instance]bool{}
	for name, p := range w.pods {
		if !slices.Contains(latest.pods, name) && (!p.unschedulable.is() || p.bound.is() || p.daemon || p.evicted.is()) {
			continue
		}
		q := w.before(latest, name)
		if q == nil || q.failed.is() || len(q.instances) == 0 || slices.ContainsFunc(q.instances, func(i *instance) bool { return !w.coming(i) }) {
			return false
		}
		if w.openPlaces(q) == 0 || w.overtaken(q) { // others have a place that was bought for it, and it may do so in turn
			return false
		}
		waiting++
		kinds[cmp.Or(p.owner, name)] = true
		groups[q.group] = true
		for _, i := range q.instances {
			bought[i] = true
		}
	}
	return len(kinds) == 1 || len(groups) == 1 && len(bought) >= waiting
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

// overtaken tells whether a pod that the plan was not for came to one of its instances.
func (w *world) overtaken(p *plan) bool {
	for _, pod := range w.pods {
		if !pod.daemon && pod.bound.is() && !p.has(pod.name) && slices.ContainsFunc(p.instances, func(i *instance) bool { return i.name == pod.node }) {
			return true
		}
	}
	return false
}

// noOvershoot: what is bought for a pod is waited for; and of what is bought together,
// nothing is left over.
func noOvershoot(w *world, broken breaks) judge {
	if w.is(MakesClaims) {
		return claimTwice(w, broken, false)
	}
	twice := again(w, func(p, q *plan, pod string, i *instance) {
		if w.joined(i) == nil && w.programs.started.at <= q.at.at {
			broken(fmt.Sprintf("%s is bought for once more while %s is on its way", pod, i.name), q.at.seq, i.created.seq, p.at.seq)
		}
	})
	return judge{
		see: func(r *history.Record) {
			twice(r)
			if r.Source != history.Logged || r.Verb != "plan" || len(w.plans) == 0 {
				return
			}
			p := w.plans[len(w.plans)-1]
			if there := w.unclaimed(p.group); len(p.pods) > 0 && len(there) >= len(p.pods) && !w.misledSince(there[0].created) {
				broken(fmt.Sprintf("%s is bought for while %s, which somebody else asked for, is on its way", strings.Join(p.pods, ", "), there[0].name), there[0].created.seq, p.at.seq)
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
					broken(fmt.Sprintf("no pod came to %s, of %d instances bought for %s", left.name, p.to-p.from, strings.Join(p.pods, ", ")), p.at.seq, left.created.seq)
				}
			}
		},
	}
}

// leftOver is an instance of the plan that became a Node and got none of the pods, though
// all of these were bound since, and are, and none took the place of a pod that went meanwhile.
func (w *world) leftOver(p *plan, hosts map[string]bool) *instance {
	var last time.Duration
	for _, pod := range p.pods {
		at := w.pods[pod]
		if at == nil || !at.bound.is() || at.bound.at < p.at.at || at.evicted.is() || at.deleted.is() {
			return nil
		}
		last = max(last, at.bound.at)
	}
	for _, other := range w.pods {
		for _, went := range []moment{other.evicted, other.deleted} {
			if other.node != "" && went.is() && went.at > p.at.at && went.at <= last {
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

// restartIdempotence: what was bought before a restart is waited for as well.
func restartIdempotence(w *world, broken breaks) judge {
	return judge{see: again(w, func(p, q *plan, pod string, i *instance) {
		if w.programs.started.at > q.at.at {
			broken(fmt.Sprintf("%s is bought for once more after a restart, while %s is on its way", pod, i.name), q.at.seq, i.created.seq, w.programs.started.seq, p.at.seq)
		}
	})}
}

// startupDiscipline: a Node that is not ready for pods yet counts as one on its way.
func startupDiscipline(w *world, broken breaks) judge {
	if w.is(MakesClaims) {
		return claimTwice(w, broken, true)
	}
	return judge{see: again(w, func(p, q *plan, pod string, i *instance) {
		if n := w.joined(i); n != nil && (!n.ready || n.starts()) && w.programs.started.at <= q.at.at {
			broken(fmt.Sprintf("%s is bought for once more while %s starts, with the taints %s", pod, i.name, strings.Join(slices.Sorted(maps.Keys(n.taints)), ", ")), q.at.seq, n.registered.seq, p.at.seq)
		}
	})}
}

// starts tells whether the node has a taint that somebody takes off once it has started.
func (n *node) starts() bool {
	for key := range n.taints {
		for _, prefix := range []string{"node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "startup-taint.cluster-autoscaler.kubernetes.io/", "ignore-taint.cluster-autoscaler.kubernetes.io/"} {
			if strings.HasPrefix(key, prefix) {
				return true
			}
		}
	}
	return false
}

// backOff: a group that has failed is left alone for a while.
func backOff(w *world, broken breaks) judge {
	least := w.lasts("--initial-node-group-backoff-duration", 5*time.Minute) - 10*time.Second
	return judge{see: func(r *history.Record) {
		if r.Source != history.Logged || r.Verb != "plan" || len(w.plans) < 2 {
			return
		}
		p := w.plans[len(w.plans)-1]
		for _, q := range slices.Backward(w.plans[:len(w.plans)-1]) {
			if q.group != p.group {
				continue
			}
			if gap := p.at.at - q.failed.at; q.failed.is() && q.failed.at > w.programs.started.at && gap < least {
				broken(fmt.Sprintf("%s is tried again %s after it failed: %s", p.group, gap.Round(time.Second), q.why), q.at.seq, q.failed.seq, p.at.seq)
			}
			return
		}
	}}
}

// noDemotion: a write that met another one is no failure of the group.
func noDemotion(w *world, broken breaks) judge {
	var conflict moment
	var group string
	return judge{see: func(r *history.Record) {
		switch {
		case r.Source == history.API && r.Actor == w.Actor && r.Detail.Text("subresource") == "scale" && r.Code == 409:
			conflict, group = at(r), r.Object.Name
		case r.Source == history.API && r.Actor == w.Actor && r.Detail.Text("subresource") == "scale" && r.Code < 400 && r.Object.Name == group:
			conflict = moment{}
		case r.Source == history.Logged && r.Verb == "plan" && conflict.is():
			if p := w.plans[len(w.plans)-1]; p.group != group && w.now-conflict.at < 5*time.Minute {
				broken(fmt.Sprintf("after a conflict about %s it turns to %s", group, p.group), conflict.seq, p.at.seq)
			}
		}
	}}
}

// failOver: pods for which one group has failed get another one that takes them.
func failOver(w *world, broken breaks) judge {
	soon := time.Minute + 6*w.lasts("--scan-interval", 10*time.Second)
	rests := w.lasts("--max-node-group-backoff-duration", 30*time.Minute)
	// failing tells whether a group may be in its own back-off at a time.
	failing := func(group string, when time.Duration) bool {
		return slices.ContainsFunc(w.plans, func(q *plan) bool {
			return q.group == group && q.failed.is() && q.failed.at <= when && q.failed.at+rests > when
		})
	}
	types := map[string]string{}
	for _, setting := range w.Settings {
		if nodes, ok := strings.CutPrefix(setting, "--nodes="); ok {
			if fields := strings.Split(nodes, ":"); len(fields) == 5 {
				types[fields[4]] = fields[2] + ":" + fields[3]
			}
		}
	}
	return judge{end: func() {
		for n, q := range w.plans {
			if !q.failed.is() || q.refused || q.failed.at+soon > w.now {
				continue
			}
			for _, pod := range q.pods {
				p := w.pods[pod]
				if p == nil || p.bound.is() && p.bound.at < q.failed.at+soon || p.evicted.is() && p.evicted.at < q.failed.at+soon {
					continue
				}
				var next *plan
				for _, later := range w.plans[n+1:] {
					if later.has(pod) && later.group != q.group {
						next = later
						break
					}
				}
				switch {
				case next != nil && failing(next.group, q.failed.at+soon):
				case next != nil && next.at.at > q.failed.at+soon:
					broken(fmt.Sprintf("%s waits %s for %s after %s failed", pod, (next.at.at-q.failed.at).Round(time.Second), next.group, q.group), q.at.seq, q.failed.seq, next.at.seq)
				case next == nil:
					for _, other := range slices.Sorted(maps.Keys(types)) {
						if other != q.group && types[other] == types[q.group] && w.planFor(other) == nil {
							broken(fmt.Sprintf("%s waits, and %s is not tried after %s failed", pod, other, q.group), q.at.seq, q.failed.seq)
						}
					}
				}
			}
		}
	}}
}

// targetHonesty: what was asked for and did not come is no longer asked for.
func targetHonesty(w *world, broken breaks) judge {
	m := removalsOf(w)
	owed := map[string]moment{}            // groups of which instances timed out
	reverted := map[string]time.Duration{} // when a group was last asked for less
	return judge{
		see: func(r *history.Record) {
			for _, name := range m.asked(r) {
				if i := w.instances[name]; i != nil {
					reverted[i.group] = r.Virtual
				}
			}
			switch {
			case m.scales(r), r.Actor == w.Actor && r.Verb == "NodeGroupDecreaseTargetSize" && r.Code < 400:
				reverted[r.Object.Name] = r.Virtual
			case r.Source == history.Logged && r.Verb == "target":
				reverted[lastPart(r.Object.Name)] = r.Virtual
			case r.Source == history.API && r.Actor == w.Actor && r.Code < 400 && r.Detail.Text("reason") == "ScaleUpTimedOut":
				if g := failedGroup.FindStringSubmatch(r.Detail.Text("message") + " "); g != nil && w.short(lastPart(g[1])) {
					group := lastPart(g[1])
					if less, is := reverted[group]; !owed[group].is() && (!is || less < w.loop) { // not in the same loop
						owed[group] = at(r)
					}
				}
			}
			for _, group := range slices.Sorted(maps.Keys(owed)) {
				since := owed[group]
				if less, is := reverted[group]; is && less >= since.at {
					delete(owed, group)
					continue
				}
				if w.now-since.at > 5*time.Minute && w.alive() && !w.refused() {
					broken(fmt.Sprintf("what timed out in %s is still asked for %s later", group, (w.now-since.at).Round(time.Second)), since.seq, r.Seq)
				}
			}
		},
	}
}

// short tells whether a group has fewer Nodes than its latest plan was to give it.
func (w *world) short(group string) bool {
	p, joined := w.planFor(group), 0
	for _, i := range w.instances {
		if i.group == group && w.joined(i) != nil {
			joined++
		}
	}
	return p != nil && joined < p.to
}

var (
	sizeSet  = regexp.MustCompile(`^Scale-up: group (\S+) size set to (\d+) instead of (\d+)`)
	removed  = regexp.MustCompile(`(?:node|empty node) (\S+) removed`)
	unjoined = regexp.MustCompile(`^Removed unregistered node (\S+)$`)
)

// truthfulSuccess: what it says to users that it has done, it has.
func truthfulSuccess(w *world, broken breaks) judge {
	m := removalsOf(w)
	asked := map[string]bool{}
	return judge{see: func(r *history.Record) {
		for _, name := range m.asked(r) {
			asked[name] = true
			if i := w.instances[name]; i != nil && i.id != "" {
				asked[i.id] = true
			}
		}
		if r.Source != history.API || r.Actor != w.Actor || r.Object.Resource != "events" || r.Code >= 400 {
			return
		}
		message := r.Detail.Text("message")
		if s := sizeSet.FindStringSubmatch(message); s != nil && w.is(CallsCreate) {
			if p := w.planFor(lastPart(s[1])); p != nil && p.failed.is() && len(p.instances) == 0 {
				broken(fmt.Sprintf("%q, and no instance was created: %s", message, p.why), p.at.seq, p.failed.seq, r.Seq)
			}
		}
		for _, of := range []*regexp.Regexp{removed, unjoined} {
			s := of.FindStringSubmatch(message)
			if s == nil {
				continue
			}
			name := s[1]
			if id := name[strings.LastIndex(name, "/")+1:]; id != name {
				if _, wrong := strconv.Atoi(id); wrong == nil {
					name = w.named(id)
				} else {
					name = id
				}
			}
			if i := w.instances[name]; i != nil && !asked[name] && !i.deleting.is() {
				broken(fmt.Sprintf("%q, and nobody was asked to", message), i.created.seq, r.Seq)
			}
		}
	}}
}

// named is the name of the instance with the ID.
func (w *world) named(id string) string {
	for name, i := range w.instances {
		if i.id == id {
			return name
		}
	}
	return ""
}

// isolation: what is wrong with one group or one node does not keep the loop from its work.
func isolation(w *world, broken breaks) judge {
	const most = 10
	stops := []string{"Failed to get node infos", "Failed to fix node group sizes", "could not compute total", "Failed to get a nodegroup for node", "could not create quotas", "Failed to refresh cloud provider"}
	wide := map[string]bool{} // faults of more than one group
	var stopped int
	var first moment
	var wrong bool
	return judge{see: func(r *history.Record) {
		switch {
		case r.Source == history.Fault && r.Verb == history.Effective && r.Detail.Text("group") == "" && r.Object.Name == "":
			wide[r.Detail.Text("fault")] = true
		case r.Source == history.Fault && r.Verb == history.Cleared:
			delete(wide, r.Detail.Text("fault"))
		case r.Source == history.Logged && r.Verb == "error" && slices.ContainsFunc(stops, func(stop string) bool { return strings.Contains(r.Detail.Text("message"), stop) }):
			if wrong = true; stopped == 0 {
				first = at(r)
			}
		case r.Source == history.Logged && r.Verb == "loop":
			if !wrong || len(wide) > 0 {
				stopped = 0
				wrong = false
				return
			}
			if stopped, wrong = stopped+1, false; stopped >= most {
				broken(fmt.Sprintf("%d loops in a row came to nothing", stopped), first.seq, r.Seq)
			}
		}
	}}
}

// limitsKept: --max-nodes-total.
func limitsKept(w *world, broken breaks) judge {
	most, err := strconv.Atoi(w.setting("--max-nodes-total"))
	if err != nil || most == 0 {
		return judge{}
	}
	enforced := w.setting("--enforce-node-group-min-size") == "true" // which buys without a plan
	return judge{see: func(r *history.Record) {
		if r.Source != history.Cloud || r.Verb != "created" || r.Detail.Text("group") == "" {
			return
		}
		count := 0
		for _, i := range w.instances {
			if !i.deleting.is() {
				count++
			}
		}
		if count > most && (enforced || w.planFor(r.Detail.Text("group")) != nil) {
			broken(fmt.Sprintf("there are %d instances, of %d", count, most), r.Seq)
		}
	}}
}

// othersBound tells whether a pod of another owner was bound since: it may have the place that
// was meant for one of this owner's.
func (w *world) othersBound(owner string, since moment) bool {
	for _, p := range w.pods {
		if p.bound.is() && p.bound.at >= since.at && p.owner != owner && !p.daemon {
			return true
		}
	}
	return false
}

// pauseRespected: a group that people have paused is theirs.
func pauseRespected(w *world, broken breaks) judge {
	if !w.is(LeavesPaused) {
		return judge{}
	}
	m := removalsOf(w)
	paused := map[string]moment{}
	is := regexp.MustCompile(`"Machine(?:Deployment|Set|Pool)/([^"]+)" is annotated "cluster\.x-k8s\.io/paused=([^"]*)"`)
	return judge{see: func(r *history.Record) {
		if r.Source == history.Step && r.Verb == "passed" {
			if s := is.FindStringSubmatch(r.Detail.Text("text")); s != nil {
				paused[s[1]] = at(r)
			}
		}
		if since := paused[r.Object.Name]; m.scales(r) && since.is() {
			broken(r.Object.Name+" is scaled, and it is paused", since.seq, r.Seq)
		}
	}}
}

// replaced: what is taken away from outside is bought anew for who needs it.
func replaced(w *world, broken breaks) judge {
	return judge{end: func() {
		for _, name := range slices.Sorted(maps.Keys(w.pods)) {
			p := w.pods[name]
			if p.daemon || p.bound.is() || p.evicted.is() || !p.created.is() {
				continue
			}
			for n, q := range slices.Backward(w.plans) {
				if !q.has(name) {
					continue
				}
				for _, i := range q.instances {
					lost := i.failed
					if i.gone.is() && slices.Contains(i.faults, "vanishes") {
						lost = i.gone
					}
					if lost.is() && w.quiet(lost.at, w.provision()+2*time.Minute) && n == len(w.plans)-1 {
						broken(fmt.Sprintf("%s was lost, and nothing is bought for %s", i.name, name), q.at.seq, lost.seq)
					}
				}
				break
			}
		}
	}}
}

// noOscillation: a node is not taken away whose pods another one has to be bought for.
func noOscillation(w *world, broken breaks) judge {
	if w.is(MakesClaims) {
		return boughtForHeld(w, broken)
	}
	const soon = 10 * time.Minute
	owed := map[string][]moment{}     // evictions, by owner, whose pod has no successor yet
	successors := map[string]moment{} // pods, with the eviction of the one before
	m, asked := removalsOf(w), map[string]bool{}
	// lost tells whether somebody else has taken an instance since, on which there may have been room.
	lost := func(since time.Duration) bool {
		for name, i := range w.instances {
			if i.group != "" && !asked[name] && i.deleting.is() && i.deleting.at >= since {
				return true
			}
		}
		return false
	}
	return judge{see: func(r *history.Record) {
		for _, name := range m.asked(r) {
			asked[name] = true
		}
		if r.Source == history.API && r.Object.Resource == "pods" && r.Code < 400 && r.Verb == "create" {
			name := r.Object.Namespace + "/" + r.Object.Name
			if p := w.pods[name]; p != nil && p.owner != "" {
				owner := r.Object.Namespace + "/" + p.owner
				switch all := owed[owner]; {
				case r.Detail.Text("subresource") == "eviction" && r.Actor == w.Actor:
					owed[owner] = append(all, at(r))
				case r.Detail.Text("subresource") == "" && len(all) > 0:
					successors[name], owed[owner] = all[0], all[1:]
				}
			}
		}
		if r.Source != history.Logged || r.Verb != "plan" || len(w.plans) == 0 {
			return
		}
		plan := w.plans[len(w.plans)-1]
		for _, name := range plan.pods {
			if e := successors[name]; e.is() && r.Virtual-e.at < soon && !w.othersBound(w.pods[name].owner, e) && !lost(e.at-drains) {
				broken(fmt.Sprintf("%s is bought for, of which one pod was evicted %s ago", w.pods[name].owner, (r.Virtual-e.at).Round(time.Second)), e.seq, plan.at.seq)
			}
		}
	}}
}
