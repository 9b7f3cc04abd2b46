//go:build karpenter_v1_14

package main

import "github.com/awslabs/operatorpkg/status"

// StatusConditions implements status.Object.
func (in *FakeNodeClass) StatusConditions(options ...status.ForOption) status.ConditionSet {
	return status.NewReadyConditions().For(in, options...)
}
