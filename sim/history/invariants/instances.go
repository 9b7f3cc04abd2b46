package invariants

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nodestorm/sim/history"
)

// doomed are the effects of faults after which an instance never becomes a Node, or is
// none any more.
var doomed = []string{
	"actionFails", "actionHangs", "notCreated", "turnsOff", "vanishes", "never registers", "never joins",
	"stuck in Provisioning", "lost before it joins", "reported failed while it runs",
}

// healthy reports whether an instance runs, or will.
func (i *instance) healthy() bool {
	// mutant: an instance that no fault spares is one that runs
	return !i.failed.isSet() && !slices.ContainsFunc(i.faults, func(effect string) bool { return slices.Contains(doomed, effect) })
}

// removals says which calls of Cluster Autoscaler ask for the deletion of an instance. A
// machine of Cluster API is marked first, and goes when its group is scaled.
type removals struct {
	w      *world
	marked map[string]time.Duration
}

func removalsOf(w *world) *removals { return &removals{w, map[string]time.Duration{}} }

// markedFor is how long before the group is scaled its machine is marked.
const markedFor = 5 * time.Second

// asked are the names of the instances that the event asks to delete.
func (m *removals) asked(r *history.Entry) (names []string) {
	switch {
	case r.Actor != m.w.Actor || r.Code >= 400:
	case r.Source == history.Cloud && (r.Verb == "DELETE /servers/{id}" || r.Verb == "NodeGroupDeleteNodes"):
		names = []string{r.Object.Name}
	case r.Source == history.API && r.Object.Resource == "machines" && r.Verb == "update":
		m.marked[r.Object.Name] = r.Virtual
	case m.scales(r):
		for _, name := range slices.Sorted(maps.Keys(m.marked)) {
			if r.Virtual-m.marked[name] <= markedFor && strings.HasPrefix(name, r.Object.Name+"-") {
				names = append(names, name)
				delete(m.marked, name)
			}
		}
	}
	return names
}

// scales reports whether the event scales a group of Cluster API.
func (m *removals) scales(r *history.Entry) bool {
	return r.Source == history.API && r.Actor == m.w.Actor && r.Code < 400 && r.Detail.Text("subresource") == "scale" && r.Verb != "get"
}

// patience: who launches an instance gives it the time to become a Node that is set for that.
func patience(w *world, broken breaks) judge {
	m := removalsOf(w)
	return judge{see: func(r *history.Entry) {
		for _, name := range m.asked(r) {
			i := w.instances[name]
			if i == nil || i.group == "" || !i.created.isSet() || !i.healthy() || i.deleting.isSet() && i.deleting.at < r.Virtual-time.Second {
				continue
			}
			if n := w.nodes[name]; n != nil && n.registered.isSet() {
				continue
			}
			// mutant: a launch of an instance need not be waited for
			if age := r.Virtual - i.created.at; age < w.provision() {
				broken(fmt.Sprintf("%s is deleted %s after it was created, of %s that it may take", name, age.Round(time.Second),
					w.provision()), i.created.seq, r.Seq)
			}
		}
	}}
}

// noLeak: what never became a Node is deleted, and billed no longer.
func noLeak(w *world, broken breaks) judge {
	return judge{end: func() {
		for _, name := range slices.Sorted(maps.Keys(w.instances)) {
			i := w.instances[name]
			if i.group == "" || i.deleting.isSet() || !i.created.isSet() || w.joined(i) != nil {
				continue
			}
			since := max(i.created.at, w.programs.started.at)
			if n := w.nodes[name]; n != nil && n.deleted.isSet() {
				since = max(since, n.deleted.at)
			}
			if w.alive() && w.now-since >= w.provision()+5*time.Minute && !w.refused() {
				broken(fmt.Sprintf("%s of %s was created %s ago and is no Node", name, i.group, (w.now-i.created.at).Round(time.Second)), i.created.seq)
			}
		}
	}}
}

// drainedFirst: what is deleted has no pod on it that was not asked to go, unless its Node
// is not Ready.
func drainedFirst(w *world, broken breaks) judge {
	m := removalsOf(w)
	return judge{see: func(r *history.Entry) {
		for _, name := range m.asked(r) {
			i, n := w.instances[name], w.nodes[name]
			if i == nil || i.deleting.isSet() && i.deleting.at < r.Virtual-time.Second || n == nil || n.deleted.isSet() || !n.ready {
				continue
			}
			for _, pod := range slices.Sorted(maps.Keys(w.pods)) {
				if p := w.pods[pod]; p.node == name && !p.daemon && !p.evicted.isSet() && r.Virtual-p.bound.at > time.Second {
					broken(fmt.Sprintf("%s is deleted with the pod %s on it", name, pod), p.bound.seq, r.Seq)
				}
			}
		}
	}}
}

// rightVictim: of Cluster API only, where a group is scaled and others choose the machine.
func rightVictim(w *world, broken breaks) judge {
	m := removalsOf(w)
	wanted := map[string]moment{} // by the name of the machine
	return judge{see: func(r *history.Entry) {
		for _, name := range m.asked(r) {
			wanted[name] = momentOf(r)
		}
		if r.Source != history.API || r.Verb != "delete" || r.Object.Resource != "machines" || r.Code >= 400 || r.Actor == history.People {
			return
		}
		if _, right := wanted[r.Object.Name]; right {
			delete(wanted, r.Object.Name)
			return
		}
		i := w.instances[r.Object.Name]
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			asked := wanted[name]
			if v := w.instances[name]; i != nil && v != nil && v.group == i.group && w.now-asked.at < time.Minute {
				broken(fmt.Sprintf("%s was to be deleted, and %s is", name, r.Object.Name), asked.seq, r.Seq)
			}
		}
	}}
}
