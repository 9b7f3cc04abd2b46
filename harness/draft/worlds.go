package draft

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"nodestorm/sim/oneline"
)

// hetzner has a project of the Hetzner Cloud, also in place of another cloud.
func (w *writer) hetzner() {
	if p := w.c.Provider; p != "hetzner" {
		w.note("the cloud is %s; a project of the Hetzner Cloud stands for it, with the same groups, shapes, labels and taints", cmp.Or(oneline.Cut(p, 40), "not known"))
	}
	first, later := w.split()
	groups := w.allGroups()
	location := func(zone string) string {
		if w.shapes.cloud.Location(zone) != nil {
			return zone
		}
		return "fsn1"
	}
	nodes := w.nodeRows(first, func(n *corev1.Node) string { return groups.named[w.c.groupOfNode(n)] },
		func(n *corev1.Node) string { return location(n.Labels["csi.hetzner.cloud/location"]) })
	table := [][]string{{"name", "min", "max", "type", "zone", "labels", "taints"}}
	for _, g := range groups.all {
		labels, taints := w.marks(g)
		table = append(table, []string{groups.named[g.name], fmt.Sprint(g.min), fmt.Sprint(g.max), w.groupType(g), location(g.zone), labels, taints})
	}
	w.types()
	w.step("And a Hetzner Cloud project")
	if len(nodes) > 1 {
		w.step("And these nodes:")
		w.table(nodes...)
	} else {
		w.step(`And a Ready node "control-plane" on a server of the project`, "No source names a node that was there at the begin; without any, nothing is scaled.")
	}
	w.cameLater(later)
	w.inUse(nodes)
	w.step("And these node groups:")
	w.table(table...)
	w.autoscaler()
}

// clusterAPI has groups whose machines come with them.
func (w *writer) clusterAPI() {
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
	w.types()
	if len(nodes) > 1 {
		w.step("And these nodes:")
		w.table(nodes...)
	} else {
		w.step(`And a Ready node "control-plane" for system pods only`, "No source names a node that is in no group; this is for the cluster's own.")
	}
	w.step("And Cluster API v1.12.0")
	w.cameLater(later)
	w.inUse(nodes)
	w.step("And these node groups:", "Each has its least number of machines. What else ran on them is not here.")
	w.table(table...)
	for _, step := range scaled {
		w.step(step)
	}
	w.autoscaler()
}

// autoscaler starts it with its flags.
func (w *writer) autoscaler() {
	given, others := w.c.settings()
	w.flags = len(given)
	var comments []string
	if len(others) > 0 {
		comments = append(comments, "Left out, as the world sets them or they shape no decision: "+strings.Join(others, ", "))
	}
	if len(given) == 0 {
		if len(others) == 0 {
			comments = append(comments, "No source tells its flags.")
		}
		w.step("And Cluster Autoscaler", comments...)
		return
	}
	w.step("And Cluster Autoscaler with the flags:", comments...)
	rows := [][]string{{"flag", "value"}}
	for _, f := range given {
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

// allGroups are those that somebody tells of, and those of the nodes; or one.
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
			w.note("%d node groups are more than a draft has; the first %d are in it", len(w.c.groups), mostDraftGroups)
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
			w.note("the node group %s is called %s here", g.name, as)
		}
		taken[as], groups.named[name] = true, as
		if !g.bounded {
			if g.max = max(g.max, g.size); g.max == 0 {
				g.max = count[name] + 3
			}
			w.note("how small and large the node group %s may be is not known: %d to %d is taken", as, g.min, g.max)
		}
		groups.all = append(groups.all, g)
	}
	if len(groups.all) == 0 {
		w.note("no source tells of node groups: one of 0 to 3 nodes is taken")
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
	if name := cloudName(g.kind); name != "" && w.shapes.cloud.ServerType(name) != nil {
		return name
	}
	for _, n := range w.nodesOf(g) {
		if kind := w.shapes.of(n); kind != "" {
			return kind
		}
	}
	w.note("what a node of the group %s has is not known: 4 CPUs and 8 GB are taken", g.name)
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
			lasting, _ = taintsOf(n.Spec.Taints)
			continue
		}
		maps.DeleteFunc(common, func(key, value string) bool { return n.Labels[key] != value })
	}
	if common != nil {
		return labelsOf(common), lasting
	}
	for _, n := range w.c.nodes {
		if len(n.Labels) > 0 && w.c.groupOfNode(n) != "" {
			return "", "" // another group may be the one that they select
		}
	}
	if labels = labelsOf(selected(w.c.pending())); labels != "" {
		w.note("the labels of the group %s are not known: it has those that the pods select", g.name)
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

// kwokZones are those that machines of Karpenter's kwok provider can be in.
var kwokZones = []string{"test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"}

func (w *writer) karpenter(pods []*pod) {
	first, later := w.split()
	zones := w.zones()
	var own []*corev1.Node
	for _, n := range first {
		if karpenters(n) {
			later = append(later, n)
			continue
		}
		own = append(own, n)
	}
	nodes := w.nodeRows(own, func(*corev1.Node) string { return "" }, func(n *corev1.Node) string { return zones[n.Labels[corev1.LabelTopologyZone]] })
	for i := range nodes[1:] { // a zone by another name is no label of its own
		nodes[i+1][4] = withoutKey(nodes[i+1][4], corev1.LabelTopologyZone)
	}
	pools := w.pools(pods, zones)
	w.types()
	if len(nodes) > 1 {
		w.step("And these nodes:")
		w.table(nodes...)
	} else {
		w.step(`And a Ready node "system" for system pods only`, "No source names a node that Karpenter did not bring. Without a Ready one Kubernetes evicts nothing and taints nothing.")
	}
	if len(later) > 0 {
		var names []string
		for _, n := range later[:min(10, len(later))] {
			names = append(names, n.Name)
		}
		w.comment("Karpenter's to bring: " + strings.Join(names, ", "))
	}
	w.inUse(nodes)
	w.step("And machines that register 30s after their launch and are Ready 20s later", "How long machines take is not in the sources.")
	w.agents(pools)
	w.step("And Karpenter", "What it has by variables is in no draft; say \"the target has the environment variables:\" before.")
	w.step("And these objects:", "The provider is kwok, with types such as c-4x-amd64-linux (4 CPUs; c has 2 GiB for each, s 4, m 8).")
	w.quote(pools...)
}

// karpenters tells the nodes that Karpenter has brought.
func karpenters(n *corev1.Node) bool {
	return n.Labels["karpenter.sh/nodepool"] != "" || n.Labels["karpenter.sh/registered"] != "" || strings.HasPrefix(n.Spec.ProviderID, "kwok://") ||
		slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return strings.HasPrefix(t.Key, "karpenter.sh/") })
}

// agents lift the startup taints of all pools: without them no machine is ever initialized.
func (w *writer) agents(pools []map[string]any) {
	var lifted []string
	for _, pool := range pools {
		taints, _, _ := unstructured.NestedSlice(pool, "spec", "template", "spec", "startupTaints")
		for _, one := range taints {
			raw, _ := one.(map[string]any)
			key, _, _ := unstructured.NestedString(raw, "key")
			value, _, _ := unstructured.NestedString(raw, "value")
			effect, _, _ := unstructured.NestedString(raw, "effect")
			t := corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
			if _, passes := taintsOf([]corev1.Taint{t}); len(passes) > 0 || slices.Contains(lifted, t.ToString()) || !labelKey.MatchString(key) || !labelValue.MatchString(value) {
				continue
			}
			lifted = append(lifted, t.ToString())
			w.step(fmt.Sprintf(`And a node agent "agent-%d" that taints its Node with "%s" from 1s to 20s after registration`, len(lifted), t.ToString()),
				"Somebody has to lift the startup taint; when, is not in the sources.")
		}
	}
}

func withoutKey(labels, key string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(labels, ","), func(pair string) bool {
		return strings.HasPrefix(pair, key+"=")
	}), ",")
}

// zones are the names that zones have with kwok.
func (w *writer) zones() map[string]string {
	seen := map[string]bool{}
	for _, n := range w.c.nodes {
		seen[n.Labels[corev1.LabelTopologyZone]] = true
	}
	for _, p := range w.c.pools {
		for _, r := range requirements(p) {
			if r.key == corev1.LabelTopologyZone {
				for _, v := range r.values {
					seen[v] = true
				}
			}
		}
	}
	for _, p := range w.c.pods {
		if p.pending && p.spec != nil {
			seen[p.spec.NodeSelector[corev1.LabelTopologyZone]] = true
		}
	}
	delete(seen, "")
	as := map[string]string{}
	for _, zone := range slices.Sorted(maps.Keys(seen)) {
		if slices.Contains(kwokZones, zone) {
			as[zone] = zone
			continue
		}
		as[zone] = kwokZones[len(as)%len(kwokZones)]
		w.note("the zone %s is %s here", zone, as[zone])
	}
	return as
}

type requirement struct {
	key, operator string
	values        []string
	raw           map[string]any
}

func requirements(pool *unstructured.Unstructured) (all []requirement) {
	list, _, _ := unstructured.NestedSlice(pool.Object, "spec", "template", "spec", "requirements")
	for _, one := range list {
		if raw, is := one.(map[string]any); is {
			r := requirement{raw: raw}
			r.key, _, _ = unstructured.NestedString(raw, "key")
			r.operator, _, _ = unstructured.NestedString(raw, "operator")
			r.values, _, _ = unstructured.NestedStringSlice(raw, "values")
			all = append(all, r)
		}
	}
	return all
}

// pools are NodePools with classes of kwok's.
func (w *writer) pools(pods []*pod, zones map[string]string) (all []map[string]any) {
	class := map[string]any{
		"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass", "metadata": map[string]any{"name": "default"}, "spec": map[string]any{},
	}
	ref := map[string]any{"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
	all = append(all, class)
	for _, name := range slices.Sorted(maps.Keys(w.c.pools)) {
		if len(all) > mostDraftGroups {
			w.note("there are more than %d NodePools; the first are in the draft", mostDraftGroups)
			break
		}
		if podName.MatchString(name) {
			all = append(all, w.pool(w.c.pools[name], ref, zones))
		}
	}
	if len(all) == 1 {
		w.note("no source has a NodePool: one is taken that takes every type")
		template := map[string]any{"spec": map[string]any{"nodeClassRef": ref, "requirements": []any{
			map[string]any{"key": corev1.LabelArchStable, "operator": "In", "values": []any{"amd64"}},
		}}}
		labels := map[string]any{}
		for _, pair := range strings.FieldsFunc(labelsOf(selected(pods)), func(r rune) bool { return r == ',' }) {
			if key, value, _ := strings.Cut(pair, "="); !strings.Contains(key, "kubernetes.io/") {
				labels[key] = value
			}
		}
		if len(labels) > 0 {
			w.note("the NodePool has the labels that the pods select")
			template["metadata"] = map[string]any{"labels": labels}
		}
		all = append(all, map[string]any{
			"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": map[string]any{"name": "default"}, "spec": map[string]any{"template": template},
		})
	}
	w.groups = len(all) - 1
	return all
}

// pool keeps of a NodePool what has a meaning with kwok.
func (w *writer) pool(pool *unstructured.Unstructured, ref map[string]any, zones map[string]string) map[string]any {
	name := pool.GetName()
	var kept []any
	for _, r := range requirements(pool) {
		switch domain, _, _ := strings.Cut(r.key, "/"); {
		case r.key == corev1.LabelInstanceTypeStable && slices.ContainsFunc(r.values, kwokType.MatchString):
			kept = append(kept, r.raw)
		case r.key == corev1.LabelInstanceTypeStable || strings.HasPrefix(domain, "karpenter.") && domain != "karpenter.sh" || strings.Contains(domain, "beta.kubernetes.io"):
			w.note("NodePool %s requires %s, which kwok does not know: left out", name, r.key)
		case r.key == corev1.LabelTopologyZone:
			var values []any
			for _, v := range r.values {
				if as := zones[v]; !slices.Contains(values, any(as)) {
					values = append(values, as)
				}
			}
			kept = append(kept, map[string]any{"key": r.key, "operator": r.operator, "values": values})
		case labelKey.MatchString(r.key):
			kept = append(kept, r.raw)
		}
	}
	if kept == nil {
		kept = []any{map[string]any{"key": corev1.LabelArchStable, "operator": "In", "values": []any{"amd64"}}}
	}
	inside := map[string]any{"nodeClassRef": ref, "requirements": kept}
	for _, field := range []string{"taints", "startupTaints", "expireAfter", "terminationGracePeriod"} {
		if value, has, _ := unstructured.NestedFieldCopy(pool.Object, "spec", "template", "spec", field); has {
			inside[field] = value
		}
	}
	template := map[string]any{"spec": inside}
	if labels, _, _ := unstructured.NestedStringMap(pool.Object, "spec", "template", "metadata", "labels"); len(labels) > 0 {
		template["metadata"] = map[string]any{"labels": plain(labels)}
	}
	spec := map[string]any{"template": template}
	for _, field := range []string{"disruption", "limits", "weight"} {
		if value, has, _ := unstructured.NestedFieldCopy(pool.Object, "spec", field); has {
			spec[field] = value
		}
	}
	w.note("the node class of NodePool %s is one of kwok's, without images, networks and user data", name)
	return map[string]any{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": map[string]any{"name": name}, "spec": spec}
}

var kwokType = regexp.MustCompile(`^[a-z]-\d+x-(amd64|arm64)-linux$`)
