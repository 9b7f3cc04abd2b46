package kubelet

import (
	"errors"
	"time"

	"nodestorm/sim/fault"
)

// Faults are what can be done to a machine from outside. Their one occasion is the machine.
var Faults = &fault.List{
	Name: "kubelets", About: "machines with real kubelets", Match: Match{}, Order: "runtimeDown networkGone stopped",
}

var theKubelet = Faults.Subject(`the real kubelet of the machine "NAME"`, "machine")

// Match is which machine a fault strikes.
type Match struct {
	// Machine is its name, and that of its Node. Required. Names of faults are unique on it as long as they
	// are there.
	Machine string `json:"machine"`
}

// Check implements fault.Match.
func (m Match) Check() error {
	if m.Machine == "" {
		return errors.New("it is of no machine: want a name and a machine")
	}
	return nil
}

// One implements fault.Match.
func (Match) One() string { return "one machine" }

// effect is one of a kind of Faults: it breaks something, and mends it.
type effect interface {
	begin(m *Machines, b *machine, a *armed) error
	repair(m *Machines, b *machine) error
}

// RuntimeDown means that the container runtime does not answer. It is effective when the kubelet says that its
// Node is not ready.
type RuntimeDown struct{}

var _ = theKubelet.Add("runtimeDown", RuntimeDown{},
	fault.Say("is not answered by its container runtime")).Called("the container runtime does not answer")

func (RuntimeDown) begin(m *Machines, _ *machine, a *armed) error {
	m.awaitNotReady(a)
	return m.setRuntime(a.object.Name, false)
}

func (RuntimeDown) repair(m *Machines, b *machine) error { return m.setRuntime(b.spec.Name, true) }

// NetworkGone is as if the network plugin's configuration had been removed. It is effective like RuntimeDown.
type NetworkGone struct{}

var _ = theKubelet.Add("networkGone", NetworkGone{},
	fault.Say("finds no network plugin")).Called("the network plugin has no configuration")

func (NetworkGone) begin(m *Machines, _ *machine, a *armed) error {
	m.awaitNotReady(a)
	return m.SetNetwork(a.object.Name, false)
}

func (NetworkGone) repair(m *Machines, b *machine) error { return m.SetNetwork(b.spec.Name, true) }

// Stopped means that no kubelet runs. It is effective when the process is gone; containers go on.
type Stopped struct{}

var _ = theKubelet.Add("stopped", Stopped{}, fault.Say("is stopped")).Called("no kubelet runs")

func (Stopped) begin(m *Machines, b *machine, a *armed) error {
	m.record("stop", a.object.Name, nil)
	if p := b.want(false); p != nil {
		return p.Stop(time.Second)
	}
	return nil
}

func (Stopped) repair(_ *Machines, b *machine) error {
	b.want(true)
	return nil
}
