package node

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// reportAt is when the status is to be written: at once when what the kubelet
// itself has to say has changed; at the next computation when another client changed
// its conditions (kube-controller-manager sets them to Unknown) or when
// StatusReport has passed since the last time.
//
// A real kubelet notices its own changes at a computation too, except for the first
// Ready, which it reports within 100 ms (kubelet.go, fastStatusUpdateOnce). Here
// every such change looks as if the computation fell on it, so that a fault begins
// when the scenario says; a real one may be up to 10.4 s later.
func (k *kubelet) reportAt(now time.Time) time.Time {
	s := &k.status
	if k.ready(now) != s.said || k.devicesChanged(now) {
		return now
	}
	if s.pending.IsZero() {
		expires := s.sentAt.Add(k.profile.StatusReport + s.delay)
		if now.Before(expires) && !k.disputed() {
			return expires
		}
		for s.tick.Before(now) {
			s.tick = s.tick.Add(jitter(k.profile.StatusUpdate, s.random))
		}
		s.pending = s.tick
	}
	return s.pending
}

// report writes the status: conditions, and of the rest what the Node lacks.
func (k *kubelet) report(ctx context.Context) error {
	f := k.fleet
	f.mu.Lock()
	now := f.cfg.Clock.Now()
	if k.node == nil {
		f.mu.Unlock()
		return nil // deleted since the call was chosen
	}
	before, say := k.node, k.ready(now)
	changed := say != k.status.said || k.disputed()
	patch, err := json.Marshal(k.statusPatch(now, say))
	f.mu.Unlock()
	if err != nil {
		return err
	}
	after, err := f.cfg.Client.CoreV1().Nodes().Patch(ctx, k.spec.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	k.see(after)
	k.reported(now, say, changed)
	k.announce(now, before, after)
	k.judgeFaults(now)
	return nil
}

// reported notes a status that the API server has accepted. After a change the next
// unchanged report is moved at random, then they come at an even pace
// (kubelet_node_status.go, tryUpdateNodeStatus).
func (k *kubelet) reported(now time.Time, say condition, changed bool) {
	s := &k.status
	first := k.registered.IsZero()
	if first {
		k.registered, s.tick, k.lease.dueAt = now, now, now
	}
	s.said, s.sentAt, s.delay, s.pending = say, now, 0, time.Time{}
	if changed {
		s.delay = time.Duration((s.random.Float64() - 0.5) * float64(k.profile.StatusReport))
	}
	if first || k.restarted {
		k.emit(now, "register", map[string]any{"adopted": k.adopted, "again": !first, "providerID": k.spec.ProviderID})
	}
	k.restarted = false
	k.returned(now)
}

// announce records that a report has turned the Node Ready or NotReady. A Node's
// first NotReady goes without: the register event says it.
func (k *kubelet) announce(now time.Time, before, after *corev1.Node) {
	was, is := readyCondition(before), readyCondition(after)
	switch {
	case is.Status == was.Status:
	case is.Status == corev1.ConditionTrue:
		k.emit(now, "ready", map[string]any{"reason": is.Reason, "message": is.Message})
	case was.Status != "":
		k.emit(now, "notready", map[string]any{"reason": is.Reason, "message": is.Message})
	}
}

// nextLease is the call that keeps the Lease going. Without a Node it goes on until
// the garbage collector takes the Lease.
func (k *kubelet) nextLease(due *earliest) call {
	switch {
	case !due.reached(k.lease.dueAt):
	case k.lease.held != nil:
		return call{"renewing lease of node", k.renewLease}
	case k.node != nil:
		return call{"creating lease of node", k.createLease}
	}
	return call{}
}

// createLease does not ask first whether there is a Lease. A kubelet does, which is
// one call more for the same result.
func (k *kubelet) createLease(ctx context.Context) error {
	f := k.fleet
	f.mu.Lock()
	now := f.cfg.Clock.Now()
	lease := k.leaseAt(now)
	f.mu.Unlock()
	lease, err := f.cfg.Client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Create(ctx, lease, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return k.readLease(ctx)
	}
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	// Machines that booted together are spread over one interval. Real kubelets need
	// no help with that, as no two of them start at the same instant.
	interval := jitter(k.profile.LeaseDuration/4, k.lease.random)
	k.leaseSent(now, lease, time.Duration(k.lease.random.Float64()*float64(interval)))
	return nil
}

// renewLease writes on top of the Lease as last known, without reading it.
func (k *kubelet) renewLease(ctx context.Context) error {
	f := k.fleet
	f.mu.Lock()
	now := f.cfg.Clock.Now()
	lease := k.leaseAt(now)
	f.mu.Unlock()
	lease, err := f.cfg.Client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Update(ctx, lease, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return k.readLease(ctx)
	}
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	k.leaseSent(now, lease, jitter(k.profile.LeaseDuration/4, k.lease.random))
	return nil
}

// readLease finds out about a Lease that is not as it was left. One that another
// client wrote is the base of the next renewal, due at once. One that is gone, which the
// API server may call a conflict, is created again as soon as there is a Node.
func (k *kubelet) readLease(ctx context.Context) error {
	lease, err := k.fleet.cfg.Client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(ctx, k.spec.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		lease, err = nil, nil
	}
	if err != nil {
		return err
	}
	k.fleet.mu.Lock()
	defer k.fleet.mu.Unlock()
	k.lease.held = lease
	return nil
}

func (k *kubelet) leaseSent(now time.Time, lease *coordinationv1.Lease, next time.Duration) {
	k.lease.held, k.lease.sentAt, k.lease.dueAt = lease, now, now.Add(next)
	k.judgeFaults(now)
}

// leaseAt is the Lease as it is to be written now.
func (k *kubelet) leaseAt(now time.Time) *coordinationv1.Lease {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: k.spec.Name, Namespace: corev1.NamespaceNodeLease}}
	if k.lease.held != nil {
		lease.ObjectMeta = k.lease.held.ObjectMeta
	}
	if len(lease.OwnerReferences) == 0 && k.node != nil {
		lease.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: k.node.Name, UID: k.node.UID}}
	}
	lease.Spec = coordinationv1.LeaseSpec{
		HolderIdentity:       ptr.To(k.spec.Name),
		LeaseDurationSeconds: ptr.To(int32(k.profile.LeaseDuration / time.Second)),
		RenewTime:            ptr.To(metav1.NewMicroTime(now)),
	}
	return lease
}

// jitter returns d or up to 4 % more: the jitter of the kubelet's lease and status
// loops, wait.JitterUntil with a factor of 0.04.
func jitter(d time.Duration, r *rand.Rand) time.Duration {
	return d + time.Duration(r.Float64()*0.04*float64(d))
}
