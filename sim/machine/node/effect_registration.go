package node

import (
	"cmp"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"

	"nodestorm/sim/fault"
	"nodestorm/sim/time/lapse"
)

// unspoken reports whether the kubelet would have been heard of by now and was not.
func (k *kubelet) unspoken(now time.Time) bool {
	return k.registered.IsZero() && !k.born.IsZero() && !now.Before(k.born.Add(k.profile.BootDelay))
}

// NeverRegisters means that the machine boots and its kubelet is never heard of. An adopted
// Node stays without conditions.
type NeverRegisters struct{ early }

var _ = Faults.Add(fault.Kind{
	Key: "neverRegisters", Effect: NeverRegisters{}, Says: []fault.Words{fault.Say("never registers").At("PERHAPS")},
}, coming)

func (NeverRegisters) String() string { return "never registers" }

// Boot implements AtBoot.
func (NeverRegisters) Boot(b *Boot) { b.Never = true }

func (NeverRegisters) felt(k *kubelet, _ *armed, now time.Time) bool { return k.unspoken(now) }

// Break implements Real: the machine was cut off as it booted.
func (NeverRegisters) Break(Container) error { return nil }

// Mend implements Real.
func (NeverRegisters) Mend(c Container) error { return c.Run("nodestorm-network", "on") }

// RegistersLate means that the kubelet is first heard of By later than BootDelay says.
type RegistersLate struct {
	early
	By lapse.Duration `json:"by"`
}

var _ = Faults.Add(fault.Kind{
	Key: "registersLate", Effect: RegistersLate{}, Says: []fault.Words{fault.Say("registers DURATION late", "by").At("PERHAPS")},
}, coming)

func (RegistersLate) String() string { return "registers late" }

// Check implements fault.Effect.
func (e RegistersLate) Check(f fault.Fault) error {
	return cmp.Or(lapse.Positive("registersLate.by", e.By), e.early.Check(f))
}

// Boot implements AtBoot.
func (e RegistersLate) Boot(b *Boot) { b.Late += time.Duration(e.By) }

func (RegistersLate) felt(k *kubelet, _ *armed, now time.Time) bool { return k.unspoken(now) }

func (RegistersLate) recovered(k *kubelet, _ *armed, _ time.Time) bool { return !k.registered.IsZero() }

// Break implements Real: the machine was made to wait as it booted.
func (RegistersLate) Break(Container) error { return nil }

// Mend implements Real.
func (RegistersLate) Mend(Container) error { return nil }

// RegistersUntainted means that the Node comes without the taints that its kubelet was told to
// register with. An adopted Node, which somebody else has made, has what it has.
type RegistersUntainted struct{ early }

var _ = Faults.Add(fault.Kind{
	Key: "registersUntainted", Effect: RegistersUntainted{}, Says: []fault.Words{fault.Say("registers without its taints").At("PERHAPS")},
}, coming)

func (RegistersUntainted) String() string { return "registers untainted" }

func (RegistersUntainted) object(node *corev1.Node) {
	// mutant: a Node keeps the taints that it is to come without
	node.Spec.Taints = nil
}

func (RegistersUntainted) felt(k *kubelet, _ *armed, _ time.Time) bool {
	return k.made && len(k.spec.Taints) > 0
}

// RegistersAs means that the Node comes with this provider ID in place of its machine's. An
// adopted Node has what it has.
type RegistersAs struct {
	early
	ProviderID string `json:"providerID"`
}

var _ = Faults.Add(fault.Kind{
	Key: "registersAs", Effect: RegistersAs{},
	Says: []fault.Words{fault.Say(`registers with the provider ID "NAME"`, "providerID").At("PERHAPS")},
}, coming)

func (RegistersAs) String() string { return "registers as another" }

// Check implements fault.Effect.
func (e RegistersAs) Check(f fault.Fault) error {
	if e.ProviderID == "" {
		return errors.New("field registersAs.providerID is empty: want the one that the Node is to have")
	}
	return e.early.Check(f)
}

func (e RegistersAs) object(node *corev1.Node) { node.Spec.ProviderID = e.ProviderID }

func (e RegistersAs) felt(k *kubelet, _ *armed, _ time.Time) bool {
	// mutant: a Node that others have made has come otherwise
	return k.made && e.ProviderID != k.spec.ProviderID
}
