package vocabulary

import (
	"strings"
	"sync"
)

// words are those that Kubernetes, the programs under test and what comes with them have, and that scenarios name.
const words = `
NoSchedule NoExecute PreferNoSchedule NotIn Exists DoesNotExist RollingUpdate Recreate Always IfNotPresent Never
WhenEmpty WhenEmptyOrUnderutilized DoNotSchedule ScheduleAnyway Ready Unknown
karpenter cluster-autoscaler kubectl kube-scheduler kube-controller-manager kube-apiserver cluster-api kubelet-csr-approver
kube-system cluster-autoscaler-status default
kubernetes.io/arch kubernetes.io/os kubernetes.io/hostname topology.kubernetes.io/zone topology.kubernetes.io/region
node.kubernetes.io/instance-type node.kubernetes.io/not-ready node.kubernetes.io/unreachable node.kubernetes.io/unschedulable
node-role.kubernetes.io/control-plane node.cloudprovider.kubernetes.io/uninitialized
karpenter.sh/nodepool karpenter.sh/capacity-type karpenter.sh/do-not-disrupt karpenter.sh/disrupted karpenter.sh/unregistered
karpenter.sh/initialized karpenter.sh/registered
cluster-autoscaler.kubernetes.io/safe-to-evict cluster-autoscaler.kubernetes.io/scale-down-disabled
cluster-autoscaler.kubernetes.io/daemonset-pod cluster-autoscaler.kubernetes.io/enable-ds-eviction
cluster.x-k8s.io/cluster-name cluster.x-k8s.io/deployment-name cluster.x-k8s.io/set-name cluster.x-k8s.io/paused
cluster.x-k8s.io/skip-remediation cluster.x-k8s.io/delete-machine cluster.x-k8s.io/remediate-machine
cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size
get list watch create update patch delete deletecollection created deleted running
RequestLimitExceeded InsufficientInstanceCapacity InsufficientReservedInstanceCapacity UnauthorizedOperation
InternalError ServiceUnavailable ThrottlingException
Canceled DeadlineExceeded NotFound AlreadyExists PermissionDenied ResourceExhausted FailedPrecondition Unavailable
fsn1 nbg1 hel1 zone-a zone-b zone-c
`

// Words are such words, each as it is written.
var Words = sync.OnceValue(func() []string { return strings.Fields(words) })

// reasons are those of events of Kubernetes, Karpenter, Cluster Autoscaler and Cluster API that records ask for.
const reasons = `
FailedScheduling Scheduled Evicted Killing Started Created Pulled BackOff Unhealthy Preempted TaintManagerEviction
NodeNotReady NodeReady RegisteredNode RemovingNode DeletingNode NodeNotSchedulable NodeSchedulable
TriggeredScaleUp NotTriggerScaleUp ScaledUpGroup FailedToScaleUpGroup ScaleUpTimedOut ScaleDown ScaleDownFailed ScaleDownEmpty
DeleteUnregistered DeleteUnregisteredFailed FailedToRevertScaleUp FixNodeGroupSizeDone
Nominated Launched Registered Initialized Disrupted DisruptionLaunching DisruptionTerminating DisruptionBlocked Unconsolidatable
Unschedulable SchedulerError FailedDraining
AwaitingVolumeDetachment TerminationGracePeriodExpiring InsufficientCapacityError UnregisteredTaintMissing
AMIDrift SubnetDrift SecurityGroupDrift CapacityReservationDrift NodeClassDrift NodePoolDrifted RequirementsDrifted
NoCompatibleInstanceTypes FailedConsistencyCheck NodeRepairBlocked SpotInterrupted InstanceTerminating
SuccessfulCreate SuccessfulDelete FailedCreate FailedDelete DetectedUnhealthy MachineMarkedUnhealthy RemediationRestricted
`

// Reasons are such reasons.
var Reasons = sync.OnceValue(func() []string { return strings.Fields(reasons) })

// logControllers are those that Karpenter and its AWS provider name in their logs.
const logControllers = `
provisioner provisioner.trigger.pod provisioner.trigger.node disruption disruption.queue static.provisioning static.deprovisioning
nodeclaim.lifecycle nodeclaim.disruption nodeclaim.consistency nodeclaim.expiration nodeclaim.garbagecollection nodeclaim.hydration
nodeclaim.podevents nodeclaim.tagging node.health node.hydration node.termination nodepool.counter nodepool.hash nodepool.readiness
nodepool.registrationhealth nodepool.validation nodeoverlay.controller capacitybuffer nodeclass nodeclass.hash interruption
interruption.instancestatus instance.garbagecollection instanceprofile.garbagecollection zonalshift cloudprovider.metrics
providers.instancetype providers.instancetype.capacity providers.pricing providers.version
state.daemonset state.node state.nodeclaim state.nodepool state.pod state.pricing metrics.node metrics.nodepool metrics.pod
`

// LogControllers are such controllers.
var LogControllers = sync.OnceValue(func() []string { return strings.Fields(logControllers) })

// customKinds are the kinds of API groups that are not Kubernetes' own. Scenarios can define others.
var customKinds = map[string]string{
	"karpenter.sh":            "NodePool NodeClaim NodeOverlay",
	"karpenter.kwok.sh":       "KWOKNodeClass",
	"karpenter.nodestorm.sim": "FakeNodeClass",
	"karpenter.k8s.aws":       "EC2NodeClass",
	"autoscaling.x-k8s.io":    "CapacityBuffer ProvisioningRequest",
	"autoscaling.k8s.io":      "VerticalPodAutoscaler VerticalPodAutoscalerCheckpoint",
	"kueue.x-k8s.io": "AdmissionCheck ClusterQueue Cohort LocalQueue ProvisioningRequestConfig ResourceFlavor Topology Workload " +
		"WorkloadPriorityClass",
	"cluster.x-k8s.io": "Cluster ClusterClass Machine MachineSet MachineDeployment MachinePool MachineHealthCheck " +
		"MachineDrainRule",
	"addons.cluster.x-k8s.io":         "ClusterResourceSet ClusterResourceSetBinding",
	"ipam.cluster.x-k8s.io":           "IPAddress IPAddressClaim",
	"runtime.cluster.x-k8s.io":        "ExtensionConfig",
	"infrastructure.cluster.x-k8s.io": "NodestormCluster NodestormMachine NodestormMachineTemplate NodestormMachinePool",
	"controlplane.cluster.x-k8s.io":   "NodestormControlPlane",
	"bootstrap.cluster.x-k8s.io":      "NodestormConfig NodestormConfigTemplate",
}

// CustomGroups are these groups, and CustomKinds the kinds of one of them.
func CustomGroups() (all []string) {
	for group := range customKinds {
		all = append(all, group)
	}
	return all
}

// Kinds are those of Kubernetes and of these groups.
var Kinds = sync.OnceValue(func() []string {
	all := strings.Fields(kinds)
	for _, of := range customKinds {
		all = append(all, strings.Fields(of)...)
	}
	return all
})

// CustomKinds is described with CustomGroups.
func CustomKinds(group string) []string { return strings.Fields(customKinds[group]) }
