//go:build karpenter_v1_2 || karpenter_v1_3

package main

import (
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator"
)

// run is for v1.2 to v1.6.
func run(c *cloud) {
	ctx, op := operator.NewOperator()
	own := newProvider(op.GetClient(), c)
	mustAdd(op.Manager, own)
	cluster := state.NewCluster(op.Clock, op.GetClient(), own)
	op.WithControllers(ctx, controllers.NewControllers(
		ctx, op.Manager, op.Clock, op.GetClient(), op.EventRecorder, own, cluster,
	)...).Start(ctx)
}
