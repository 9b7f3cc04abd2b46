//go:build !karpenter_v1_0 && !karpenter_v1_1 && !karpenter_v1_2

package main

import "sigs.k8s.io/karpenter/pkg/cloudprovider"

func offeringsOf(all []cloudprovider.Offering) (list cloudprovider.Offerings) {
	for i := range all {
		list = append(list, &all[i])
	}
	return list
}
