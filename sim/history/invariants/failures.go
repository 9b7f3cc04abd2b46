package invariants

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nodestorm/sim/history"
)

// backOff: a group that has failed is left alone for a while.
func backOff(w *world, broken breaks) judge {
	least := w.lasts("--initial-node-group-backoff-duration", 5*time.Minute) - 10*time.Second
	return judge{see: func(r *history.Entry) {
		if r.Source != history.Logged || r.Verb != "plan" || len(w.plans) < 2 {
			return
		}
		p := w.plans[len(w.plans)-1]
		for _, q := range slices.Backward(w.plans[:len(w.plans)-1]) {
			if q.group != p.group {
				continue
			}
			// mutant: a group that has failed may be tried again at once
			if gap := p.at.at - q.failed.at; q.failed.isSet() && q.failed.at > w.programs.started.at && gap < least {
				broken(fmt.Sprintf("%s is tried again %s after it failed: %s", p.group, gap.Round(time.Second), q.why), q.at.seq,
					q.failed.seq, p.at.seq)
			}
			return
		}
	}}
}

// noDemotion: a write that met another one is no failure of the group.
func noDemotion(w *world, broken breaks) judge {
	var conflict moment
	var group string
	return judge{see: func(r *history.Entry) {
		switch {
		case r.Source == history.API && r.Actor == w.Actor && r.Detail.Text("subresource") == "scale" && r.Code == 409:
			conflict, group = momentOf(r), r.Object.Name
		case r.Source == history.API && r.Actor == w.Actor && r.Detail.Text("subresource") == "scale" && r.Code < 400 && r.Object.Name == group:
			conflict = moment{}
		case r.Source == history.Logged && r.Verb == "plan" && conflict.isSet():
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
	// failing reports whether a group may be in its own back-off at a time.
	failing := func(group string, when time.Duration) bool {
		return slices.ContainsFunc(w.plans, func(q *plan) bool {
			return q.group == group && q.failed.isSet() && q.failed.at <= when && q.failed.at+rests > when
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
			if !q.failed.isSet() || q.refused || q.failed.at+soon > w.now {
				continue
			}
			for _, pod := range q.pods {
				p := w.pods[pod]
				if p == nil || p.bound.isSet() && p.bound.at < q.failed.at+soon || p.evicted.isSet() && p.evicted.at < q.failed.at+soon {
					continue
				}
				var next *plan
				for _, later := range w.plans[n+1:] {
					if later.hasPod(pod) && later.group != q.group {
						next = later
						break
					}
				}
				switch {
				case next != nil && failing(next.group, q.failed.at+soon):
				case next != nil && next.at.at > q.failed.at+soon:
					broken(fmt.Sprintf("%s waits %s for %s after %s failed", pod, (next.at.at-q.failed.at).Round(time.Second), next.group,
						q.group), q.at.seq, q.failed.seq, next.at.seq)
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

// isolation: what is wrong with one group or one node does not keep the loop from its work.
func isolation(w *world, broken breaks) judge {
	const most = 10
	stops := []string{"Failed to get node infos", "Failed to fix node group sizes", "could not compute total",
		"Failed to get a nodegroup for node", "could not create quotas", "Failed to refresh cloud provider"}
	wide := map[string]bool{} // faults of more than one group
	var stopped int
	var first moment
	var wrong bool
	return judge{see: func(r *history.Entry) {
		switch {
		case r.Source == history.Fault && r.Verb == history.Effective && r.Detail.Text("group") == "" && r.Object.Name == "":
			wide[r.Detail.Text("fault")] = true
		case r.Source == history.Fault && r.Verb == history.Cleared:
			delete(wide, r.Detail.Text("fault"))
		case r.Source == history.Logged && r.Verb == "error" &&
			slices.ContainsFunc(stops, func(stop string) bool { return strings.Contains(r.Detail.Text("message"), stop) }):
			if wrong = true; stopped == 0 {
				first = momentOf(r)
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

// replaced: what is taken away from outside is launched anew for who needs it.
func replaced(w *world, broken breaks) judge {
	return judge{end: func() {
		for _, name := range slices.Sorted(maps.Keys(w.pods)) {
			p := w.pods[name]
			if p.daemon || p.bound.isSet() || p.evicted.isSet() || !p.created.isSet() {
				continue
			}
			for n, q := range slices.Backward(w.plans) {
				if !q.hasPod(name) {
					continue
				}
				for _, i := range q.instances {
					lost := i.failed
					if i.gone.isSet() && slices.Contains(i.faults, "vanishes") {
						lost = i.gone
					}
					if lost.isSet() && w.quiet(lost.at, w.provision()+2*time.Minute) && n == len(w.plans)-1 {
						broken(fmt.Sprintf("%s was lost, and no other is launched for %s", i.name, name), q.at.seq, lost.seq)
					}
				}
				break
			}
		}
	}}
}
