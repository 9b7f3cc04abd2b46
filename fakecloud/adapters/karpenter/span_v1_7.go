//go:build !karpenter_v1_0 && !karpenter_v1_1 && !karpenter_v1_2 && !karpenter_v1_3

package main

import (
	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator"
)

// run is for v1.7 to v1.14.
func run(c *cloud) {
	ctx, op := operator.NewOperator()
	own := newProvider(op.GetClient(), c)
	mustAdd(op.Manager, own)
	decorated := overlay.Decorate(own, op.GetClient(), op.InstanceTypeStore)
	cluster := state.NewCluster(op.Clock, op.GetClient(), decorated)
	op.WithControllers(ctx, controllers.NewControllers(
		ctx, op.Manager, op.Clock, op.GetClient(), op.EventRecorder, decorated, own, cluster, op.InstanceTypeStore,
	)...).Start(ctx)
}
