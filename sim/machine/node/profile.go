package node

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"nodestorm/sim/fault"
)

// Intervals and limits of a kubelet that is configured with nothing, from
// Kubernetes v1.36.3. They are what a zero field of Profile means.
const (
	// DefaultLeaseDuration: pkg/kubelet/apis/config/v1beta1/defaults.go:150.
	DefaultLeaseDuration = 40 * time.Second
	// DefaultStatusUpdate: ibid. line 147.
	DefaultStatusUpdate = 10 * time.Second
	// DefaultStatusReport: ibid. line 137. In a kubelet that is configured with a
	// nodeStatusUpdateFrequency and nothing else, it would be that; here it is not.
	DefaultStatusReport = 5 * time.Minute
)

// Annotations with which a pod says how its containers behave. The value is a
// Go duration ("90s"); one that does not parse counts as absent.
const (
	// RunForAnnotation: containers exit with 0 this long after their start. It
	// needs a restartPolicy other than Always, as a restart is not simulated.
	RunForAnnotation = "nodestorm.sim/run-for"
	// StopAfterAnnotation: containers exit this long after SIGTERM, in place of
	// Profile.PodStopDelay. A value beyond the grace period ignores SIGTERM.
	StopAfterAnnotation = "nodestorm.sim/stop-after"
)

// Profile is how a machine and its kubelet behave. The zero value is a kubelet
// without any delay: NotReady in its first report and Ready in the next.
// DefaultProfile has the delays of an ordinary machine.
type Profile struct {
	// BootDelay is from Boot to the kubelet's first word, the registration of the
	// Node. For an adopted Node it counts from the Node's appearance.
	BootDelay time.Duration
	// ReadyDelay is from registration (or adoption) to Ready=True: the time until
	// the network plugin is there. Before it, Ready is False with reason
	// KubeletNotReady from the Node's first moment on, as with a real kubelet.
	ReadyDelay time.Duration

	// LeaseDuration is the Lease's leaseDurationSeconds, whole seconds. Renewal is
	// a quarter of it (nodeLeaseRenewIntervalFraction, pkg/kubelet/kubelet.go:230),
	// up to 4 % late (component-helpers, apimachinery/lease/controller.go, Run).
	// Zero means DefaultLeaseDuration, that is a renewal every 10 s.
	LeaseDuration time.Duration
	// StatusUpdate is how often the status is computed, up to 4 % late
	// (kubelet.go:1806). Zero means DefaultStatusUpdate.
	StatusUpdate time.Duration
	// StatusReport is how often an unchanged status is written. The first time
	// after a change it is moved by up to half of itself either way
	// (kubelet_node_status.go:551, calculateDelay). Zero means DefaultStatusReport.
	StatusReport time.Duration

	// PodStartDelay is from the kubelet's seeing a bound pod to Running: image
	// pull, sandbox, start. Zero means at once.
	PodStartDelay time.Duration
	// PodStopDelay is from SIGTERM to the containers' exit with 0. Beyond a pod's
	// grace period the pod is killed at its end (exit code 137). Zero means at once.
	PodStopDelay time.Duration

	// Kubelet is the release that the kubelet says it is of: "v1.35.4". Empty means the fleet's.
	Kubelet string
	// Agents run on the node and hold a startup taint. Nil means none.
	Agents []Agent
	// Faults are armed when the machine boots or is adopted. Nil means none.
	Faults []fault.Fault

	// GoneWithNode says that the machine ends when its Node object is deleted, as
	// in Karpenter's kwok provider, where the object is the Instance. Otherwise the
	// kubelet lives on without a Node: a real one registers only at its start
	// (registrationCompleted, kubelet_node_status.go:54).
	GoneWithNode bool
}

// DefaultProfile is an ordinary machine: 30 s to boot, 10 s until the network
// plugin is there, 2 s to start a pod, 1 s to stop one. These four are chosen,
// not measured; a scenario that depends on one sets it.
func DefaultProfile() Profile {
	return Profile{
		BootDelay:     30 * time.Second,
		ReadyDelay:    10 * time.Second,
		PodStartDelay: 2 * time.Second,
		PodStopDelay:  time.Second,
	}
}

// Agent is a DaemonSet's pod that holds a startup taint until it is ready, for
// example Cilium with node.cilium.io/agent-not-ready:NoSchedule. Both times count
// from the Node's creation. Its API calls and events carry its name as actor.
type Agent struct {
	// Name is the actor, for example "cilium". Required, unique on a node.
	Name string
	// Taint is set and lifted by key and effect. Key and Effect are required.
	Taint corev1.Taint
	// SetAfter is when the agent sets the taint. Zero means at once. A taint that
	// the Node already has stays as it is.
	SetAfter time.Duration
	// LiftAfter is when the agent lifts the taint. Zero means never.
	LiftAfter time.Duration
}

// withDefaults fills the intervals in.
func (p Profile) withDefaults() Profile {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&p.LeaseDuration, DefaultLeaseDuration},
		{&p.StatusUpdate, DefaultStatusUpdate},
		{&p.StatusReport, DefaultStatusReport},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	return p
}

// check says what is wrong with a profile before anything starts.
func (p Profile) check() error {
	for name, d := range map[string]time.Duration{
		"BootDelay": p.BootDelay, "ReadyDelay": p.ReadyDelay, "LeaseDuration": p.LeaseDuration,
		"StatusUpdate": p.StatusUpdate, "StatusReport": p.StatusReport,
		"PodStartDelay": p.PodStartDelay, "PodStopDelay": p.PodStopDelay,
	} {
		if d < 0 {
			return fmt.Errorf("field %s is %v: want zero or more", name, d)
		}
	}
	if p.LeaseDuration%time.Second != 0 {
		return fmt.Errorf("field LeaseDuration is %v: want whole seconds", p.LeaseDuration)
	}
	agents := map[string]Agent{}
	for _, a := range p.Agents {
		switch {
		case a.Name == "" || a.Taint.Key == "" || a.Taint.Effect == "":
			return fmt.Errorf("agent %q with taint %q: want a name, a taint key and an effect", a.Name, a.Taint.ToString())
		case agents[a.Name].Name != "":
			return fmt.Errorf("agent %q is there twice: want names unique on a node", a.Name)
		case a.SetAfter < 0 || a.LiftAfter < 0 || (a.LiftAfter > 0 && a.LiftAfter < a.SetAfter):
			return fmt.Errorf("agent %q sets at %v and lifts at %v: want 0 <= set <= lift, or lift zero for never", a.Name, a.SetAfter, a.LiftAfter)
		}
		agents[a.Name] = a
	}
	return checkFaults(p.Faults, agents, false)
}
