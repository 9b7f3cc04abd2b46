package draft

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"nodestorm/harness/draft/shapes"
	"nodestorm/reports/wording"
	"nodestorm/sim/oneline"
)

// hetzner has a project of the Hetzner Cloud, also in place of another cloud.
func (w *writer) hetzner(pods []*pod) {
	if p := w.c.Provider; p != "hetzner" {
		w.addNote("the cloud is %s; a project of the Hetzner Cloud stands for it, with the same groups, shapes, labels and taints",
			cmp.Or(oneline.Cut(p, 40), "not known"))
	}
	first, later := w.split()
	groups := w.allGroups()
	location := func(zone string) string {
		if w.types.Cloud.Location(zone) != nil {
			return zone
		}
		return "fsn1"
	}
	first = append(first, w.unnamed(groups)...)
	nodes := w.nodeRows(first, func(n *corev1.Node) string { return groups.named[w.c.groupOfNode(n)] },
		func(n *corev1.Node) string { return location(n.Labels["csi.hetzner.cloud/location"]) })
	table := [][]string{{"name", "min", "max", "type", "zone", "labels", "taints"}}
	for _, g := range groups.all {
		labels, taints := w.marks(g)
		table = append(table, []string{groups.named[g.name], fmt.Sprint(g.min), fmt.Sprint(g.max), w.groupType(g), location(g.zone), labels,
			taints})
	}
	w.typeTable()
	w.step("And a Hetzner Cloud project")
	if len(nodes) > 1 {
		w.step("And these Ready Nodes:")
		w.table(nodes...)
	} else {
		w.step(`And a Ready Node "control-plane" on a server of the project`,
			"No source names a node that was there at the begin; without any, nothing is scaled.")
	}
	w.cameLater(later)
	w.inUse(nodes)
	w.step("And these node groups:")
	w.table(table...)
	w.autoscaler()
	w.story(pods, groups)
}

// story is the Whens and Thens, which end with a scale-up, or with a scale-down.
func (w *writer) story(pods []*pod, groups groupsOf) {
	if w.scaleDown() {
		w.removal(groups)
		return
	}
	w.demand(pods)
}

// unnamed are nodes that a group had, and that no source names. In a scale-up nothing finds room on them, or there
// would have been none.
func (w *writer) unnamed(groups groupsOf) (all []*corev1.Node) {
	for _, g := range groups.all {
		lacking := min(g.size, mostDraftNodes) - len(w.nodesOf(g))
		if lacking <= 0 {
			continue
		}
		for n := 1; lacking > 0 && len(all) < mostDraftNodes; n++ {
			name := fmt.Sprintf("%s-%d", groups.named[g.name], n)
			if w.c.nodes[name] != nil {
				continue
			}
			lacking--
			w.c.groupOf[name] = g.name
			if w.c.hears(name); w.c.nodes[name] == nil {
				return all // there is no room for more
			}
			all = append(all, w.c.nodes[name])
			w.full[name] = !w.scaleDown()
		}
		w.addNote("the group %s had %s, of which the sources do not name all: the others are called %s-1 and so on, and "+
			"are full if pods wait", groups.named[g.name], wording.Counted(g.size, "node"), groups.named[g.name])
	}
	return all
}

// clusterAPI has groups whose machines come with them.
func (w *writer) clusterAPI(pods []*pod) {
	first, later := w.split()
	groups := w.allGroups()
	var outside []*corev1.Node
	for _, n := range first {
		if w.c.groupOfNode(n) == "" {
			outside = append(outside, n)
		}
	}
	nodes := w.nodeRows(outside, func(*corev1.Node) string { return "" }, func(n *corev1.Node) string { return "" })
	table := [][]string{{"name", "min", "max", "type", "labels", "taints"}}
	var scaled []string
	for _, g := range groups.all {
		labels, taints := w.marks(g)
		table = append(table, []string{groups.named[g.name], fmt.Sprint(g.min), fmt.Sprint(g.max), w.groupType(g), labels, taints})
		if g.size > g.min && g.size <= 100 {
			scaled = append(scaled, fmt.Sprintf(`And "MachineDeployment/%s" is scaled to %d`, groups.named[g.name], g.size))
		}
	}
	w.typeTable()
	if len(nodes) > 1 {
		w.step("And these Ready Nodes:")
		w.table(nodes...)
	} else {
		w.step(`And a Ready Node "control-plane" for system pods only`,
			"No source names a node that is in no group; this is for the cluster's own.")
	}
	w.step("And Cluster API v1.12.0")
	w.cameLater(later)
	w.inUse(nodes)
	w.step("And these node groups:", "Each has its least number of machines. What else ran on them is not here.")
	w.table(table...)
	for _, step := range scaled {
		w.step(step)
	}
	if !w.scaleDown() {
		w.fill(groups)
	}
	w.autoscaler()
	w.story(pods, groups)
}

// fill leaves no room on the machines that groups have, where no source says what ran on them. Each pod is Running
// before the autoscaler is there, which would find a machine for it otherwise.
func (w *writer) fill(groups groupsOf) {
	filled := 0
	for _, g := range groups.all {
		name, machines := groups.named[g.name], max(g.size, g.min)
		if _, taints := w.marks(g); taints != "" && machines > 0 {
			w.addNote("the machines of the group %s, which have taints, have room for pods that tolerate them", name)
			continue
		}
		cpu := w.allButHalf(w.groupType(g))[corev1.ResourceCPU]
		for n := range machines {
			if filled++; filled > mostDraftPods {
				w.addNote("more than %d machines are there: the others have room", mostDraftPods)
				return
			}
			if filled == 1 {
				w.comment("These fill the machines that are there, so that the pods below wait for another.")
			}
			w.step(fmt.Sprintf(`And a pod "in-use-%s-%d" that requests %dm CPU is Running`, name, n+1, cpu.MilliValue()))
		}
	}
}

// allButHalf is what an instance type has but for half a CPU.
func (w *writer) allButHalf(name string) corev1.ResourceList {
	cores := 4
	if kind := w.types.Cloud.ServerType(name); kind != nil {
		cores = kind.Cores
	}
	for _, s := range w.types.Own {
		if s.Name == name {
			cores = s.Cores
		}
	}
	return corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(int64(cores)*1000-500, resource.DecimalSI)}
}

// autoscaler starts it with its flags.
func (w *writer) autoscaler() {
	flags := w.c.settings()
	w.flags = len(flags.given)
	comments := flags.comments(w.c.printed)
	if len(flags.given) == 0 {
		w.step("And Cluster Autoscaler", comments...)
		return
	}
	w.step("And Cluster Autoscaler with the flags:", comments...)
	rows := [][]string{{"flag", "value"}}
	for _, f := range flags.given {
		rows = append(rows, []string{f.name, f.value})
	}
	w.table(rows...)
}

func (w *writer) cameLater(nodes []*corev1.Node) {
	if len(nodes) == 0 {
		return
	}
	var names []string
	for _, n := range nodes[:min(10, len(nodes))] {
		names = append(names, n.Name)
	}
	if len(nodes) > 10 {
		names = append(names, fmt.Sprintf("and %d more", len(nodes)-10))
	}
	w.comment("These came after the first pod had no node, so they are the autoscaler's to bring: " + strings.Join(names, ", "))
}

// groupsOf are the groups of a draft, with the names that they have in it.
type groupsOf struct {
	all   []*group
	named map[string]string
}

var notGroupName = regexp.MustCompile(`[^-.A-Za-z0-9]+`)

// allGroups are those that the sources name, and those of the nodes; or one.
func (w *writer) allGroups() groupsOf {
	count := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(w.c.nodes)) {
		if g := w.c.groupOfNode(w.c.nodes[name]); g != "" {
			w.c.group(g)
			count[g]++
		}
	}
	groups := groupsOf{named: map[string]string{}}
	taken := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(w.c.groups)) {
		g := w.c.groups[name]
		if len(groups.all) == mostDraftGroups {
			w.addNote("%d node groups are more than a draft has; the first %d are in it", len(w.c.groups), mostDraftGroups)
			break
		}
		as := strings.ToLower(strings.Trim(notGroupName.ReplaceAllString(g.name, "-"), "-."))
		if as = strings.Trim(as[:min(50, len(as))], "-."); as == "" {
			as = "group"
		}
		for n, base := 2, as; taken[as]; n++ {
			as = fmt.Sprintf("%s-%d", base, n)
		}
		if as != g.name {
			w.addNote("the node group %s is called %s here", g.name, as)
		}
		taken[as], groups.named[name] = true, as
		if !g.bounded {
			if g.max = max(g.max, g.size); g.max == 0 {
				g.max = count[name] + 3
			}
			unknown := "how small and large"
			if g.topped {
				unknown = "how small"
			}
			w.addNote("%s the node group %s may be is not known: %d to %d is taken", unknown, as, g.min, g.max)
		}
		groups.all = append(groups.all, g)
	}
	if len(groups.all) == 0 {
		w.addNote("no source has node groups: one of 0 to 3 nodes is assumed")
		groups.all = []*group{{name: "workers", max: 3}}
		groups.named["workers"] = "workers"
	}
	w.groups = len(groups.all)
	return groups
}

// nodesOf are a group's, also those that came later.
func (w *writer) nodesOf(g *group) (all []*corev1.Node) {
	for _, name := range slices.Sorted(maps.Keys(w.c.nodes)) {
		if n := w.c.nodes[name]; w.c.groupOfNode(n) == g.name {
			all = append(all, n)
		}
	}
	return all
}

func (w *writer) groupType(g *group) string {
	if name := shapes.CloudName(g.kind); name != "" && w.types.Cloud.ServerType(name) != nil {
		return name
	}
	for _, n := range w.nodesOf(g) {
		if kind := w.types.Of(n); kind != "" {
			return kind
		}
	}
	w.addNote("what a node of the group %s has is not known: 4 CPUs and 8 GB are taken", g.name)
	return "cx32"
}

// marks are the labels and taints of a group: those that all its nodes have, or what the
// pods ask for if it has none.
func (w *writer) marks(g *group) (labels, taints string) {
	nodes := w.nodesOf(g)
	var common map[string]string
	var lasting string
	for _, n := range nodes {
		if len(n.Labels) == 0 {
			continue
		}
		if common == nil {
			common = maps.Clone(n.Labels)
			lasting, _ = shapes.Taints(n.Spec.Taints)
			continue
		}
		maps.DeleteFunc(common, func(key, value string) bool { return n.Labels[key] != value })
	}
	if common != nil {
		return shapes.Labels(common), lasting
	}
	for _, n := range w.c.nodes {
		if len(n.Labels) > 0 && w.c.groupOfNode(n) != "" {
			return "", "" // another group may be the one that they select
		}
	}
	if labels = shapes.Labels(selected(w.c.pending())); labels != "" {
		w.addNote("the labels of the group %s are not known: it has those that the pods select", g.name)
	}
	return labels, ""
}

// selected are the labels that pods want of their nodes.
func selected(pods []*pod) map[string]string {
	wanted := map[string]string{}
	for _, p := range slices.Backward(pods) { // of two, the one that waited longer has its way
		if p.spec != nil {
			maps.Copy(wanted, p.spec.NodeSelector)
		}
	}
	return wanted
}
