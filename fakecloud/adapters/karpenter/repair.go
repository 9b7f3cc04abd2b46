//go:build !karpenter_v1_0

package main

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
)

// RepairPolicies implements cloudprovider.CloudProvider: a Node that is not Ready for ten minutes is
// replaced, where the feature gate NodeRepair is on.
func (*provider) RepairPolicies() (all []cloudprovider.RepairPolicy) {
	for _, status := range []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionUnknown} {
		all = append(all, cloudprovider.RepairPolicy{ConditionType: corev1.NodeReady, ConditionStatus: status,
			TolerationDuration: 10 * time.Minute})
	}
	return all
}
