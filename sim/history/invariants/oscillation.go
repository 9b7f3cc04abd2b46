package invariants

import (
	"fmt"
	"time"

	"nodestorm/sim/history"
)

// othersBound reports whether a pod of another owner was bound since: it may have the place that
// was meant for one of this owner's.
func (w *world) othersBound(owner string, since moment) bool {
	for _, p := range w.pods {
		if p.bound.isSet() && p.bound.at >= since.at && p.owner != owner && !p.daemon {
			return true
		}
	}
	return false
}

// noOscillation: a node is not taken away whose pods another one has to be launched for.
func noOscillation(w *world, broken breaks) judge {
	if w.hasFact(MakesClaims) {
		return launchedForHeld(w, broken)
	}
	const soon = 10 * time.Minute
	owed := map[string][]moment{}     // evictions, by owner, whose pod has no successor yet
	successors := map[string]moment{} // pods, with the eviction of the one before
	m, asked := removalsOf(w), map[string]bool{}
	// lost reports whether an instance that the target did not ask to delete has gone since, on which there may have been room.
	lost := func(since time.Duration) bool {
		for name, i := range w.instances {
			if i.group != "" && !asked[name] && i.deleting.isSet() && i.deleting.at >= since {
				return true
			}
		}
		return false
	}
	return judge{see: func(r *history.Entry) {
		for _, name := range m.asked(r) {
			asked[name] = true
		}
		if r.Source == history.API && r.Object.Resource == "pods" && r.Code < 400 && r.Verb == "create" {
			name := r.Object.Namespace + "/" + r.Object.Name
			if p := w.pods[name]; p != nil && p.owner != "" {
				owner := r.Object.Namespace + "/" + p.owner
				switch all := owed[owner]; {
				case r.Detail.Text("subresource") == "eviction" && r.Actor == w.Actor:
					owed[owner] = append(all, momentOf(r))
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
			if e := successors[name]; e.isSet() && r.Virtual-e.at < soon && !w.othersBound(w.pods[name].owner, e) && !lost(e.at-drains) {
				broken(fmt.Sprintf("an instance is launched for %s, of which one pod was evicted %s ago", w.pods[name].owner,
					(r.Virtual-e.at).Round(time.Second)), e.seq, plan.at.seq)
			}
		}
	}}
}
