package steps

import (
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/autoscaler"
	"nodestorm/harness/clusterapi"
	"nodestorm/sim/history"
)

func (s *scenario) registerClusterAPIAutoscaler(on sentences) {
	on.Given(`^a MachineDeployment `+name+` of `+number+` to `+number+` machines, `+number+` of them Running$`, s.nodeGroupOfMachines)
	on.Given(`^Cluster Autoscaler for Cluster API$`, s.startAutoscaler)
	on.Given(`^Cluster Autoscaler that prefers the MachineDeployment `+name+` to `+name+`$`, s.preferringAutoscaler)

	on.Then(`^the autoscaler scales the Machine(?:Deployment|Pool) `+name+` within `+span+`$`, s.scaled)
	on.Then(`^the autoscaler reports no node as removed for `+span+` without scaling the MachineDeployment `+name+`$`, s.truthful)
	on.Then(`^the autoscaler does not scale the MachineDeployment `+name+` within `+span+`$`, s.notScaled)
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

// scaling is a write of the autoscaler to the scale of a MachineDeployment or a
// MachinePool, taken or not.
func scaling(r history.Record) bool {
	return r.Source == history.API && (r.Object.Resource == "machinedeployments" || r.Object.Resource == "machinepools") && r.Detail["subresource"] == "scale" &&
		r.Actor == autoscaler.Name && (r.Verb == "update" || r.Verb == "patch")
}

func (*scenario) scaled(deployment, d string) (observation, error) {
	refused := ""
	return within(d, func(r history.Record) bool {
		if !scaling(r) || r.Object.Name != deployment {
			return false
		}
		if r.Code >= 300 {
			refused = fmt.Sprintf(", its write was answered with %d", r.Code)
		}
		return r.Code < 300
	}, func() error { return fmt.Errorf("%q is as it was after %s%s", deployment, d, refused) })
}

func (*scenario) notScaled(deployment, d string) (observation, error) {
	return never(d, deployed(deployment), func(r history.Record) error {
		if scaling(r) && r.Object.Name == deployment && r.Code < 300 {
			return fmt.Errorf("MachineDeployment %q is scaled %s after the start", deployment, r.Virtual.Round(time.Millisecond))
		}
		return nil
	})
}

func deployed(deployment string) subject {
	return subject{fmt.Sprintf("there is no MachineDeployment %q", deployment), func(r history.Record) bool {
		return r.Source == history.API && r.Object.Resource == "machinedeployments" && r.Object.Name == deployment && r.Actor != autoscaler.Name && r.Code < 300
	}}
}

// truthful watches what the autoscaler says in events.
func (*scenario) truthful(d, deployment string) (observation, error) {
	acted := false
	return never(d, deployed(deployment), func(r history.Record) error {
		acted = acted || scaling(r) && r.Object.Name == deployment && r.Code < 300
		message, _ := r.Detail["message"].(string)
		if r.Source == history.API && r.Object.Resource == "events" && r.Actor == autoscaler.Name && strings.Contains(message, " removed") && !acted {
			return fmt.Errorf("%q is as it was, and an event says %q", deployment, message)
		}
		return nil
	})
}
