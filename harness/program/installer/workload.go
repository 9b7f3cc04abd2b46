package installer

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// missing says what a workload lacks; nothing if it is rolled out. The conditions are
// those of kubectl rollout status.
func (r Runner) missing(ctx context.Context, w *Rollout) (string, error) {
	c, err := r.counts(ctx, w)
	switch {
	case err != nil:
		return "", err
	case c.seen < c.generation:
		return "its controller has not seen it yet", nil
	case c.updated < c.wanted:
		return fmt.Sprintf("%d of %d pods are up to date", c.updated, c.wanted), nil
	case c.all > c.updated:
		return fmt.Sprintf("%d old pods are left", c.all-c.updated), nil
	case c.available < c.updated:
		return fmt.Sprintf("%d of %d pods are available", c.available, c.updated), nil
	}
	return "", nil
}

// counts are a workload's, whatever its kind.
type counts struct {
	generation, seen                int64
	wanted, all, updated, available int32
	selector                        *metav1.LabelSelector
}

func (r Runner) counts(ctx context.Context, w *Rollout) (counts, error) {
	key := client.ObjectKey{Namespace: namespaceOf(w.Namespace), Name: w.Name}
	switch w.Kind {
	case "Deployment":
		d := &appsv1.Deployment{}
		err := r.Client.Get(ctx, key, d)
		return counts{d.Generation, d.Status.ObservedGeneration, orOne(d.Spec.Replicas), d.Status.Replicas, d.Status.UpdatedReplicas,
			d.Status.AvailableReplicas, d.Spec.Selector}, err
	case "StatefulSet":
		s := &appsv1.StatefulSet{}
		err := r.Client.Get(ctx, key, s)
		return counts{s.Generation, s.Status.ObservedGeneration, orOne(s.Spec.Replicas), s.Status.Replicas, s.Status.UpdatedReplicas,
			s.Status.AvailableReplicas, s.Spec.Selector}, err
	}
	d := &appsv1.DaemonSet{}
	err := r.Client.Get(ctx, key, d)
	wanted := d.Status.DesiredNumberScheduled
	return counts{d.Generation, d.Status.ObservedGeneration, wanted, d.Status.UpdatedNumberScheduled,
		d.Status.UpdatedNumberScheduled, d.Status.NumberAvailable, d.Spec.Selector}, err
}

func orOne(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}

// waitingReason is the first reason that one of the workload's pods gives for not running.
func (r Runner) waitingReason(ctx context.Context, w *Rollout) string {
	c, err := r.counts(ctx, w)
	if err != nil {
		return ""
	}
	selector, err := metav1.LabelSelectorAsSelector(c.selector)
	if err != nil {
		return ""
	}
	pods := &corev1.PodList{}
	if err := r.Client.List(ctx, pods, client.InNamespace(namespaceOf(w.Namespace)),
		client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return ""
	}
	for _, p := range pods.Items {
		for _, condition := range p.Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
				return fmt.Sprintf("; pod %s: %s", p.Name, condition.Message)
			}
		}
		for _, container := range p.Status.ContainerStatuses {
			if waiting := container.State.Waiting; waiting != nil {
				return fmt.Sprintf("; pod %s: %s %s", p.Name, waiting.Reason, waiting.Message)
			}
		}
	}
	return ""
}
