package node

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"nodestorm/sim/history"
	"nodestorm/sim/machine/node/agenda"
)

// pod is a bound pod as its kubelet knows it, guarded by the fleet's mutex.
//
//	bound ─▶ (waits for the network) ─(PodStartDelay)─▶ Running ─▶ Succeeded
//	                                                       │ deletionTimestamp
//	                 gone ◀─ DELETE, grace 0 ◀─ terminated ◀┘ (PodStopDelay or grace)
type pod struct {
	object *corev1.Pod // as last seen
	ip     string      // empty until it has one

	waiting   bool      // reported as waiting for the network
	startAt   time.Time // when it will run; zero until the kubelet takes it up
	startedAt time.Time // when it was reported Running
	killedAt  time.Time // when the kubelet saw its deletion
	exited    bool      // reported terminated
	gone      bool      // deleted for good, or never was this pod; no calls any more
	ready     bool      // reported Ready
	reported  int64     // generation of the object that was reported Running
	repairAt  time.Time // when a condition that others changed is written again

	failures int // calls failed in a row
}

// running reports whether containers are up. Code that changes that keeps count:
// Fleet.counting.
func (p *pod) running() bool { return !p.startedAt.IsZero() && !p.exited }

func newPod(object *corev1.Pod) *pod {
	p := &pod{object: object, reported: object.Generation}
	if object.Status.Phase == corev1.PodRunning && object.Status.StartTime != nil {
		// Left by an earlier fleet or put there by a test: taken over as it is.
		p.startedAt, p.ip, p.ready = object.Status.StartTime.Time, object.Status.PodIP, readyByGates(object).status == corev1.ConditionTrue
	}
	return p
}

func podKey(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// podView is what decides whether pods get on.
type podView struct {
	working bool // the kubelet is there, and through to the API server
	runtime bool // containers can be started and stopped
	network bool // pods without hostNetwork can be started
}

func (k *kubelet) view(now time.Time) podView {
	return podView{
		working: !k.registered.IsZero() && !k.cut(now) && !k.down(now),
		runtime: k.runtimeError(now) == nil,
		network: k.networkError(now) == nil,
	}
}

// revisitPods adds all pods of the node to the agenda when something has changed for them.
func (k *kubelet) revisitPods(now time.Time) {
	view := k.view(now)
	if view == k.podView {
		return
	}
	k.podView = view
	if bound := k.fleet.byNode[k.spec.Name]; bound != nil {
		for key := range bound.pods {
			k.fleet.podWork.Add(key)
		}
	}
}

// syncPod makes the calls of one pod that are due and returns when the next is.
func (f *Fleet) syncPod(ctx context.Context, key types.NamespacedName) time.Duration {
	for ctx.Err() == nil {
		f.mu.Lock()
		p := f.pods[key]
		if p == nil || f.kubelets[p.object.Spec.NodeName] == nil {
			f.mu.Unlock()
			return agenda.Never
		}
		now := f.cfg.Clock.Now()
		do, at := f.kubelets[p.object.Spec.NodeName].nextForPod(p, now)
		f.mu.Unlock()
		if do == nil {
			return delayUntil(now, at)
		}
		err := do(ctx)
		f.mu.Lock()
		p.failures++
		if err == nil {
			p.failures = 0
		} else {
			f.failed("serving pod "+key.String(), err)
		}
		wait := backoff(p.failures)
		f.mu.Unlock()
		if err != nil {
			return wait
		}
	}
	return agenda.Never
}

// nextForPod returns the call that is due for p, or when there may be one.
func (k *kubelet) nextForPod(p *pod, now time.Time) (do podCall, at time.Time) {
	view := k.view(now)
	deleting := p.object.DeletionTimestamp != nil
	switch {
	case !view.working || p.gone:
		return nil, time.Time{}
	case deleting && (p.exited || terminal(p.object)):
		return k.remove(p), now
	case p.exited || terminal(p.object):
		return nil, time.Time{}
	case deleting:
		return k.stop(p, now, view)
	case p.startedAt.IsZero():
		return k.launch(p, now, view)
	}
	due := &earliest{now: now}
	runFor, ends := duration(p.object, RunForAnnotation)
	if ends && view.runtime && p.object.Spec.RestartPolicy != corev1.RestartPolicyAlways && due.reached(p.startedAt.Add(runFor)) {
		return k.writeTerminated(p, exitCompleted), now
	}
	// mutant: a pod that is resized is not looked at
	if p.object.Generation != p.reported {
		return k.writeRunning(p), now
	}
	if due.reached(p.repair(now)) {
		return k.writeRunning(p), now
	}
	return nil, due.at
}

// launch is the way to Running. Whatever holds it up has the pod looked at again
// when it is over (revisitPods).
func (k *kubelet) launch(p *pod, now time.Time, view podView) (do podCall, at time.Time) {
	switch {
	case !view.runtime:
		return nil, time.Time{}
	case !view.network && !p.object.Spec.HostNetwork:
		p.startAt = time.Time{}
		if !p.waiting {
			return k.writeWaiting(p), now
		}
		return nil, time.Time{}
	case p.startAt.IsZero():
		p.startAt = now.Add(k.profile.PodStartDelay)
	}
	if now.Before(p.startAt) {
		return nil, p.startAt
	}
	return k.writeRunning(p), now
}

// stop is the way out. The grace period counts from when the kubelet saw the
// deletion, and a second deletion may shorten it.
func (k *kubelet) stop(p *pod, now time.Time, view podView) (do podCall, at time.Time) {
	if !view.runtime {
		return nil, time.Time{}
	}
	if p.killedAt.IsZero() {
		p.killedAt = now
	}
	if p.startedAt.IsZero() {
		return k.writeTerminated(p, exitUnknown), now
	}
	var grace time.Duration
	if seconds := p.object.DeletionGracePeriodSeconds; seconds != nil {
		grace = time.Duration(*seconds) * time.Second
	}
	exit, given := duration(p.object, StopAfterAnnotation)
	if !given {
		exit = k.profile.PodStopDelay
	}
	exitAt, how := p.killedAt.Add(exit), exitCompleted
	if exit > grace {
		exitAt, how = p.killedAt.Add(grace), exitKilled
	}
	if now.Before(exitAt) {
		return nil, exitAt
	}
	return k.writeTerminated(p, how), now
}

// repair is when the Ready condition of a running pod is written again, after
// kube-controller-manager set it to False for a NotReady Node: at the status
// manager's next look, every 10 s (pkg/kubelet/status/status_manager.go, syncPeriod). When
// readiness gates open or close the pod itself has changed, which a kubelet takes up at once.
func (p *pod) repair(now time.Time) time.Time {
	switch want := readyByGates(p.object).status == corev1.ConditionTrue; {
	case p.object.Status.Phase != corev1.PodRunning || podReady(p.object) == want:
		p.repairAt = time.Time{}
	case p.ready != want:
		p.repairAt = now
	case p.repairAt.IsZero():
		p.repairAt = now.Add(10 * time.Second)
	}
	return p.repairAt
}

// podEvent records what became of a pod. The caller holds the fleet's mutex.
func (k *kubelet) podEvent(now time.Time, verb string, object *corev1.Pod, detail map[string]any) {
	detail["node"] = k.spec.Name
	k.record(history.Event{
		At: now, Verb: verb, Actor: Actor, Detail: detail,
		Object: history.Object{Resource: "pods", Namespace: object.Namespace, Name: object.Name},
	})
	if len(k.faults.All()) > 0 {
		k.fleet.nodeWork.Add(k.spec.Name) // one may have been waiting for this
	}
}

func terminal(object *corev1.Pod) bool {
	return object.Status.Phase == corev1.PodSucceeded || object.Status.Phase == corev1.PodFailed
}

func podReady(object *corev1.Pod) bool {
	for _, c := range object.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func duration(object *corev1.Pod, annotation string) (time.Duration, bool) {
	d, err := time.ParseDuration(object.Annotations[annotation])
	return d, err == nil && d >= 0
}
