package externalgrpc

import (
	"context"
	"math"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
	corev1 "k8s.io/api/core/v1"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/externalgrpc/protocol"
)

// PricingNodePrice implements the RPC: the price of the node's instance type for the time.
func (s *Server) PricingNodePrice(_ context.Context, q *protocol.PricingNodePriceRequest) (*protocol.PricingNodePriceResponse, error) {
	labels := q.GetNode().GetLabels()
	t := s.cloud.Catalogue().ServerType(labels[corev1.LabelInstanceTypeStable])
	if t == nil {
		return nil, fakecloud.NotFound("instance type of node", q.GetNode().GetName())
	}
	price, offered := t.PriceIn(labels[corev1.LabelTopologyZone])
	if !offered {
		price = t.Prices[0] // the catalogue has one at least
	}
	return &protocol.PricingNodePriceResponse{Price: price.Hourly() * hours(q)}, nil
}

// PricingPodPrice implements the RPC: the least that the pod's requests cost on any instance type that they fit,
// by the larger of their parts of its processors and its memory.
func (s *Server) PricingPodPrice(_ context.Context, q *protocol.PricingPodPriceRequest) (*protocol.PricingPodPriceResponse, error) {
	text := q.GetPodBytes()
	if text == nil {
		text = q.GetPod()
	}
	var pod corev1.Pod
	if err := pod.Unmarshal(text); err != nil {
		return nil, fakecloud.Errorf("invalid_input", "it is no pod: %v", err)
	}
	var cpu, memory float64
	for _, c := range pod.Spec.Containers {
		cpu += c.Resources.Requests.Cpu().AsApproximateFloat64()
		memory += c.Resources.Requests.Memory().AsApproximateFloat64()
	}
	least := math.Inf(1)
	for _, t := range s.cloud.Catalogue().ServerTypes {
		part := max(cpu/float64(t.Cores), memory/(float64(t.MemoryGB)*(1<<30)))
		if part <= 1 {
			least = min(least, part*t.Prices[0].Hourly())
		}
	}
	if math.IsInf(least, 1) {
		return nil, fakecloud.NotFound("instance type for pod", pod.Name)
	}
	return &protocol.PricingPodPriceResponse{Price: least * hours(q)}, nil
}

// span is the time that a price is for, in either of its forms.
type span interface {
	GetStartTime() *protocol.Time
	GetEndTime() *protocol.Time
	GetStartTimestamp() *timestamppb.Timestamp
	GetEndTimestamp() *timestamppb.Timestamp
}

// hours are how long a span is.
func hours(q span) float64 {
	from, to := q.GetStartTimestamp(), q.GetEndTimestamp()
	if from != nil || to != nil {
		return to.AsTime().Sub(from.AsTime()).Hours()
	}
	at := func(t *protocol.Time) time.Time { return time.Unix(t.GetSeconds(), int64(t.GetNanos())) }
	return at(q.GetEndTime()).Sub(at(q.GetStartTime())).Hours()
}
