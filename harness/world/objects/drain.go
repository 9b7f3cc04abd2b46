package objects

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/kubectl/pkg/drain"
)

// Drain is the emptying of a node as `kubectl drain --ignore-daemonsets
// --delete-emptydir-data` does it. Which pods go is kubectl's own choice; when they are
// asked for is not, for it would sleep in real time.
type Drain struct {
	by   *drain.Helper
	node string
	pods []*leaving
}

// leaving is a pod that is to go.
type leaving struct {
	corev1.Pod
	evicted bool      // the API server has agreed to it
	next    time.Time // when to ask it again
	refused string    // why it has not
}

// RetryEviction is when kubectl asks again for an eviction that was refused.
const RetryEviction = 5 * time.Second

// StartDrain cordons a node and finds the pods to evict. By force they may be without a
// controller, too, and then nothing brings them back.
func (c *Client) StartDrain(ctx context.Context, r Ref, force bool) (*Drain, error) {
	d := &Drain{node: r.Name, by: &drain.Helper{
		Ctx: ctx, Client: c.typed, Force: force, IgnoreAllDaemonSets: true, DeleteEmptyDirData: true, GracePeriodSeconds: -1,
	}}
	if err := c.startDrain(ctx, r, d); err != nil {
		return nil, fmt.Errorf("draining %s: %w", r, err)
	}
	return d, nil
}

func (c *Client) startDrain(ctx context.Context, r Ref, d *Drain) error {
	found, err := c.find(r.Kind)
	switch {
	case err != nil:
		return err
	case found.GroupVersionResource != corev1.SchemeGroupVersion.WithResource("nodes"):
		return fmt.Errorf("%s cannot be drained: nodes can", found.Name)
	case r.Namespace != "":
		return errors.New("nodes are in no namespace")
	}
	node, err := c.typed.CoreV1().Nodes().Get(ctx, r.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if cordon := drain.NewCordonHelper(node); cordon.UpdateIfRequired(true) {
		if err, patchErr := cordon.PatchOrReplaceWithContext(ctx, c.typed, false); err != nil || patchErr != nil {
			return errors.Join(err, patchErr)
		}
	}
	list, wrong := d.by.GetPodsForDeletion(r.Name)
	if len(wrong) > 0 {
		err := utilerrors.NewAggregate(wrong) // on one line
		if !d.by.Force && strings.Contains(err.Error(), "--force") {
			return fmt.Errorf(`%w; or say "is drained by force"`, err)
		}
		return err
	}
	for _, pod := range list.Pods() {
		d.pods = append(d.pods, &leaving{Pod: pod})
	}
	return nil
}

// Advance asks for the evictions that are due and returns the pods that are still there,
// with why. It is to be called again until there are none.
func (d *Drain) Advance(ctx context.Context, now time.Time) (left []string, err error) {
	if len(d.pods) == 0 {
		return nil, nil
	}
	for _, pod := range d.pods {
		if pod.evicted || now.Before(pod.next) {
			continue
		}
		pod.next, pod.refused = now.Add(RetryEviction), ""
		switch err := d.by.EvictPod(pod.Pod, policyv1.SchemeGroupVersion); {
		case err == nil, apierrors.IsNotFound(err):
			pod.evicted = true
		case apierrors.IsTooManyRequests(err), apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
			pod.refused = err.Error()
		default:
			return nil, fmt.Errorf("draining Node/%s: evicting Pod/%s/%s: %w", d.node, pod.Namespace, pod.Name, err)
		}
	}
	there, err := d.by.Client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("spec.nodeName", d.node).String(),
	})
	if err != nil {
		return nil, fmt.Errorf("draining Node/%s: %w", d.node, err)
	}
	uids := map[types.UID]bool{}
	for _, pod := range there.Items {
		uids[pod.UID] = true
	}
	d.pods = slices.DeleteFunc(d.pods, func(pod *leaving) bool { return !uids[pod.UID] })
	for _, pod := range d.pods {
		why := "it is evicted, and ends"
		if !pod.evicted {
			why = pod.refused
		}
		left = append(left, fmt.Sprintf("Pod/%s/%s: %s", pod.Namespace, pod.Name, why))
	}
	return left, nil
}
