package node

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/time/lapse"
)

// armed is a fault at work on a node.
type armed struct {
	fault.Life
	does Effect
	on   When

	begun      bool      // KubeletRestart: the kubelet went down
	returnedAt time.Time // KubeletRestart: first report after it; zero: not yet
	deleted    types.UID // NodeObjectDeleted: of the Node it took
}

// arm puts checked faults on the node. With fromNow their At counts from now.
func (k *kubelet) arm(faults []Fault, fromNow bool) {
	now := k.fleet.cfg.Clock.Now()
	recorder := fault.Recorder{History: k.fleet.cfg.History, Seed: k.fleet.cfg.Seed}
	for _, f := range faults {
		plan := fault.Plan{At: lapse.Duration(f.At), For: lapse.Duration(f.For)}
		if restart, ok := f.Effect.(KubeletRestart); ok {
			plan.For = lapse.Duration(restart.Down)
		}
		a := &armed{Life: recorder.Arm(f.Name, f.Effect.String(), plan, now, k.about()), does: f.Effect, on: f.When}
		if !fromNow || f.When != nil {
			a.Wait() // for the registration, or the event
		}
		k.faults.Add(a)
	}
}

func (k *kubelet) inject(faults []Fault) error {
	agents := map[string]Agent{}
	for _, a := range k.agents {
		agents[a.Name] = a.Agent
	}
	if err := checkFaults(faults, agents, !k.registered.IsZero()); err != nil {
		return err
	}
	for _, f := range faults {
		if err := k.faults.Free(f.Name); err != nil {
			return err
		}
	}
	k.arm(faults, true)
	return nil
}

// about is what records of the node's faults say.
func (k *kubelet) about() fault.About {
	return fault.About{Actor: Actor, Object: nodeObject(k.spec.Name)}
}

// offer starts a fault that waits for an event such as e.
func (a *armed) offer(e history.Event) {
	if a.on != nil && a.Begins().IsZero() && a.on(e) {
		a.Start(e.At)
	}
}

// advanceFaults starts what is to start, notes what has come true, and has the node
// looked at again when that may change.
func (k *kubelet) advanceFaults(due *earliest) {
	for _, a := range k.faults.All() {
		if a.Begins().IsZero() && a.on == nil && !k.registered.IsZero() {
			a.Start(k.registered)
		}
		started := due.reached(a.Begins())
		due.reached(a.Ends())
		switch e := a.does.(type) {
		case NeverRegisters, RegistersLate:
			due.reached(k.born.Add(k.profile.BootDelay))
		case Flapping:
			if a.Active(due.now) {
				half := e.Period / 2
				due.reached(a.Begins().Add((due.now.Sub(a.Begins())/half + 1) * half))
			}
		case KubeletRestart:
			if started && !a.begun {
				a.begun, k.restarted = true, true
			}
			if !a.returnedAt.IsZero() {
				due.reached(a.returnedAt.Add(e.Settle))
			}
		}
	}
	if k.cut(due.now) || k.down(due.now) {
		due.reached(k.lease.dueAt) // to see it missed
	}
	k.judgeFaults(due.now)
}

// cut reports whether nothing passes between the machine and the API server.
func (k *kubelet) cut(now time.Time) bool {
	for _, a := range k.faults.All() {
		if _, ok := a.does.(HeartbeatsStop); ok && a.Active(now) {
			return true
		}
	}
	return false
}

// down reports whether the kubelet's process is not there.
func (k *kubelet) down(now time.Time) bool {
	for _, a := range k.faults.All() {
		if _, ok := a.does.(KubeletRestart); ok && a.Active(now) {
			return true
		}
	}
	return false
}

// returned notes the first report after a restart.
func (k *kubelet) returned(now time.Time) {
	for _, a := range k.faults.All() {
		if a.begun && a.Over(now) && a.returnedAt.IsZero() {
			a.returnedAt = now
		}
	}
}

// runtimeError is why the kubelet starts and stops no pod. Nil means that it does.
func (k *kubelet) runtimeError(now time.Time) error {
	for _, a := range k.faults.All() {
		if e, ok := a.does.(KubeletRestart); ok && a.begun && a.Over(now) &&
			(a.returnedAt.IsZero() || now.Before(a.returnedAt.Add(e.Settle))) {
			return errStarting
		}
		if a.causes(RuntimeDown, now) {
			return errRuntimeDown
		}
	}
	return nil
}

// networkError is why the kubelet starts only hostNetwork pods.
func (k *kubelet) networkError(now time.Time) error {
	if !k.networkUp(now) {
		return errNetworkDown
	}
	for _, a := range k.faults.All() {
		if a.causes(NetworkDown, now) {
			return errNetworkDown
		}
	}
	return nil
}

// networkUpAt is when the network plugin comes up after the boot; zero while the
// machine boots.
func (k *kubelet) networkUpAt() time.Time {
	if k.registered.IsZero() {
		return time.Time{}
	}
	return k.registered.Add(k.profile.ReadyDelay)
}

func (k *kubelet) networkUp(now time.Time) bool {
	return !k.registered.IsZero() && !now.Before(k.networkUpAt())
}

// causes reports whether the fault makes the node NotReady in this way now.
func (a *armed) causes(cause Cause, now time.Time) bool {
	if !a.Active(now) {
		return false
	}
	switch e := a.does.(type) {
	case NotReady:
		return e.Cause == cause
	case Flapping:
		return e.Cause == cause && now.Sub(a.Begins())%e.Period < e.Period/2
	}
	return false
}

// nextDeletion is the call of a fault that is due to delete the Node.
func (k *kubelet) nextDeletion(now time.Time) call {
	for _, a := range k.faults.All() {
		if _, ok := a.does.(NodeObjectDeleted); ok && a.deleted == "" && a.Active(now) {
			return call{"deleting node", func(ctx context.Context) error { return k.deleteNode(ctx, a) }}
		}
	}
	return call{}
}

func (k *kubelet) deleteNode(ctx context.Context, a *armed) error {
	f := k.fleet
	f.mu.Lock()
	node := k.node
	f.mu.Unlock()
	if node == nil {
		return nil // deleted by others since the call was chosen
	}
	err := f.cfg.Client.CoreV1().Nodes().Delete(ctx, node.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(node.UID))})
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	a.deleted = node.UID
	k.judgeFaults(f.cfg.Clock.Now())
	return nil
}
