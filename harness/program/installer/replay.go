package installer

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"nodestorm/sim/history"
)

// Runner replays orders in a cluster. All fields are required.
type Runner struct {
	Client  client.Client
	Clock   clock.WithTicker
	History history.Recorder
}

// fieldOwner is who applies, as the API server sees it.
const fieldOwner = client.FieldOwner("order")

// Run replays the steps. The error is that of the first step that failed: what it
// was, after how long, and what was the matter.
func (r Runner) Run(ctx context.Context, o *Order) error {
	for i, s := range o.Steps {
		verb, object, err := r.step(ctx, s)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		detail := map[string]any{"step": i + 1, "of": len(o.Steps), "failed": err != nil}
		if err != nil {
			detail["error"] = err.Error()
		}
		r.History.Record(history.Event{Source: history.Harness, Verb: verb, Actor: "order", Object: object, Detail: detail})
		if err != nil {
			return fmt.Errorf("step %d of %d: %w", i+1, len(o.Steps), err)
		}
	}
	return nil
}

func (r Runner) step(ctx context.Context, s Step) (verb string, object history.Object, err error) {
	switch {
	case s.Apply != "":
		object = history.Object{Resource: "manifests", Name: s.Apply}
		return "apply", object, r.apply(ctx, s)
	case s.Rollout != nil:
		object = history.Object{Resource: strings.ToLower(s.Rollout.Kind) + "s", Namespace: namespaceOf(s.Rollout.Namespace),
			Name: s.Rollout.Name}
		return "rollout", object, r.rollout(ctx, s.Rollout)
	case s.Label != nil:
		object = history.Object{Resource: "nodes", Name: strings.Join(s.Label.Nodes, ",")}
		return "label", object, r.label(ctx, s.Label)
	}
	object = history.Object{Resource: "nodes", Name: strings.Join(s.Taint.Nodes, ",")}
	return "taint", object, r.taint(ctx, s.Taint)
}

// apply is kubectl apply --server-side.
func (r Runner) apply(ctx context.Context, s Step) error {
	for _, o := range s.objects {
		o = o.DeepCopy()
		mapping, err := r.Client.RESTMapper().RESTMapping(o.GroupVersionKind().GroupKind(), o.GroupVersionKind().Version)
		if err != nil {
			return fmt.Errorf("applying %s %s: %w", o.GetKind(), o.GetName(), err)
		}
		if mapping.Scope.Name() == "namespace" && o.GetNamespace() == "" {
			o.SetNamespace(corev1.NamespaceDefault)
		}
		if err := r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), fieldOwner, client.ForceOwnership); err != nil {
			return fmt.Errorf("applying %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

func (r Runner) label(ctx context.Context, l *Label) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": l.Labels}})
	if err != nil {
		return err
	}
	for _, name := range l.Nodes {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := r.Client.Patch(ctx, node, client.RawPatch(types.MergePatchType, patch), fieldOwner); err != nil {
			return fmt.Errorf("labelling node %s: %w", name, err)
		}
	}
	return nil
}

// taint adds to what others have set: the list is replaced as a whole, so a conflict
// with another writer is tried again.
func (r Runner) taint(ctx context.Context, t *Taint) error {
	for _, name := range t.Nodes {
		err := retryOnConflict(ctx, func() error {
			node := &corev1.Node{}
			if err := r.Client.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
				return err
			}
			for _, add := range t.taints {
				node.Spec.Taints = append(withoutTaint(node.Spec.Taints, add), add)
			}
			return r.Client.Update(ctx, node, fieldOwner)
		})
		if err != nil {
			return fmt.Errorf("tainting node %s: %w", name, err)
		}
	}
	return nil
}

func withoutTaint(taints []corev1.Taint, one corev1.Taint) (rest []corev1.Taint) {
	for _, t := range taints {
		if !t.MatchTaint(&one) {
			rest = append(rest, t)
		}
	}
	return rest
}

func retryOnConflict(ctx context.Context, f func() error) error {
	for {
		err := f()
		if !apierrors.IsConflict(err) || ctx.Err() != nil {
			return err
		}
	}
}

// pollEvery is how often a rollout is looked at, as helm does.
const pollEvery = 2 * time.Second

// rollout waits until the workload's pods are all of its newest template and
// available.
func (r Runner) rollout(ctx context.Context, w *Rollout) error {
	deadline := r.Clock.NewTimer(w.timeout)
	defer deadline.Stop()
	tick := r.Clock.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		missing, err := r.missing(ctx, w)
		if err != nil {
			return fmt.Errorf("looking at %s: %w", w, err)
		}
		if missing == "" {
			return nil
		}
		select {
		case <-tick.C():
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-deadline.C():
			return fmt.Errorf("timed out after %s waiting for %s: %s%s", w.timeout, w, missing, r.waitingReason(ctx, w))
		}
	}
}
