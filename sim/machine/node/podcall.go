package node

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// podCall is one request about a pod, like call for Nodes.
type podCall func(context.Context) error

// writeRunning reports the pod as up. A kubelet reports ContainerCreating before it;
// a pod that is not held up gets one report here, not two.
func (k *kubelet) writeRunning(p *pod) podCall {
	return k.writeStatus(p, func(now time.Time) (podStatus, func()) {
		ip, startedAt := p.ip, p.startedAt
		first := startedAt.IsZero()
		if first {
			startedAt = now
		}
		switch {
		case ip != "":
		case p.object.Spec.HostNetwork:
			ip = k.hostIP()
		default:
			ip = k.fleet.nextIP()
		}
		ready := readyByGates(p.object).status == corev1.ConditionTrue
		generation := p.object.Generation
		return k.statusRunning(p, ip, startedAt, now), func() {
			p.ip, p.startedAt, p.ready, p.reported, p.repairAt = ip, startedAt, ready, generation, time.Time{}
			if first {
				k.podEvent(now, "running", p.object, map[string]any{"ip": ip})
			}
		}
	})
}

// writeTerminated reports the pod's containers as ended.
func (k *kubelet) writeTerminated(p *pod, how exit) podCall {
	return k.writeStatus(p, func(now time.Time) (podStatus, func()) {
		return k.statusTerminated(p, how, now), func() {
			p.exited = true
			k.podEvent(now, "terminated", p.object, map[string]any{"exitCode": how.ExitCode, "reason": how.Reason})
		}
	})
}

// writeWaiting reports that the pod's containers can not be created without a
// network, and says so in an Event (kubelet.go:1980). The Event comes once; a
// kubelet repeats it.
func (k *kubelet) writeWaiting(p *pod) podCall {
	write := k.writeStatus(p, func(now time.Time) (podStatus, func()) {
		return k.statusWaiting(p, now), func() {
			p.waiting = true
			k.podEvent(now, "waiting", p.object, map[string]any{"reason": "NetworkNotReady"})
		}
	})
	return func(ctx context.Context) error {
		f := k.fleet
		f.mu.Lock()
		object, now := p.object, metav1.NewTime(f.cfg.Clock.Now())
		f.mu.Unlock()
		if err := write(ctx); err != nil {
			return err
		}
		_, err := f.cfg.Client.CoreV1().Events(object.Namespace).Create(ctx, &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s.%x", object.Name, now.UnixNano()), Namespace: object.Namespace},
			InvolvedObject: corev1.ObjectReference{
				APIVersion: "v1", Kind: "Pod", Namespace: object.Namespace, Name: object.Name, UID: object.UID,
			},
			Type: corev1.EventTypeWarning, Reason: "NetworkNotReady", Message: "network is not ready: " + errNetworkDown.Error(),
			Source:         corev1.EventSource{Component: "kubelet", Host: k.spec.Name},
			FirstTimestamp: now, LastTimestamp: now, Count: 1,
		}, metav1.CreateOptions{})
		return err
	}
}

// writeStatus patches the status that make returns, both under the fleet's mutex,
// and on success calls what make returned with it. The pod's UID in the patch makes
// it fail on another pod of the same name.
func (k *kubelet) writeStatus(p *pod, make func(now time.Time) (podStatus, func())) podCall {
	return func(ctx context.Context) error {
		f := k.fleet
		f.mu.Lock()
		object := p.object
		status, written := make(f.cfg.Clock.Now())
		f.mu.Unlock()
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": object.UID}, "status": status})
		if err != nil {
			return err
		}
		_, err = f.cfg.Client.CoreV1().Pods(object.Namespace).Patch(ctx, object.Name, types.StrategicMergePatchType, patch,
			metav1.PatchOptions{}, "status")
		return f.concluded(p, err, written)
	}
}

// remove deletes a terminated pod for good, unless it is another of the same name.
func (k *kubelet) remove(p *pod) podCall {
	return func(ctx context.Context) error {
		f := k.fleet
		f.mu.Lock()
		object := p.object
		f.mu.Unlock()
		options := *metav1.NewDeleteOptions(0)
		options.Preconditions = metav1.NewUIDPreconditions(string(object.UID))
		err := f.cfg.Client.CoreV1().Pods(object.Namespace).Delete(ctx, object.Name, options)
		return f.concluded(p, err, func() { p.gone = true })
	}
}

// concluded notes the outcome of a call about p. Not found and conflict mean that
// this very pod is no more, which is nothing to try again.
func (f *Fleet) concluded(p *pod, err error, done func()) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case apierrors.IsNotFound(err) || apierrors.IsConflict(err):
		p.gone = true
	case err != nil:
		return err
	default:
		f.counting(p, done)
	}
	return nil
}
