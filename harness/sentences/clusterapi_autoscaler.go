package sentences

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/program/clusterapi"
)

func (s *scenario) registerClusterAPIAutoscaler(on sentences) {
	on.Given(`^a MachineDeployment `+name+` of `+number+` to `+number+` machines, `+number+` of them Running$`, s.nodeGroupOfMachines)
	on.Given(`^Cluster Autoscaler for Cluster API$`, s.startAutoscaler)
	on.Given(`^Cluster Autoscaler that prefers the MachineDeployment `+name+` to `+name+`$`, s.preferringAutoscaler)

	on.Then(`^the autoscaler scales the Machine(?:Deployment|Pool) `+name+` within `+span+`$`, named(`
- happens: {source: api, verb: [update, patch], resource: [machinedeployments, machinepools], name: "$1", actor: cluster-autoscaler, detail: {subresource: scale}}
`))
	on.Then(`^the autoscaler reports no node as removed for `+span+` without scaling the MachineDeployment `+name+`$`, named(`
- noSequence:
  - match: {source: api, resource: events, actor: cluster-autoscaler, detail: {message: {contains: " removed"}}}
    absent:
    - since: start
      source: api
      verb: [update, patch]
      resource: [machinedeployments, machinepools]
      name: "$2"
      actor: cluster-autoscaler
      code: [200, 201]
      detail: {subresource: scale}
- happens: {source: api, resource: machinedeployments, name: "$2", actor: {not: cluster-autoscaler}}
  ever: true
`))
	on.Then(`^the autoscaler does not scale the MachineDeployment `+name+` within `+span+`$`, named(`
- never: {source: api, verb: [update, patch], resource: [machinedeployments, machinepools], name: "$1", actor: cluster-autoscaler, detail: {subresource: scale}}
  ever: true
- happens: {source: api, resource: machinedeployments, name: "$1", actor: {not: cluster-autoscaler}}
  ever: true
`))
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
