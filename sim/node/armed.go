package node

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"nodestorm/sim/history"
)

// armed is a fault at work on a node. Times are zero as long as they have not come.
type armed struct {
	Fault
	node                            string
	armedAt, effectiveAt, clearedAt time.Time
	startAt                         time.Time // when it becomes active
	begun                           bool      // KubeletRestart: the kubelet went down
	returnedAt                      time.Time // KubeletRestart: first report after it
	deleted                         types.UID // NodeObjectDeleted: of the Node it took
}

// arm puts checked faults on the node. With fromNow their At counts from now.
func (k *kubelet) arm(faults []Fault, fromNow bool) {
	now := k.fleet.cfg.Clock.Now()
	for _, fault := range faults {
		a := &armed{Fault: fault, node: k.spec.Name, armedAt: now}
		if fromNow && fault.When == nil {
			a.startAt = now.Add(fault.At)
		}
		k.faults = append(k.faults, a)
		a.record(k.fleet, now, "armed")
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
	for _, fault := range faults {
		for _, old := range k.faults {
			if old.Name == fault.Name {
				return fmt.Errorf("fault %q is there already", fault.Name)
			}
		}
	}
	k.arm(faults, true)
	return nil
}

func (a *armed) record(f *Fleet, now time.Time, verb string) {
	f.cfg.History.Record(history.Event{
		At: now, Source: history.Fault, Verb: verb, Object: nodeObject(a.node), Actor: Actor,
		Detail: map[string]any{"fault": a.Name, "effect": a.Effect.String()},
	})
}

// offer starts a fault that waits for an event such as e.
func (a *armed) offer(e history.Event) {
	if a.When != nil && a.startAt.IsZero() && a.When(e) {
		a.startAt = e.At.Add(a.At)
	}
}

// endAt is when the fault stops acting. Zero means never, or not started.
func (a *armed) endAt() time.Time {
	switch e := a.Effect.(type) {
	case KubeletRestart:
		if !a.startAt.IsZero() {
			return a.startAt.Add(e.Down)
		}
	default:
		if !a.startAt.IsZero() && a.For > 0 {
			return a.startAt.Add(a.For)
		}
	}
	return time.Time{}
}

func (a *armed) active(now time.Time) bool {
	return !a.startAt.IsZero() && !now.Before(a.startAt) && !a.over(now)
}

func (a *armed) over(now time.Time) bool {
	end := a.endAt()
	return !end.IsZero() && !now.Before(end)
}

// advanceFaults starts what is to start, notes what has come true, and has the node
// looked at again when that may change.
func (k *kubelet) advanceFaults(due *earliest) {
	for _, a := range k.faults {
		if a.startAt.IsZero() && a.When == nil && !k.registered.IsZero() {
			a.startAt = k.registered.Add(a.At)
		}
		started := due.reached(a.startAt)
		due.reached(a.endAt())
		switch e := a.Effect.(type) {
		case NeverRegisters, RegistersLate:
			due.reached(k.born.Add(k.profile.BootDelay))
		case Flapping:
			if a.active(due.now) {
				half := e.Period / 2
				due.reached(a.startAt.Add((due.now.Sub(a.startAt)/half + 1) * half))
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
	for _, a := range k.faults {
		if _, ok := a.Effect.(HeartbeatsStop); ok && a.active(now) {
			return true
		}
	}
	return false
}

// down reports whether the kubelet's process is not there.
func (k *kubelet) down(now time.Time) bool {
	for _, a := range k.faults {
		if _, ok := a.Effect.(KubeletRestart); ok && a.active(now) {
			return true
		}
	}
	return false
}

// returned notes the first report after a restart.
func (k *kubelet) returned(now time.Time) {
	for _, a := range k.faults {
		if a.begun && a.over(now) && a.returnedAt.IsZero() {
			a.returnedAt = now
		}
	}
}

// runtimeError is why the kubelet starts and stops no pod. Nil means that it does.
func (k *kubelet) runtimeError(now time.Time) error {
	for _, a := range k.faults {
		if e, ok := a.Effect.(KubeletRestart); ok && a.begun && a.over(now) &&
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
	for _, a := range k.faults {
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
	if !a.active(now) {
		return false
	}
	switch e := a.Effect.(type) {
	case NotReady:
		return e.Cause == cause
	case Flapping:
		return e.Cause == cause && now.Sub(a.startAt)%e.Period < e.Period/2
	}
	return false
}

// nextDeletion is the call of a fault that is due to delete the Node.
func (k *kubelet) nextDeletion(now time.Time) call {
	for _, a := range k.faults {
		if _, ok := a.Effect.(NodeObjectDeleted); ok && a.deleted == "" && a.active(now) {
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
