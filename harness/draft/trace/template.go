package trace

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"nodestorm/harness/draft/shapes"
	"nodestorm/harness/search/workload"
)

// kept begin the annotations that autoscalers know. Others may be anything, and stay out.
var kept = []string{"karpenter.sh/", "cluster-autoscaler.kubernetes.io/"}

// template gives a load what its pods ask for. What a load cannot have is noted.
func (b *builder) template(l *workload.Load, t *corev1.PodTemplateSpec) {
	requests, none := shapes.Requests(&t.Spec)
	if cpu := requests.Cpu().MilliValue(); cpu > 0 {
		l.CPU = workload.Amount(resource.NewMilliQuantity(cpu, resource.DecimalSI).String())
	}
	if memory := requests.Memory().Value(); memory > 0 {
		l.Memory = workload.Amount(resource.NewQuantity(memory, resource.BinarySI).String())
	}
	if !requests.StorageEphemeral().IsZero() {
		none = append(none, string(corev1.ResourceEphemeralStorage))
	}
	for _, name := range none {
		b.notes.add("requests "+name+", which is left out", l.Name)
	}
	l.NodeSelector = maps.Clone(t.Spec.NodeSelector)
	for key, value := range t.Annotations {
		if slices.ContainsFunc(kept, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			if l.Annotations == nil {
				l.Annotations = map[string]string{}
			}
			l.Annotations[key] = value
		}
	}
	for _, of := range t.Spec.Tolerations {
		if of.Effect == corev1.TaintEffectNoExecute && (of.Key == corev1.TaintNodeNotReady || of.Key == corev1.TaintNodeUnreachable) {
			continue // the API server's own, which it adds again
		}
		if of.TolerationSeconds != nil {
			b.notes.add("bears a taint for a time, which is left out", l.Name)
			continue
		}
		l.Tolerations = append(l.Tolerations, workload.Toleration{
			Key: of.Key, Operator: string(of.Operator), Value: of.Value, Effect: string(of.Effect)})
	}
	switch {
	case t.Spec.Priority != nil && *t.Spec.Priority <= workload.MostPriority:
		l.Priority = int(*t.Spec.Priority)
	case t.Spec.Priority != nil || t.Spec.PriorityClassName != "":
		b.notes.add("has a priority that is left out: its value is not in the trace, or is one of the system's", l.Name)
	}
	b.spread(l, &t.Spec)
}

// spread is how pods are kept apart, as far as a load can say it.
func (b *builder) spread(l *workload.Load, spec *corev1.PodSpec) {
	for _, of := range spec.TopologySpreadConstraints {
		switch {
		case of.TopologyKey == corev1.LabelTopologyZone && of.WhenUnsatisfiable == corev1.ScheduleAnyway && l.Spread == "":
			l.Spread = "zones"
		case of.TopologyKey == corev1.LabelTopologyZone && l.Spread == "":
			l.Spread = "zones"
			b.notes.add("must be spread over zones, and is spread as far as that is possible", l.Name)
		default:
			b.notes.add("has a topology spread constraint on "+of.TopologyKey+", which is left out", l.Name)
		}
	}
	affinity := spec.Affinity
	if affinity == nil {
		return
	}
	if affinity.NodeAffinity != nil {
		b.notes.add("has a node affinity, which is left out", l.Name)
	}
	if affinity.PodAffinity != nil {
		b.notes.add("has a pod affinity, which is left out", l.Name)
	}
	if anti := affinity.PodAntiAffinity; anti != nil {
		terms := anti.RequiredDuringSchedulingIgnoredDuringExecution
		if len(terms) == 1 && len(anti.PreferredDuringSchedulingIgnoredDuringExecution) == 0 && l.Spread == "" &&
			terms[0].TopologyKey == corev1.LabelHostname {
			l.Spread = "nodes"
			return
		}
		b.notes.add("has a pod anti-affinity, which is left out", l.Name)
	}
}

// differs reports whether a later template asks for something else.
func (b *builder) differs(l *load, c change) bool {
	var again workload.Load
	(&builder{notes: &notes{}}).template(&again, c.template)
	return again.CPU != l.CPU || again.Memory != l.Memory || !maps.Equal(again.NodeSelector, l.NodeSelector) ||
		!slices.Equal(again.Tolerations, l.Tolerations) || again.Spread != l.Spread
}
