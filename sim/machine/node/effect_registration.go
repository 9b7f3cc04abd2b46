package node

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"

	"nodestorm/sim/fault"
	"nodestorm/sim/strict"
)

// overdue reports whether the kubelet would have been heard of by now and was not.
func (k *kubelet) overdue(now time.Time) bool {
	return k.registered.IsZero() && !k.born.IsZero() && !now.Before(k.born.Add(k.profile.BootDelay))
}

// NeverRegisters means that the machine boots and its kubelet is never heard of. An adopted
// Node stays without conditions.
type NeverRegisters struct{ onRegistration }

var _ = coming.Add("neverRegisters", NeverRegisters{}, fault.Say("never registers").At("PERHAPS")).Called("never registers")

// Boot implements AtBoot.
func (NeverRegisters) Boot(b *Boot) { b.Never = true }

func (NeverRegisters) visible(k *kubelet, _ *armed, now time.Time) bool { return k.overdue(now) }

// Break implements Real: the machine was cut off as it booted.
func (NeverRegisters) Break(Container) error { return nil }

// Undo implements Real.
func (NeverRegisters) Undo(c Container) error { return c.Run("nodestorm-network", "on") }

// RegistersLate means that the kubelet is first heard of By later than BootDelay says.
type RegistersLate struct {
	onRegistration
	By strict.Duration `json:"by" want:"positive"`
}

var _ = coming.Add("registersLate", RegistersLate{}, fault.Say("registers DURATION late", "by").At("PERHAPS")).Called("registers late")

// Boot implements AtBoot.
func (e RegistersLate) Boot(b *Boot) { b.Late += time.Duration(e.By) }

func (RegistersLate) visible(k *kubelet, _ *armed, now time.Time) bool { return k.overdue(now) }

func (RegistersLate) recovered(k *kubelet, _ *armed, _ time.Time) bool { return !k.registered.IsZero() }

// Break implements Real: the machine was made to wait as it booted.
func (RegistersLate) Break(Container) error { return nil }

// Undo implements Real.
func (RegistersLate) Undo(Container) error { return nil }

// RegistersUntainted means that the Node comes without the taints that its kubelet was configured to
// register with. An adopted Node, which another client has created, has what it has.
type RegistersUntainted struct{ onRegistration }

var _ = coming.Add("registersUntainted", RegistersUntainted{},
	fault.Say("registers without its taints").At("PERHAPS")).Called("registers untainted")

func (RegistersUntainted) object(node *corev1.Node) {
	// mutant: a Node keeps the taints that it is to come without
	node.Spec.Taints = nil
}

func (RegistersUntainted) visible(k *kubelet, _ *armed, _ time.Time) bool {
	return k.made && len(k.spec.Taints) > 0
}

// RegistersAs means that the Node comes with this provider ID in place of its machine's. An
// adopted Node has what it has.
type RegistersAs struct {
	onRegistration
	ProviderID string `json:"providerID"`
}

var _ = coming.Add("registersAs", RegistersAs{},
	fault.Say(`registers with the provider ID "NAME"`, "providerID").At("PERHAPS")).Called("registers as another")

// Check implements fault.Checker.
func (e RegistersAs) Check(f fault.Fault) error {
	if e.ProviderID == "" {
		return errors.New("field registersAs.providerID is empty: want the one that the Node is to have")
	}
	return e.onRegistration.Check(f)
}

func (e RegistersAs) object(node *corev1.Node) { node.Spec.ProviderID = e.ProviderID }

func (e RegistersAs) visible(k *kubelet, _ *armed, _ time.Time) bool {
	// mutant: a Node that others have made has come otherwise
	return k.made && e.ProviderID != k.spec.ProviderID
}
