package node

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// judgeFaults notes which faults have taken effect and which are cleared by now.
func (k *kubelet) judgeFaults(now time.Time) {
	for _, a := range k.faults.All() {
		// mutant: a fault of a node takes effect at once
		if a.EffectiveSince().IsZero() && k.felt(a, now) {
			a.Effective(now, k.about())
		}
		// mutant: a node's fault ends before the node is well
		if !a.EffectiveSince().IsZero() && a.Cleared().IsZero() && k.recovered(a, now) {
			a.Clear(now, k.about())
		}
	}
}

// felt reports whether the API server has by now something else, or lacks
// something, because of the fault.
func (k *kubelet) felt(a *armed, now time.Time) bool {
	heartbeatMissed := !k.lease.dueAt.IsZero() && !now.Before(k.lease.dueAt) && a.Active(now)
	switch e := a.does.(type) {
	case NeverRegisters, RegistersLate:
		return k.registered.IsZero() && !k.born.IsZero() && !now.Before(k.born.Add(k.profile.BootDelay))
	case RegistersUntainted:
		return k.made && len(k.spec.Taints) > 0
	case RegistersAs:
		// mutant: a Node that others have made has come otherwise
		return k.made && e.ProviderID != k.spec.ProviderID
	case NotReady:
		return a.causes(e.Cause, now) && k.saidNotReady() && k.networkUp(now)
	case Flapping:
		return a.causes(e.Cause, now) && k.saidNotReady() && k.networkUp(now)
	case HeartbeatsStop:
		return heartbeatMissed
	case KubeletRestart:
		return heartbeatMissed || !a.returnedAt.IsZero()
	case TaintNeverLifted:
		agent := k.agent(e.Agent)
		return a.Active(now) && k.node != nil && !k.registered.IsZero() &&
			!now.Before(k.created.Add(agent.LiftAfter)) && hasTaint(k.node, agent.Taint)
	case NodeObjectDeleted:
		return a.deleted != ""
	}
	return false
}

// recovered reports whether the node is as it would be without the fault.
func (k *kubelet) recovered(a *armed, now time.Time) bool {
	switch e := a.does.(type) {
	case RegistersLate:
		return !k.registered.IsZero()
	case NotReady, Flapping:
		return a.Over(now) && k.saidReady()
	case HeartbeatsStop:
		return a.Over(now) && (!k.lease.sentAt.Before(a.Ends()) || !k.status.sentAt.Before(a.Ends()))
	case KubeletRestart:
		return !a.returnedAt.IsZero() && k.saidReady()
	case TaintNeverLifted:
		return k.agent(e.Agent).done == lifted
	case NodeObjectDeleted:
		return k.node != nil && k.node.UID != a.deleted
	}
	return false
}

func (k *kubelet) saidReady() bool    { return k.status.said.status == corev1.ConditionTrue }
func (k *kubelet) saidNotReady() bool { return k.status.said.status == corev1.ConditionFalse }
