// Package workload is pod demand: small builders for the objects that make a
// scheduler and an autoscaler work, a client that creates them, and waits that say
// what they saw last. How long pods run and how they stop is up to sim/node.
//
// It does not judge: statements about what must not happen belong to sim/checker.
package workload

import (
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"nodestorm/sim/node"
)

// Template is what pods of one kind ask for. The zero value asks for nothing: such a
// pod fits wherever there is a place for one more.
type Template struct {
	// CPU and Memory are requests as in a manifest: "500m", "2Gi". Empty means none.
	CPU, Memory string
	// Requests are further requests, for example of GPUs. Where the API wants limits
	// to equal them (extended resources), they are limits as well.
	Requests corev1.ResourceList
	// Labels come on top of app=<name>, which the builders select by.
	Labels       map[string]string
	Annotations  map[string]string
	NodeSelector map[string]string
	Affinity     *corev1.Affinity
	Tolerations  []corev1.Toleration
	// Spread lists topology keys over which the pods are spread, maxSkew 1 and
	// DoNotSchedule, for example topology.kubernetes.io/zone.
	Spread []string
	// Grace is terminationGracePeriodSeconds, whole seconds. Zero keeps Kubernetes'
	// default of 30 s; for no grace at all say so in the deletion.
	Grace time.Duration
	// PriorityClass is the name of one. Empty means none.
	PriorityClass string
	// HostNetwork pods start on a Node whose network plugin is missing.
	HostNetwork bool
	// RunFor makes the containers exit with 0 this long after their start, in pods
	// that are not restarted. Zero means that they run until they are deleted.
	RunFor time.Duration
	// StopAfter makes the containers exit this long after SIGTERM. Zero leaves it to
	// the node's profile; more than Grace ignores the signal.
	StopAfter time.Duration
	// Image is only a name. Empty means registry.k8s.io/pause:3.10.
	Image string
}

// Untolerating returns tolerations that tolerate nothing and keep the API server
// from adding its own. By default its admission plugin DefaultTolerationSeconds adds
// to every pod tolerations of 300 s for node.kubernetes.io/not-ready and /unreachable
// with effect NoExecute, unless the pod has one with that key. These have the keys,
// and a value that the taints never have.
func Untolerating() []corev1.Toleration {
	var list []corev1.Toleration
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		list = append(list, corev1.Toleration{Key: key, Operator: corev1.TolerationOpEqual, Value: "never", Effect: corev1.TaintEffectNoExecute})
	}
	return list
}

// Tolerate returns a toleration for every value of a taint, for as long as it is
// there, or for a limited time if limit is more than zero (whole seconds, NoExecute).
func Tolerate(key string, effect corev1.TaintEffect, limit time.Duration) corev1.Toleration {
	t := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
	if limit > 0 {
		t.TolerationSeconds = ptr.To(int64(limit / time.Second))
	}
	return t
}

// pods is the template for pods of the named owner.
func (t Template) pods(name string, restart corev1.RestartPolicy) (corev1.PodTemplateSpec, error) {
	resources, err := t.resources()
	if err != nil {
		return corev1.PodTemplateSpec{}, err
	}
	labels := selector(name)
	maps.Copy(labels, t.Labels)
	image := t.Image
	if image == "" {
		image = "registry.k8s.io/pause:3.10"
	}
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: t.annotations()},
		Spec: corev1.PodSpec{
			RestartPolicy:     restart,
			NodeSelector:      t.NodeSelector,
			Affinity:          t.Affinity,
			Tolerations:       t.Tolerations,
			PriorityClassName: t.PriorityClass,
			HostNetwork:       t.HostNetwork,
			Containers:        []corev1.Container{{Name: "app", Image: image, Resources: resources}},
		},
	}
	if t.Grace > 0 {
		template.Spec.TerminationGracePeriodSeconds = ptr.To(int64(t.Grace / time.Second))
	}
	for _, key := range t.Spread {
		template.Spec.TopologySpreadConstraints = append(template.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: selector(name)},
		})
	}
	return template, nil
}

func (t Template) annotations() map[string]string {
	annotations := maps.Clone(t.Annotations)
	for key, d := range map[string]time.Duration{node.RunForAnnotation: t.RunFor, node.StopAfterAnnotation: t.StopAfter} {
		if d > 0 {
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[key] = d.String()
		}
	}
	return annotations
}

func (t Template) resources() (corev1.ResourceRequirements, error) {
	var r corev1.ResourceRequirements
	request := func(list *corev1.ResourceList, name corev1.ResourceName, q resource.Quantity) {
		if *list == nil {
			*list = corev1.ResourceList{}
		}
		(*list)[name] = q
	}
	for name, text := range map[corev1.ResourceName]string{corev1.ResourceCPU: t.CPU, corev1.ResourceMemory: t.Memory} {
		if text == "" {
			continue
		}
		q, err := resource.ParseQuantity(text)
		if err != nil {
			return r, fmt.Errorf("parsing %s request %q: %w", name, text, err)
		}
		request(&r.Requests, name, q)
	}
	for name, q := range t.Requests {
		request(&r.Requests, name, q)
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory && name != corev1.ResourceEphemeralStorage {
			request(&r.Limits, name, q)
		}
	}
	return r, nil
}

func selector(name string) map[string]string { return map[string]string{"app": name} }
