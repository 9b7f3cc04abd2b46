package draft

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	// removing is in logs and events of Cluster Autoscaler from 1.27 on.
	removing = regexp.MustCompile(`^Scale-down: (?:removing (?:empty )?node "?([a-z0-9.-]+)"?(?:, |$)|` +
		`(?:empty )?node ([a-z0-9.-]+) (?:removed|successfully deleted))`)
	unneeded = regexp.MustCompile(`^([a-z0-9.-]+) (?:was unneeded for|is unneeded since) `)
	// A node that is as few as its group may have: which group that is, the line does not say.
	atLeast = regexp.MustCompile(`^Skipping ([a-z0-9.-]+) - node group min size reached`)
)

// scalesDown takes a message about a node that the autoscaler does not need, and reports whether it is one.
func (c *Cluster) scalesDown(message string) bool {
	if m := removing.FindStringSubmatch(message); m != nil {
		c.removes(cmp.Or(m[1], m[2]))
	} else if m := unneeded.FindStringSubmatch(message); m != nil {
		c.hears(m[1])
	} else if m := atLeast.FindStringSubmatch(message); m != nil {
		c.hears(m[1])
	} else {
		return false
	}
	return true
}

// removes records that the autoscaler removed a node.
func (c *Cluster) removes(node string) {
	c.hears(node)
	if !slices.Contains(c.removed, node) && len(c.removed) < mostObjects {
		c.removed = append(c.removed, node)
	}
}

// hears records a node of which only the name is known.
func (c *Cluster) hears(node string) {
	if c.nodes[node] == nil {
		c.node(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}})
	}
}

// scaleDown reports whether the draft is about nodes that are removed: no pod waits for one.
func (w *writer) scaleDown() bool {
	// mutant: a scale-down is drafted as a scale-up
	return w.program == ClusterAutoscaler && len(w.c.removed) > 0 && len(w.c.pending()) == 0
}

// intoGroups puts nodes that were removed into a group, since the autoscaler removes no others.
func (w *writer) intoGroups() {
	if !w.scaleDown() {
		return
	}
	for _, name := range w.c.removed {
		n := w.c.nodes[name]
		if n == nil || w.c.groupOfNode(n) != "" {
			continue
		}
		known := slices.Sorted(maps.Keys(w.c.groups))
		group := "workers"
		if len(known) > 0 {
			group = known[0]
		}
		w.addNote("which node group %s was of is not known: %s is taken", name, group)
		w.c.groupOf[name] = group
		w.c.group(group)
	}
	for _, g := range w.c.groups {
		gone := w.removedOf(g.name)
		if gone == 0 {
			continue
		}
		g.setFirstSize(max(g.min+gone, len(w.nodesOf(g))))
		if g.size-gone < g.min {
			w.addNote("%d nodes of the group %s were removed, of %d: it has %d more here", gone, g.name, g.size, g.min+gone-g.size)
			g.size = g.min + gone
		}
		g.max = max(g.max, g.size)
	}
}

// removedOf is how many nodes of a group were removed.
func (w *writer) removedOf(group string) (count int) {
	for _, name := range w.c.removed {
		if n := w.c.nodes[name]; n != nil && w.c.groupOfNode(n) == group {
			count++
		}
	}
	return count
}

// removal is the Whens and Thens of a scale-down.
func (w *writer) removal(groups groupsOf) {
	within := w.unneededFor()
	w.step("When the scenario waits for 1m", "Nothing waits for a node. What made these nodes unneeded is not in the sources.")
	var thens []string
	if w.c.Provider == "clusterapi" { // its machines have names of their own
		for _, g := range groups.all {
			if gone := w.removedOf(g.name); gone > 0 {
				thens = append(thens, fmt.Sprintf(`the MachineDeployment "%s" has %d Running machines within %s`, groups.named[g.name], g.size-gone,
					within))
			}
		}
	} else {
		for _, name := range w.c.removed[:min(len(w.c.removed), mostDraftPods)] {
			if podName.MatchString(name) && len(name) <= 253 {
				thens = append(thens, fmt.Sprintf(`the Node "%s" is deleted within %s`, name, within))
			}
		}
	}
	for i, then := range thens {
		w.step([]string{"Then ", "And "}[min(i, 1)] + then)
	}
	if more := len(w.c.removed) - mostDraftPods; more > 0 {
		w.addNote("%d more nodes were removed", more)
	}
}

// unneededFor is how long a node that is not needed may stay, with the flags of the draft: 10 minutes each unless
// they are given (the FAQ of Cluster Autoscaler), and as long again for what lies between.
func (w *writer) unneededFor() string {
	sum := time.Duration(0)
	for _, name := range []string{"scale-down-unneeded-time", "scale-down-delay-after-add"} {
		one := 10 * time.Minute
		for _, f := range w.c.settings().given {
			if given, err := time.ParseDuration(f.value); err == nil && f.name == name && given > 0 && given < 24*time.Hour {
				one = given
			}
		}
		sum += one
	}
	minutes := int((sum + 10*time.Minute).Round(time.Minute).Minutes())
	return fmt.Sprintf("%dm", max(minutes, 1))
}

// noteRemoved says what of a scale-down is not in the draft.
func (w *writer) noteRemoved() {
	if len(w.c.removed) > 0 && !w.scaleDown() {
		names := w.c.removed[:min(5, len(w.c.removed))]
		w.addNote("the sources also say that the autoscaler removed %d nodes (%s): that is not in the draft", len(w.c.removed),
			strings.Join(names, ", "))
	}
}
