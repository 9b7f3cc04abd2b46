package vocabulary

import (
	"slices"
	"strings"
	"sync"
)

// served are resources of API servers of worlds beside Kubernetes' own: those that it serves itself and has no kind of in its
// libraries, and those of the programs under test. A scenario can bring others.
const served = `
customresourcedefinitions apiservices
nodeclaims nodepools nodeoverlays kwoknodeclasses fakenodeclasses
capacitybuffers provisioningrequests verticalpodautoscalers verticalpodautoscalercheckpoints
admissionchecks clusterqueues cohorts localqueues provisioningrequestconfigs resourceflavors topologies workloadpriorityclasses workloads
clusters clusterclasses clusterresourcesets clusterresourcesetbindings extensionconfigs ipaddresses ipaddressclaims machinedrainrules
machinehealthchecks machinedeployments machinepools machines machinesets
nodestormclusters nodestormcontrolplanes nodestormconfigs nodestormconfigtemplates nodestormmachines nodestormmachinetemplates
nodestormmachinepools
`

// Served are the resources of API servers that are known.
var Served = sync.OnceValue(func() []string {
	all := strings.Fields(served)
	for _, resource := range kinded() {
		all = append(all, resource)
	}
	slices.Sort(all)
	return slices.Compact(all)
})

// unwritten are resources of which the audit policy has no call written down: there are many, and no story has them.
var unwritten = []string{
	"leases", "leasecandidates", "tokenreviews", "selfsubjectreviews", "subjectaccessreviews", "localsubjectaccessreviews",
	"selfsubjectaccessreviews", "selfsubjectrulesreviews",
}

// Unwritten reports whether no call on a resource of the API server is in a history.
func Unwritten(resource string) bool { return slices.Contains(unwritten, resource) }

// namespaces are those of each world, and those of the programs under test.
var namespaces = []string{"default", "kube-system", "kube-public", "kube-node-lease", "karpenter", "capi-system", "kueue-system"}

// Namespaces are those that there are without a scenario that makes one.
func Namespaces() []string { return slices.Clone(namespaces) }

// conditions are the types of conditions that NodeClaims of all releases of Karpenter can have, then those of ProvisioningRequests and
// of Kueue's Workloads.
var conditions = []string{
	"Launched", "Registered", "Initialized", "Ready", "Consolidatable", "ConsistentStateFound", "DisruptionReason", "Drained",
	"Drifted", "Empty", "Expired", "InstanceTerminating", "Terminating", "VolumesDetached",
	"Accepted", "Provisioned", "Failed", "BookingExpired", "CapacityRevoked",
	"QuotaReserved", "Admitted", "PodsReady", "Evicted", "Preempted", "Requeued", "Finished",
}

// Parts are the keys that a detail which is a mapping can have; nil if that is not known.
func Parts(detail string) []string {
	switch detail {
	case "conditions":
		return conditions
	case "NodeClaim", "Node", "NodePool", "Pod": // as klog has objects
		return []string{"name", "namespace"}
	}
	return nil
}

// onlyOf are the resources of which alone calls have a detail. Other details are of calls on anything.
var onlyOf = map[string][]string{
	"added": {Nodes}, "removed": {Nodes}, "taints": {Nodes}, "ready": {Nodes}, "unschedulable": {Nodes},
	"initialized": {Nodes}, "registered": {Nodes}, "extended": {Nodes},
	"providerID": {Nodes, NodeClaims},
	"conditions": {NodeClaims, ProvisioningRequests, Workloads}, "deleting": {NodeClaims}, "nodeName": {NodeClaims}, "nodePool": {NodeClaims}, "startupTaints": {NodeClaims},
	"issued": {requests}, "signer": {requests}, "user": {requests},
	"about": {"events"}, "type": {"events"},
	"reason": {"events", Pods}, "message": {"events", Pods},
	"cpu": {Nodes, Pods, VPAs}, "memory": {Nodes, Pods, VPAs}, "samples": {VPACheckpoints},
	"instanceType": {Nodes, NodeClaims}, "capacity": {Nodes, NodeClaims}, "zone": {Nodes, NodeClaims},
	"node": {Pods, "bindings"}, "owner": {Pods, "bindings"}, "gracePeriodSeconds": {Pods, "bindings"},
}

const requests = "certificatesigningrequests"

// Definitions is the resource of what brings others, whose names begin with them: widgets.example.com.
const Definitions = "customresourcedefinitions"

// OnlyOf are the resources of which calls to the API server have a detail; nil if others can have it, too.
func OnlyOf(detail string) []string { return onlyOf[detail] }
