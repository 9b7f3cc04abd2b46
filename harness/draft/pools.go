package draft

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"nodestorm/harness/draft/shapes"
)

// kwokZones are those that machines of Karpenter's kwok provider can be in.
var kwokZones = []string{"test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"}

func (w *writer) karpenter(pods []*pod) {
	first, later := w.split()
	zones := w.zones()
	var own []*corev1.Node
	for _, n := range first {
		if byKarpenter(n) {
			later = append(later, n)
			continue
		}
		own = append(own, n)
	}
	nodes := w.nodeRows(own, func(*corev1.Node) string { return "" },
		func(n *corev1.Node) string { return zones[n.Labels[corev1.LabelTopologyZone]] })
	for i := range nodes[1:] { // a zone by another name is no label of its own
		nodes[i+1][4] = withoutKey(nodes[i+1][4], corev1.LabelTopologyZone)
	}
	pools := w.pools(pods, zones)
	w.typeTable()
	if len(nodes) > 1 {
		w.step("And these Ready Nodes:")
		w.table(nodes...)
	} else {
		w.step(`And a Ready Node "system" for system pods only`, "No source names a node that Karpenter did not bring. Without a Ready one "+
			"Kubernetes evicts nothing and taints nothing.")
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

// byKarpenter reports whether Karpenter launched the node.
func byKarpenter(n *corev1.Node) bool {
	return n.Labels["karpenter.sh/nodepool"] != "" || n.Labels["karpenter.sh/registered"] != "" || strings.HasPrefix(n.Spec.ProviderID,
		"kwok://") ||
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
			if _, passes := shapes.Taints([]corev1.Taint{t}); len(passes) > 0 || slices.Contains(lifted, t.ToString()) ||
				!shapes.LabelKey.MatchString(key) || !shapes.LabelValue.MatchString(value) {
				continue
			}
			lifted = append(lifted, t.ToString())
			w.step(fmt.Sprintf(`And a node agent "agent-%d" that taints its Node with "%s" from 1s to 20s after registration`, len(lifted),
				t.ToString()),
				"The startup taint has to be removed; when, is not in the sources.")
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
		w.addNote("the zone %s is %s here", zone, as[zone])
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
		"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass", "metadata": map[string]any{"name": "default"},
		"spec": map[string]any{},
	}
	ref := map[string]any{"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
	all = append(all, class)
	for _, name := range slices.Sorted(maps.Keys(w.c.pools)) {
		if len(all) > mostDraftGroups {
			w.addNote("there are more than %d NodePools; the first are in the draft", mostDraftGroups)
			break
		}
		if podName.MatchString(name) {
			all = append(all, w.pool(w.c.pools[name], ref, zones))
		}
	}
	if len(all) == 1 {
		w.addNote("no source has a NodePool: one is taken that takes every type")
		template := map[string]any{"spec": map[string]any{"nodeClassRef": ref, "requirements": []any{
			map[string]any{"key": corev1.LabelArchStable, "operator": "In", "values": []any{"amd64"}},
		}}}
		labels := map[string]any{}
		for _, pair := range strings.FieldsFunc(shapes.Labels(selected(pods)), func(r rune) bool { return r == ',' }) {
			if key, value, _ := strings.Cut(pair, "="); !strings.Contains(key, "kubernetes.io/") {
				labels[key] = value
			}
		}
		if len(labels) > 0 {
			w.addNote("the NodePool has the labels that the pods select")
			template["metadata"] = map[string]any{"labels": labels}
		}
		all = append(all, map[string]any{
			"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": map[string]any{"name": "default"},
			"spec": map[string]any{"template": template},
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
		case r.key == corev1.LabelInstanceTypeStable || strings.HasPrefix(domain, "karpenter.") && domain != "karpenter.sh" ||
			strings.Contains(domain, "beta.kubernetes.io"):
			w.addNote("NodePool %s requires %s, which kwok does not know: left out", name, r.key)
		case r.key == corev1.LabelTopologyZone:
			var values []any
			for _, v := range r.values {
				if as := zones[v]; !slices.Contains(values, any(as)) {
					values = append(values, as)
				}
			}
			kept = append(kept, map[string]any{"key": r.key, "operator": r.operator, "values": values})
		case shapes.LabelKey.MatchString(r.key):
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
		template["metadata"] = map[string]any{"labels": shapes.Plain(labels)}
	}
	spec := map[string]any{"template": template}
	for _, field := range []string{"disruption", "limits", "weight"} {
		if value, has, _ := unstructured.NestedFieldCopy(pool.Object, "spec", field); has {
			spec[field] = value
		}
	}
	w.addNote("the node class of NodePool %s is one of kwok's, without images, networks and user data", name)
	return map[string]any{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": map[string]any{"name": name}, "spec": spec}
}

var kwokType = regexp.MustCompile(`^[a-z]-\d+x-(amd64|arm64)-linux$`)
