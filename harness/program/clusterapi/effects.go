package clusterapi

import (
	"errors"
	"strings"
	"time"

	"nodestorm/sim/fault"
)

// Faults are what can go wrong with machines of a MachineDeployment, by the infrastructure provider or the
// bootstrap provider: with those that are made while a fault is active, or, of effects that strike later in a
// machine's life, with those that are there too. What a fault holds back goes on when it is cleared; what has been
// done to a machine or said of it stays. Its occasions are machines that come to that point of their lives.
var Faults = &fault.List{
	Name: "machines", About: "machines of Cluster API", Match: Match{},
	Order: "stuckInProvisioning failsToProvision neverJoins lostBeforeJoining reportedFailed deletionHeld",
}

var someMachines = Faults.Subject(`EVERY-MACHINE of the MachineDeployment "NAME"`, "", "deployment")

// Match is which machines a fault strikes.
type Match struct {
	// Deployment is the MachineDeployment that they are of. Required.
	Deployment string `json:"deployment"`
}

// One implements fault.Match.
func (Match) One() string { return "" }

// Check implements fault.Match.
func (m Match) Check() error {
	if m.Deployment == "" {
		return errors.New("it is of no deployment: want a name and a MachineDeployment")
	}
	return nil
}

// What an effect does, it says by one of these methods.
type (
	// atBootstrap changes a machine's user data.
	atBootstrap interface{ userData(data string) string }
	// atCreation has no instance made; status is what is said of it, nil for nothing.
	atCreation interface {
		notMade() (status map[string]any)
	}
	// atStart has an instance go so long after it was made, with what is said of it.
	atStart interface {
		lossStatus() (after time.Duration, status map[string]any)
	}
	// atWork has something said of a machine that has a node.
	atWork interface {
		reportedStatus() (status map[string]any)
	}
	// atDeletion has the provider's finalizer stay.
	atDeletion interface{ holdsDeletion() }
)

// spares reports whether an effect leaves machines alone that are there before it: they are past that point of
// their life.
func spares(e fault.Effect) bool {
	switch e.(type) {
	case atWork, atDeletion:
		return false
	}
	return true
}

// failure is what a provider says of a machine that will not recover.
func failure(reason, message string) map[string]any {
	return map[string]any{"failureReason": reason, "failureMessage": message}
}

// StuckInProvisioning means that no instance is made, and no reason is reported.
type StuckInProvisioning struct{}

var _ = someMachines.Add("stuckInProvisioning", StuckInProvisioning{},
	fault.Say("is stuck in Provisioning")).Called("stuck in Provisioning")

func (StuckInProvisioning) notMade() map[string]any { return nil }

// FailsToProvision means that no instance is made, and the provider reports a failure.
type FailsToProvision struct{}

var _ = someMachines.Add("failsToProvision", FailsToProvision{}, fault.Say("fails to be provisioned")).Called("fails to provision")

func (FailsToProvision) notMade() map[string]any {
	return failure("CreateError", "the cloud has no room for the instance")
}

// NeverJoins means that the instance runs, and its user data breaks off before the join.
type NeverJoins struct{}

var _ = someMachines.Add("neverJoins", NeverJoins{}, fault.Say("never joins")).Called("never joins")

func (NeverJoins) userData(data string) string {
	before, _, _ := strings.Cut(data, "cat <<EOF")
	return before
}

// LostBeforeJoining means that the instance goes as soon as the machine has its provider
// ID, as one does that the cloud takes back; the provider reports a failure.
type LostBeforeJoining struct{}

var _ = someMachines.Add("lostBeforeJoining", LostBeforeJoining{},
	fault.Say("gets a provider ID and is lost before it joins")).Called("lost before it joins")

// A cloud takes back an instance that it has given before any is booted.
func (LostBeforeJoining) lossStatus() (after time.Duration, status map[string]any) {
	return 20 * time.Second, failure("UpdateError", "the cloud has taken the instance back")
}

// ReportedFailed means that the provider reports a failure of a machine that has a node. Instance and node are as
// well as before.
type ReportedFailed struct{}

var _ = someMachines.Add("reportedFailed", ReportedFailed{},
	fault.Say("is reported as failed while it runs")).Called("reported failed while it runs")

func (ReportedFailed) reportedStatus() map[string]any {
	return failure("UpdateError", "the provider's check of the instance has failed")
}

// DeletionHeld means that the provider's finalizer stays, and so does the instance.
type DeletionHeld struct{}

var _ = someMachines.Add("deletionHeld", DeletionHeld{},
	fault.Say("is held by a finalizer when it is deleted")).Called("deletion held")

func (DeletionHeld) holdsDeletion() {}
