package invariants

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"nodestorm/sim/history"
)

// claim is a NodeClaim of Karpenter's.
type claim struct {
	name        string
	created     moment
	providerID  string
	deleting    moment
	initialized bool
	// drifted and consolidatable are since when Karpenter says so of it.
	drifted, consolidatable moment
}

// batch are the pods that Karpenter's provisioner last looked at, and what it has launched
// for pods so far.
type batch struct {
	seen     moment
	pods     []string
	cut      bool              // the log does not name all of them
	made     []*claim          // of it
	launched map[string]*claim // by pod
	// known are pods that it has looked at before.
	known map[string]bool
	// held are pods whose eviction was refused, since when, and no budget has changed.
	held map[string]moment
}

var nominated = regexp.MustCompile(`nodeclaim/([a-z0-9.-]+)`)

func (w *world) seeClaim(r *history.Entry) {
	name := r.Object.Name
	if name == "" {
		return
	}
	c := w.claims[name]
	if c == nil || r.Verb == "create" {
		c = &claim{name: name, created: momentOf(r)}
		if w.claims[name] = c; r.Verb == "create" && r.Actor == w.Actor && !w.fixed[r.Detail.Text("nodePool")] {
			w.batch.made = append(w.batch.made, c)
		}
	}
	if id := r.Detail.Text("providerID"); id != "" {
		c.providerID = id
	}
	if conditions := r.Detail.Mapping("conditions"); conditions != nil {
		c.initialized = conditions.Text("Initialized") == "True"
		c.drifted = c.drifted.while(conditions, "Drifted", r)
		c.consolidatable = c.consolidatable.while(conditions, "Consolidatable", r)
	}
	if (r.Verb == "delete" || r.Detail.Truth("deleting")) && !c.deleting.isSet() {
		c.deleting = momentOf(r)
	}
}

// while is since when a condition is true, m if it was before.
func (m moment) while(conditions history.Detail, condition string, r *history.Entry) moment {
	switch is := strings.HasPrefix(conditions.Text(condition), "True"); {
	case !is:
		return moment{}
	case m.isSet():
		return m
	}
	return momentOf(r)
}

// seeBatch keeps what the provisioner does.
func (w *world) seeBatch(r *history.Entry) {
	switch {
	case !w.hasFact(MakesClaims):
	case r.Source == history.API && r.Object.Resource == "poddisruptionbudgets" && r.Detail.Text("subresource") == "" && r.Code < 400:
		// it may allow more now
		// mutant: what a budget refused stays refused when it goes
		maps.DeleteFunc(w.batch.held, func(pod string, _ moment) bool { return strings.HasPrefix(pod, r.Object.Namespace+"/") })
	case r.Actor != w.Actor:
	case r.Source == history.Logged && r.Detail.Text("message") == "found provisionable pod(s)":
		w.guess()
		w.batch.made = nil
		w.batch.seen, w.batch.pods = momentOf(r), strings.Split(r.Detail.Text("Pods"), ", ")
		w.batch.cut = strings.HasSuffix(r.Detail.Text("Pods"), "other(s)") || strings.HasSuffix(r.Detail.Text("Pods"), "…")
	case r.Source == history.API && r.Object.Resource == "events" && r.Detail.Text("reason") == "Nominated" && r.Code < 400:
		pod, is := strings.CutPrefix(r.Detail.Text("about"), "Pod/")
		m := nominated.FindStringSubmatch(r.Detail.Text("message"))
		if is && m != nil && w.claims[m[1]] != nil {
			w.batch.launched[r.Object.Namespace+"/"+pod] = w.claims[m[1]]
		}
	case r.Source == history.API && r.Detail.Text("subresource") == "eviction":
		if pod := r.Object.Namespace + "/" + r.Object.Name; r.Code == 429 {
			w.batch.held[pod] = momentOf(r)
		} else if r.Code < 400 {
			delete(w.batch.held, pod)
		}
	}
}

// guess takes the pods of a batch, if Karpenter's log assigns none of them to a Node, for
// ones that the claim is for. Which of several claims is for which pod is unknown.
func (w *world) guess() {
	assigned := slices.ContainsFunc(w.batch.pods, func(pod string) bool {
		c := w.batch.launched[pod]
		return c != nil && slices.Contains(w.batch.made, c)
	})
	for _, pod := range w.batch.pods {
		if len(w.batch.made) == 1 && !assigned && !w.batch.known[pod] {
			w.batch.launched[pod] = w.batch.made[0]
		}
		w.batch.known[pod] = true
	}
}

// nodeOf is the Node of a claim, if it has joined.
func (w *world) nodeOf(c *claim) *node {
	for _, n := range w.nodes {
		if c.providerID != "" && n.providerID == c.providerID && !n.deleted.isSet() {
			return n
		}
	}
	return nil
}

// boughtFor judges every NodeClaim that Karpenter makes for pods: those that it cannot be
// for are left out, which the provisioner has looked at before and has launched nothing for. Pods
// that stand for room, of a CapacityBuffer, had room then, which another may have now.
func boughtFor(w *world, judge func(made *history.Entry, pods []string)) func(*history.Entry) {
	return func(r *history.Entry) {
		if r.Source != history.API || r.Verb != "create" || r.Object.Resource != "nodeclaims" || r.Actor != w.Actor ||
			r.Code >= 400 || r.Virtual-w.batch.seen.at > 5*time.Second || !w.batch.seen.isSet() || w.batch.cut {
			return
		}
		if w.fixed[r.Detail.Text("nodePool")] {
			return
		}
		pods := slices.DeleteFunc(slices.Clone(w.batch.pods),
			func(pod string) bool { return w.pods[pod] != nil && w.batch.known[pod] && w.batch.launched[pod] == nil })
		judge(r, pods)
	}
}

// onItsWay is the claim that was launched for the pod and is not there yet.
func (w *world) onItsWay(pod string) *claim {
	c, p := w.batch.launched[pod], w.pods[pod]
	// mutant: Karpenter may launch for the same pod again
	if c == nil || p == nil || p.bound.isSet() || p.created.at > c.created.at || c.deleting.isSet() || w.now-c.created.at > 15*time.Minute {
		return nil
	}
	return c
}

// part is which claims that are on their way are judged.
type part int

const (
	isComing  part = iota // those without a Node
	hasJoined             // those whose Node is not initialized
	wasHanded             // those that were made before the program was last started
)

// claimTwice: nothing is launched for pods that all wait for claims on their way.
func claimTwice(w *world, broken breaks, of part) judge {
	return judge{see: boughtFor(w, func(r *history.Entry, pods []string) {
		var evidence []uint64
		var names []string
		for _, pod := range pods {
			c := w.onItsWay(pod)
			if c == nil || c.initialized {
				return
			}
			n := w.nodeOf(c)
			if w.partOf(c, n) != of || n != nil && (n.cordoned() || w.taken(n, c)) {
				return
			}
			evidence, names = append(evidence, c.created.seq), append(names, c.name)
		}
		if len(pods) > 0 {
			broken(fmt.Sprintf("%s is made for %s, which waits for %s", r.Object.Name, strings.Join(pods, ", "),
				strings.Join(names, ", ")), append(evidence, r.Seq)...)
		}
	})}
}

func (w *world) partOf(c *claim, n *node) part {
	switch {
	// mutant: Karpenter may launch again after a restart
	case w.programs.started.at > c.created.at:
		return wasHanded
	case n != nil:
		return hasJoined
	}
	return isComing
}

// taken reports whether a pod that the claim was not made for is on its Node: it may have the place
// of one that it was made for.
func (w *world) taken(n *node, c *claim) bool {
	for name, p := range w.pods {
		if p.node == n.name && !p.daemon && w.batch.launched[name] != c {
			return true
		}
	}
	return false
}

// launchedForHeld: nothing is launched for pods that stay where they are.
func launchedForHeld(w *world, broken breaks) judge {
	return judge{see: boughtFor(w, func(r *history.Entry, pods []string) {
		for _, pod := range pods {
			if p := w.pods[pod]; p == nil || !p.bound.isSet() || !w.batch.held[pod].isSet() {
				return
			}
		}
		if len(pods) > 0 {
			broken(fmt.Sprintf("%s is made for %s, whose eviction is refused", r.Object.Name, strings.Join(pods, ", ")),
				w.batch.held[pods[0]].seq, r.Seq)
		}
	})}
}

// aftermath is how long after a fault a client may still wait: watches that were cut off are tried
// again after 30s at most, and half a minute more at random (client-go's reflector).
const aftermath = time.Minute

// promptBatches: a batch is open for BATCH_IDLE_DURATION after the last pod that is new, and
// for BATCH_MAX_DURATION at most. One that comes while the program does not know all of the cluster is
// dropped, and its pods make another ten seconds later; two more are for the work.
func promptBatches(w *world, broken breaks) judge {
	idle, most := w.lasts("BATCH_IDLE_DURATION", time.Second), w.lasts("BATCH_MAX_DURATION", 10*time.Second)
	looked := map[string]bool{} // at which pods
	var news time.Duration      // when a pod was last found unschedulable for the first time
	late := func(name string) {
		p := w.pods[name]
		if p == nil || !p.unschedulable.isSet() || looked[name] || p.daemon || p.evicted.isSet() || !w.quietSince(p.unschedulable.at) {
			return
		}
		// mutant: what a fault leaves behind is the target's
		if w.cleared > 0 && p.unschedulable.at < w.cleared+aftermath {
			return
		}
		over := w.now - min(p.unschedulable.at+most, max(news, p.unschedulable.at)+idle)
		if over > 12*time.Second {
			broken(fmt.Sprintf("%s waits for the end of its batch, for %s longer than that may be open", name, over.Round(time.Second)),
				p.unschedulable.seq)
		}
	}
	return judge{
		see: func(r *history.Entry) {
			if r.Source == history.API && r.Object.Resource == "pods" && r.Detail.Text("reason") == "Unschedulable" && r.Code < 400 {
				if p := w.pods[r.Object.Namespace+"/"+r.Object.Name]; p != nil && p.unschedulable.seq == r.Seq {
					news = r.Virtual
				}
			}
			if pod, isPod := strings.CutPrefix(r.Detail.Text("about"), "Pod/"); isPod && r.Actor == w.Actor { // an event: it has no place
				late(r.Object.Namespace + "/" + pod)
				looked[r.Object.Namespace+"/"+pod] = true
			}
			if r.Source != history.Logged || r.Actor != w.Actor {
				return
			}
			none := r.Detail.Text("message") == "no nodepools found" // that are ready: it has looked, and says no more
			if r.Detail.Text("message") != "found provisionable pod(s)" && !none {
				return
			}
			if w.batch.cut || none { // whom it names not, it may have looked at
				for name := range w.pods {
					looked[name] = true
				}
			}
			for _, name := range w.batch.pods {
				late(name)
				looked[name] = true
			}
		},
		end: func() {
			if !w.batch.seen.isSet() {
				return
			}
			for _, name := range slices.Sorted(maps.Keys(w.pods)) {
				late(name)
			}
		},
	}
}

// noStuckDeletion: a NodeClaim that is to go is gone, once its pods are.
func noStuckDeletion(w *world, broken breaks) judge {
	const enough = 15 * time.Minute
	gone := map[string]bool{}
	return judge{
		see: func(r *history.Entry) {
			if of := r.Detail.Mapping("NodeClaim"); of != nil && r.Detail.Text("message") == "deleted nodeclaim" {
				gone[of.Text("name")] = true
			}
		},
		end: func() {
			for _, name := range slices.Sorted(maps.Keys(w.claims)) {
				c := w.claims[name]
				if n := w.nodeOf(c); gone[name] || !c.deleting.isSet() || n != nil && w.busy(n) || n != nil && w.stopping(n) {
					continue
				}
				if w.quiet(c.deleting.at, enough) {
					broken(fmt.Sprintf("%s was deleted %s ago, and is there", name, (w.now-c.deleting.at).Round(time.Second)), c.deleting.seq)
				}
			}
		},
	}
}

// stopping reports whether a pod on the node was asked to go and is there.
func (w *world) stopping(n *node) bool {
	for _, p := range w.pods {
		if p.node == n.name && p.evicted.isSet() && !p.deleted.isSet() {
			return true
		}
	}
	return false
}
