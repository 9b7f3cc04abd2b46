package vocabulary

import (
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kinds are Kubernetes' own, but for lists and options. They are named here because the packages that define them are
// many, and who reads a history needs none of them.
const kinds = `
APIGroup APIVersions Binding CSIDriver CSINode CSIStorageCapacity CertificateSigningRequest ClusterRole ClusterRoleBinding
ClusterTrustBundle ComponentStatus ConfigMap ControllerRevision CronJob DaemonSet Deployment DeploymentRollback DeviceClass
DeviceTaintRule EndpointSlice Endpoints Event Eviction FlowSchema HorizontalPodAutoscaler IPAddress Ingress IngressClass Job
Lease LeaseCandidate LimitRange LocalSubjectAccessReview MutatingAdmissionPolicy MutatingAdmissionPolicyBinding
MutatingWebhookConfiguration Namespace NetworkPolicy Node PersistentVolume PersistentVolumeClaim Pod PodCertificateRequest
PodDisruptionBudget PodGroup PodStatusResult PodTemplate PriorityClass PriorityLevelConfiguration RangeAllocation ReplicaSet
ReplicationController ResourceClaim ResourceClaimTemplate ResourcePoolStatusRequest ResourceQuota ResourceSlice Role RoleBinding
RuntimeClass Scale Secret SelfSubjectAccessReview SelfSubjectReview SelfSubjectRulesReview SerializedReference Service
ServiceAccount ServiceCIDR StatefulSet Status StorageClass StorageVersion StorageVersionMigration SubjectAccessReview
TokenRequest TokenReview ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration
VolumeAttachment VolumeAttributesClass WatchEvent Workload
`

// kinded are the resources of Kubernetes by the names of their kinds, in small letters.
var kinded = sync.OnceValue(func() map[string]string {
	resources := map[string]string{}
	for kind := range strings.FieldsSeq(kinds) {
		of, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: kind})
		resources[strings.ToLower(kind)] = of.Resource
	}
	return resources
})
