package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// interruptionsEvery is how long the provider for AWS waits for messages in one call (SQS, WaitTimeSeconds).
const interruptionsEvery = 20 * time.Second

// interrupt has the Nodes of instances that the cloud takes back be drained before: as in the provider for AWS
// (controllers/interruption), their NodeClaims are deleted, and what they ran on counts as run out if it is spot
// capacity.
func (p *provider) interrupt(ctx context.Context) error {
	announced, err := p.cloud.interruptions(ctx)
	if err != nil || len(announced) == 0 {
		return err
	}
	var claims v1.NodeClaimList
	if err := p.client.List(ctx, &claims); err != nil {
		return err
	}
	var failed []error
	for _, a := range announced {
		k := slices.IndexFunc(claims.Items, func(c v1.NodeClaim) bool { return c.Status.ProviderID == idPrefix+a.Instance.Name })
		// mutant: Karpenter hears of interruptions and does nothing
		if k < 0 || !claims.Items[k].DeletionTimestamp.IsZero() {
			continue
		}
		if a.Instance.CapacityType == v1.CapacityTypeSpot {
			p.catalogue.ranOut(offering{a.Instance.Type, a.Instance.Zone, a.Instance.CapacityType})
		}
		log.FromContext(ctx).Info("deleting a NodeClaim whose instance is taken back", "NodeClaim", claims.Items[k].Name, "at", a.At)
		if err := p.client.Delete(ctx, &claims.Items[k]); client.IgnoreNotFound(err) != nil {
			failed = append(failed, fmt.Errorf("deleting NodeClaim %q: %w", claims.Items[k].Name, err))
		}
	}
	return errors.Join(failed...)
}
