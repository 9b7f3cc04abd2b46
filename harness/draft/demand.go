package draft

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"nodestorm/harness/draft/shapes"
)

var oneCPU = resource.MustParse("1")

// demand is the When, of the pods that had no node, and the Thens.
func (w *writer) demand(pods []*pod) {
	pods = slices.DeleteFunc(slices.Clone(pods), func(p *pod) bool { return !podName.MatchString(p.name) || len(p.name) > 253 })
	if len(pods) == 0 {
		w.addNote("no source names a pod that found no node: one of 1 CPU stands in for it")
		pods = []*pod{{namespace: "default", name: "web",
			spec: &corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: oneCPU},
			}}}}}}
	}
	if len(pods) > mostDraftPods {
		w.addNote("%d pods found no node; those %d that waited longest are in the draft", len(pods), mostDraftPods)
		pods = pods[:mostDraftPods]
	}
	zones := map[string]string(nil)
	if w.program == Karpenter {
		zones = (&writer{c: w.c}).zones()
	}
	names := map[string]bool{}
	var classes, all []map[string]any
	var comments, thens []string
	for _, p := range pods {
		name := p.name
		if names[name] {
			name = p.namespace + "-" + name
		}
		if !podName.MatchString(name) || len(name) > 253 || names[name] {
			continue
		}
		names[name] = true
		if p.namespace != "default" {
			w.addNote("pods of the namespace %s are in default here", p.namespace)
		}
		if p.why != "" && len(comments) < 5 {
			comments = append(comments, "The scheduler on "+name+": "+p.why)
		}
		all = append(all, w.podObject(p, name, zones))
		thens = append(thens, fmt.Sprintf(`the pod "%s" is Running within 15m`, name))
		if p.spec != nil {
			class := p.spec.PriorityClassName
			value, known := w.c.priorities[class]
			if known && !strings.HasPrefix(class, "system-") && !slices.ContainsFunc(classes, func(o map[string]any) bool {
				return o["metadata"].(map[string]any)["name"] == class
			}) {
				classes = append(classes, map[string]any{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
					"metadata": map[string]any{"name": class}, "value": value})
			}
		}
	}
	w.pods = len(all)
	if len(classes) > 0 {
		w.step("And these objects:")
		w.quote(classes...)
	}
	w.step("When these objects are created:", comments...)
	w.quote(all...)
	for i, then := range thens {
		w.step([]string{"Then ", "And "}[min(i, 1)] + then)
	}
}

// podObject keeps of a pod what the scheduler and the autoscaler go by.
func (w *writer) podObject(p *pod, name string, zones map[string]string) map[string]any {
	metadata := map[string]any{"name": name}
	request := corev1.ResourceList{corev1.ResourceCPU: oneCPU}
	spec := map[string]any{}
	if p.spec == nil {
		w.addNote("what the pod %s asks for is not in the sources: 1 CPU is taken", name)
	} else {
		var none []string
		if request, none = shapes.Requests(p.spec); len(none) > 0 {
			w.addNote("the pod %s asks for %s, which no machine here has: left out", name, strings.Join(none, ", "))
		}
		w.placement(p, name, spec, zones)
		if spec["affinity"] != nil || spec["topologySpreadConstraints"] != nil {
			labels := map[string]any{}
			for key, value := range p.labels {
				if shapes.LabelKey.MatchString(key) && shapes.LabelValue.MatchString(value) {
					labels[key] = value
				}
			}
			metadata["labels"] = labels
		}
	}
	container := map[string]any{"name": "app", "image": "app"}
	if len(request) > 0 {
		container["resources"] = map[string]any{"requests": shapes.List(request)}
	}
	spec["containers"] = []any{container}
	return map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
}

// placement is where a pod may be.
func (w *writer) placement(p *pod, name string, spec map[string]any, zones map[string]string) {
	from := p.spec.DeepCopy()
	from.Tolerations = slices.DeleteFunc(from.Tolerations, func(t corev1.Toleration) bool { // every pod's
		return t.TolerationSeconds != nil && (t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable)
	})
	for key, value := range from.NodeSelector {
		switch {
		case key == corev1.LabelTopologyZone && zones[value] != "":
			from.NodeSelector[key] = zones[value]
		case key == corev1.LabelInstanceTypeStable || key == corev1.LabelHostname || shapes.Unlabelled.MatchString(key) && !strings.HasSuffix(key,
			"kubernetes.io/arch") && !strings.HasSuffix(key, "kubernetes.io/os"):
			delete(from.NodeSelector, key)
			w.addNote("the pod %s selects %s, which differs here: left out", name, key)
		}
	}
	if from.Affinity != nil && from.Affinity.NodeAffinity != nil && zones != nil {
		for _, term := range selectors(from.Affinity.NodeAffinity) {
			for i := range term.MatchExpressions {
				if e := &term.MatchExpressions[i]; e.Key == corev1.LabelTopologyZone {
					for n, value := range e.Values {
						if zones[value] == "" {
							w.addNote("the pod %s wants the zone %s, which is not here", name, value)
							continue
						}
						e.Values[n] = zones[value]
					}
				}
			}
		}
	}
	all, _ := shapes.Plain(corev1.PodSpec{
		NodeSelector: from.NodeSelector, Tolerations: from.Tolerations, Affinity: from.Affinity,
		TopologySpreadConstraints: from.TopologySpreadConstraints,
	}).(map[string]any)
	delete(all, "containers")
	maps.Copy(spec, all)
	class := from.PriorityClassName
	if _, known := w.c.priorities[class]; known || strings.HasPrefix(class, "system-") {
		spec["priorityClassName"] = class
	} else if class != "" {
		w.addNote("the PriorityClass %s of the pod %s is not in the sources: left out", class, name)
	}
	if s := from.SchedulerName; s != "" && s != corev1.DefaultSchedulerName {
		w.addNote("the scheduler %s of the pod %s is not here: the cluster's own has it", s, name)
	}
	for _, v := range from.Volumes {
		if v.PersistentVolumeClaim != nil || v.Ephemeral != nil {
			w.addNote("the volumes of the pod %s are left out, and with them the zones that they are in", name)
			break
		}
	}
	if len(from.ResourceClaims) > 0 {
		w.addNote("the resource claims of the pod %s are left out", name)
	}
	if len(from.SchedulingGates) > 0 {
		w.addNote("the scheduling gates of the pod %s are left out", name)
	}
}

func selectors(a *corev1.NodeAffinity) (all []*corev1.NodeSelectorTerm) {
	if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		for i := range required.NodeSelectorTerms {
			all = append(all, &required.NodeSelectorTerms[i])
		}
	}
	for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
		all = append(all, &a.PreferredDuringSchedulingIgnoredDuringExecution[i].Preference)
	}
	return all
}
