package sentences

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/program/clusterapi"
	"nodestorm/harness/run/then"
)

func (s *scenario) registerClusterAPIAutoscaler(on sentences) {
	on.Given(`^a MachineDeployment `+name+` of `+number+` to `+number+` machines, `+number+` of them Running$`, s.nodeGroupOfMachines)
	on.Given(`^Cluster Autoscaler for Cluster API$`, s.startAutoscaler)
	on.Given(`^Cluster Autoscaler that prefers the MachineDeployment `+name+` to `+name+`$`, s.preferringAutoscaler)

	observe(on, then.ClusterAPIAutoscaler)
}

func (s *scenario) nodeGroupOfMachines(ctx context.Context, name string, least, most, running int) error {
	if s.capi == nil {
		return errNoClusterAPI
	}
	err := s.capi.CreateMachineDeployment(ctx, clusterapi.MachineDeployment{
		Name: name, Replicas: int64(running), Annotations: clusterapi.Bounds(least, most),
	})
	if err != nil {
		return err
	}
	_, err = s.capi.AwaitRunning(ctx, name, running, 10*time.Minute)
	return err
}

func (s *scenario) preferringAutoscaler(ctx context.Context, first, second string) error {
	if s.capi == nil {
		return errNoClusterAPI
	}
	s.intent.Expander = "priority"
	if err := s.capi.Prefer(ctx, metav1.NamespaceSystem, first, second); err != nil {
		return err
	}
	return s.startAutoscaler(ctx)
}
