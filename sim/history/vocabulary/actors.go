package vocabulary

import (
	"slices"
	"strings"

	"nodestorm/sim/history"
)

// programs call the API server or a cloud, or have a log that is read: targets, parts of
// the world, our own simulations, and who does what steps say.
var programs = []string{
	"cluster-autoscaler", "karpenter", "capi-manager", "cluster-api",
	"kube-apiserver", "apiserver", "kube-controller-manager", "kube-scheduler", "kubelet",
	"cloud-controller-manager", "hcloud-cloud-controller-manager", "vsphere-cloud-controller-manager", "nodestorm-ccm",
	"cilium", "descheduler", "kueue", "vpa-recommender", "vpa-updater", "vpa-admission-controller", "kubelet-csr-approver", "csr-approver",
	"kubectl", "kubernetes-admin", "nodestorm", "nodestorm-provider", "nodestorm-other-writer", "sim-node", "sim-apifault", "fakecloud",
	"aws-cli", "godog", "somebody", "anonymous",
}

// controllers are the service accounts of kube-controller-manager, one for each of its
// controllers that has one: system:controller:NAME in Kubernetes' own roles.
var controllers = []string{
	"attachdetach-controller", "bootstrap-signer", "certificate-controller", "clusterrole-aggregation-controller", "cronjob-controller",
	"daemon-set-controller", "deployment-controller", "device-taint-eviction-controller", "disruption-controller",
	"endpoint-controller", "endpointslice-controller",
	"endpointslicemirroring-controller", "ephemeral-volume-controller", "expand-controller", "generic-garbage-collector",
	"horizontal-pod-autoscaler", "job-controller", "legacy-service-account-token-cleaner", "namespace-controller", "node-controller",
	"persistent-volume-binder", "pod-garbage-collector", "pv-protection-controller", "pvc-protection-controller", "replicaset-controller",
	"replication-controller", "resource-claim-controller", "resourcequota-controller", "root-ca-cert-publisher", "route-controller",
	"selinux-warning-controller", "service-account-controller", "serviceaccount-controller", "service-cidrs-controller", "service-controller",
	"statefulset-controller", "storage-version-migrator-controller", "token-cleaner", "tokens-controller", "ttl-after-finished-controller",
	"ttl-controller", "validatingadmissionpolicy-status-controller", "volumeattributesclass-protection-controller",
}

// namedByFeatures are the sources whose actors a feature may have named: a node's agents,
// the parts that an installer brings.
var namedByFeatures = []history.Source{history.Node, history.Harness, history.Fault}

// Actors are who can be the actor of a source's events; nil if that may be anybody.
func Actors(source history.Source) []string {
	if slices.Contains(namedByFeatures, source) {
		return nil
	}
	return slices.Sorted(slices.Values(slices.Concat(programs, controllers)))
}

// IsActor reports whether events of a source can have the actor.
func IsActor(source history.Source, name string) bool {
	known := Actors(source)
	// mutant: anybody is an actor
	return known == nil || slices.Contains(known, name) || strings.HasPrefix(name, "bootstrap:") // a token's
}
