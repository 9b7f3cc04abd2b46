//go:build karpenter_v1_0

package main

import (
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/operator"
)

// run is for v1.0, without its webhooks: they convert objects of v1beta1.
func run(c *cloud) {
	ctx, op := operator.NewOperator()
	own := newProvider(op.GetClient(), c)
	mustAdd(op.Manager, own)
	op.WithControllers(ctx, controllers.NewControllers(ctx, op.Manager, op.Clock, op.GetClient(), op.EventRecorder, own)...).Start(ctx, own)
}
