package node

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"

	"nodestorm/sim/fault"
	"nodestorm/sim/history"
)

// armed is a fault at work on a node.
type armed struct {
	fault.Life
	does  effect
	state any // of effects that are remembering
}

// arm puts checked faults on the node. With fromNow their At counts from now.
func (k *kubelet) arm(faults []fault.Fault, fromNow bool) {
	now := k.fleet.cfg.Clock.Now()
	recorder := fault.Recorder{History: k.fleet.cfg.History, Seed: k.fleet.cfg.Seed}
	for _, f := range faults {
		a := &armed{Life: recorder.Arm(f.Name, Faults.Called(f.Effect), PlanOf(f), now, k.eventDetails()), does: f.Effect.(effect)}
		if e, ok := f.Effect.(remembering); ok {
			a.state = e.state()
		}
		if !fromNow {
			a.Wait() // for the registration
		}
		k.faults.Add(a)
	}
}

func (k *kubelet) inject(f fault.Fault) error {
	agents := map[string]Agent{}
	for _, a := range k.agents {
		agents[a.Name] = a.Agent
	}
	if err := checkFaults([]fault.Fault{f}, agents, !k.registered.IsZero()); err != nil {
		return err
	}
	if err := k.faults.Free(f.Name); err != nil {
		return err
	}
	k.arm([]fault.Fault{f}, true)
	return nil
}

// eventDetails is what events of the node's faults say.
func (k *kubelet) eventDetails() fault.EventDetails {
	return fault.EventDetails{Actor: Actor, Object: nodeObject(k.spec.Name)}
}

// offer starts a fault that waits for an event such as e.
func (a *armed) offer(e history.Event) {
	if a.When != nil && a.Begins().IsZero() && a.When.Matches(history.Entry{Event: e}) {
		a.Start(e.At)
	}
}

// forEachFault calls do with the faults whose effects are such, in the order in which they were armed, until it returns false.
func forEachFault[E any](k *kubelet) func(do func(*armed, E) bool) {
	return func(do func(*armed, E) bool) {
		for _, a := range k.faults.All() {
			if e, ok := a.does.(E); ok && !do(a, e) {
				return
			}
		}
	}
}

// advanceFaults starts what is to start, notes what has come true, and has the node
// looked at again when that may change.
func (k *kubelet) advanceFaults(due *earliest) {
	for _, a := range k.faults.All() {
		if a.Begins().IsZero() && a.When == nil && !k.registered.IsZero() {
			a.Start(k.registered)
		}
		started := due.reached(a.Begins())
		due.reached(a.Ends())
		if e, ok := a.does.(paced); ok {
			e.next(k, a, due, started)
		}
	}
	for range forEachFault[AtBoot](k) {
		due.reached(k.born.Add(k.profile.BootDelay))
	}
	if k.cut(due.now) || k.down(due.now) {
		due.reached(k.lease.dueAt) // to see it missed
	}
	k.judgeFaults(due.now)
}

// cut reports whether nothing passes between the machine and the API server.
func (k *kubelet) cut(now time.Time) bool { return active[cuts](k, now) }

// down reports whether the kubelet's process is not there.
func (k *kubelet) down(now time.Time) bool { return active[downs](k, now) }

func active[E any](k *kubelet, now time.Time) bool {
	for a := range forEachFault[E](k) {
		if a.Active(now) {
			return true
		}
	}
	return false
}

// returned notes the first report after a restart.
func (k *kubelet) returned(now time.Time) {
	for a, e := range forEachFault[downs](k) {
		e.returned(a, now)
	}
}

// runtimeError is why the kubelet starts and stops no pod. Nil means that it does.
func (k *kubelet) runtimeError(now time.Time) error {
	for a, e := range forEachFault[unready](k) {
		if err := e.broken(a, now); err != nil && !errors.Is(err, errNetworkDown) {
			return err
		}
	}
	return nil
}

// networkError is why the kubelet starts only hostNetwork pods.
func (k *kubelet) networkError(now time.Time) error {
	if !k.networkUp(now) {
		return errNetworkDown
	}
	for a, e := range forEachFault[unready](k) {
		if errors.Is(e.broken(a, now), errNetworkDown) {
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

// nextFaulty is the call of a fault that is due.
func (k *kubelet) nextFaulty(now time.Time) call {
	for a, e := range forEachFault[calling](k) {
		if c := e.call(k, a, now); c.do != nil {
			return c
		}
	}
	return call{}
}

// judgeFaults notes which faults have taken effect and which are cleared by now.
func (k *kubelet) judgeFaults(now time.Time) {
	for _, a := range k.faults.All() {
		// mutant: a fault of a node takes effect at once
		if a.EffectiveSince().IsZero() && a.does.visible(k, a, now) {
			a.Effective(now, k.eventDetails())
		}
		// mutant: a node's fault ends before the node is well
		if !a.EffectiveSince().IsZero() && a.Cleared().IsZero() && a.does.recovered(k, a, now) {
			a.Clear(now, k.eventDetails())
		}
	}
}

func (k *kubelet) saidReady() bool    { return k.status.said.status == corev1.ConditionTrue }
func (k *kubelet) saidNotReady() bool { return k.status.said.status == corev1.ConditionFalse }
