package node

import (
	"time"

	"nodestorm/sim/fault"
	"nodestorm/sim/strict"
)

// notReady is what effects have in common that have a living kubelet report Ready=False.
type notReady struct{}

func (notReady) visible(k *kubelet, a *armed, now time.Time) bool {
	return a.does.(unready).broken(a, now) != nil && k.saidNotReady() && k.networkUp(now)
}

func (notReady) recovered(k *kubelet, a *armed, now time.Time) bool {
	return a.Expired(now) && k.saidReady()
}

// NotReady means that the container runtime does not answer, which the kubelet reports as Ready=False with reason
// KubeletNotReady. During that time, no pod is started or stopped ("Skipping pod synchronization", kubelet.go:2451).
type NotReady struct{ notReady }

var _ = anyNode.Add("notReady", NotReady{}, fault.Say("is NotReady")).Called("not ready").
	Draws("{nodes}", "is NotReady")

func (NotReady) broken(a *armed, now time.Time) error {
	if a.Active(now) {
		return errRuntimeDown
	}
	return nil
}

// Break implements Real.
func (NotReady) Break(c Container) error {
	c.AwaitNotReady()
	return c.Run("systemctl", "kill", "--signal", "STOP", "--kill-who", "main", "containerd")
}

// Undo implements Real.
func (NotReady) Undo(c Container) error {
	return c.Run("systemctl", "kill", "--signal", "CONT", "--kill-who", "main", "containerd")
}

// NetworkDown means that there is no network plugin, which the kubelet reports like NotReady. Only hostNetwork pods
// are started (kubelet.go:1979); stopping goes on.
type NetworkDown struct{ notReady }

var _ = anyNode.Add("networkDown", NetworkDown{}, fault.Say("has no network")).Called("not ready").
	Draws("{nodes}", "has no network")

func (NetworkDown) broken(a *armed, now time.Time) error {
	if a.Active(now) {
		return errNetworkDown
	}
	return nil
}

// The network plugin's configuration in a container.
const (
	pluginDir  = "/etc/cni/net.d/"
	pluginFile = "10-nodestorm.conflist"
)

// Break implements Real.
func (NetworkDown) Break(c Container) error {
	c.AwaitNotReady()
	return c.Run("mv", pluginDir+pluginFile, "/etc/cni/")
}

// Undo implements Real.
func (NetworkDown) Undo(c Container) error {
	return c.Run("mv", "/etc/cni/"+pluginFile, pluginDir+pluginFile)
}

// Flaps means that the node is NotReady for the first half of every span of some length, and Ready for the second.
type Flaps struct {
	notReady
	Every strict.Duration `json:"every" want:"positive"`
}

var _ = anyNode.Add("flaps", Flaps{}, fault.Say("is NotReady for half of every DURATION", "every")).Called("flapping").
	Draws("{nodes}", "is NotReady for half of every 40s")

func (e Flaps) broken(a *armed, now time.Time) error {
	if every := time.Duration(e.Every); a.Active(now) && now.Sub(a.Begins())%every < every/2 {
		return errRuntimeDown
	}
	return nil
}

func (e Flaps) next(_ *kubelet, a *armed, due *earliest, _ bool) {
	if a.Active(due.now) {
		half := time.Duration(e.Every) / 2
		due.reached(a.Begins().Add((due.now.Sub(a.Begins())/half + 1) * half))
	}
}
