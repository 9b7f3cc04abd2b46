package node

import (
	"time"

	"nodestorm/sim/fault"
	"nodestorm/sim/strict"
)

// heartbeatMissed reports whether the API server has waited for the kubelet while a fault was active.
func (k *kubelet) heartbeatMissed(a *armed, now time.Time) bool {
	return !k.lease.dueAt.IsZero() && !now.Before(k.lease.dueAt) && a.Active(now)
}

// HeartbeatsStop means that nothing passes between the kubelet and the API server, neither
// Lease nor status nor pods. Containers go on. kube-controller-manager then sets
// Ready=Unknown after its node-monitor-grace-period (50 s in 1.34).
type HeartbeatsStop struct{}

var _ = anyNode.Add("heartbeatsStop", HeartbeatsStop{}, fault.Say("stops sending heartbeats")).Called("heartbeats stop").
	Draws("{nodes}", "stops sending heartbeats")

func (HeartbeatsStop) cut() {}

func (HeartbeatsStop) visible(k *kubelet, a *armed, now time.Time) bool {
	return k.heartbeatMissed(a, now)
}

func (HeartbeatsStop) recovered(k *kubelet, a *armed, now time.Time) bool {
	return a.Expired(now) && (!k.lease.sentAt.Before(a.Ends()) || !k.status.sentAt.Before(a.Ends()))
}

// Break implements Real.
func (HeartbeatsStop) Break(c Container) error { return c.Run("nodestorm-network", "off") }

// Undo implements Real.
func (HeartbeatsStop) Undo(c Container) error { return c.Run("nodestorm-network", "on") }

// KubeletRestarts means that the kubelet is down for Down, containers go on. It comes back,
// registers again, and first reports Ready=False (its runtime checks have not
// succeeded yet), Settle later Ready=True. Settle zero means that Ready=True
// follows in the next write. A real 1.34 kubelet is often fast enough to skip the
// NotReady report; one with a slow runtime, and older ones, are not.
type KubeletRestarts struct {
	Down   strict.Duration `json:"down" want:"positive"`
	Settle strict.Duration `json:"settle"`
}

var _ = anyNode.Add("kubeletRestarts", KubeletRestarts{},
	fault.Say("has its kubelet restarted, which is down for DURATION and reports Ready DURATION later", "down",
		"settle").At("SINCE")).Called("kubelet restart").
	DrawsLasting("the first new simulated node has its kubelet restarted, which is down for",
		"20s and reports Ready 10s later, from 1m on", "2m and reports Ready 10s later, from 1m on")

// Check implements fault.Checker.
func (KubeletRestarts) Check(f fault.Fault) error { return endless(f) }

// restart is what is known of one.
type restart struct {
	begun      bool      // the kubelet went down
	returnedAt time.Time // first report after it; zero: not yet
}

func (KubeletRestarts) state() any            { return &restart{} }
func (e KubeletRestarts) down() time.Duration { return time.Duration(e.Down) }

func (KubeletRestarts) returned(a *armed, now time.Time) {
	if r := a.state.(*restart); r.begun && a.Expired(now) && r.returnedAt.IsZero() {
		r.returnedAt = now
	}
}

func (e KubeletRestarts) broken(a *armed, now time.Time) error {
	r := a.state.(*restart)
	if r.begun && a.Expired(now) && (r.returnedAt.IsZero() || now.Before(r.returnedAt.Add(time.Duration(e.Settle)))) {
		return errStarting
	}
	return nil
}

func (e KubeletRestarts) next(k *kubelet, a *armed, due *earliest, started bool) {
	r := a.state.(*restart)
	if started && !r.begun {
		r.begun, k.restarted = true, true
	}
	if !r.returnedAt.IsZero() {
		due.reached(r.returnedAt.Add(time.Duration(e.Settle)))
	}
}

func (KubeletRestarts) visible(k *kubelet, a *armed, now time.Time) bool {
	return k.heartbeatMissed(a, now) || !a.state.(*restart).returnedAt.IsZero()
}

func (KubeletRestarts) recovered(k *kubelet, a *armed, _ time.Time) bool {
	return !a.state.(*restart).returnedAt.IsZero() && k.saidReady()
}

// Break implements Real.
func (KubeletRestarts) Break(c Container) error { return c.Run("systemctl", "stop", "kubelet") }

// Undo implements Real.
func (KubeletRestarts) Undo(c Container) error { return c.Run("systemctl", "start", "kubelet") }
