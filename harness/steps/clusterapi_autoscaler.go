package steps

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/autoscaler"
	"nodestorm/harness/clusterapi"
	"nodestorm/harness/manifest"
	"nodestorm/sim/apifault"
	"nodestorm/sim/cloudinit"
	"nodestorm/sim/history"
)

func (s *scenario) registerClusterAPIAutoscaler(on sentences) {
	on.Given(`^a MachineDeployment `+name+` of `+number+` to `+number+` machines, `+number+` of them Running$`, s.nodeGroupOfMachines)
	on.Given(`^a MachineDeployment `+name+` of `+number+` to `+number+` machines of the type `+name+`, `+number+` of them Running$`, s.nodeGroupOfType)
	on.Given(`^a MachineDeployment `+name+` of 0 to `+number+` machines that taint their nodes `+taint+`, none of them there$`, s.emptyTaintedNodeGroup)
	on.Given(`^a MachinePool `+name+` of `+number+` to `+number+` instances, `+number+` of them Running$`, s.nodeGroupOfPool)
	on.Given(`^another writer changes the MachineDeployment `+name+` between the autoscaler's read of its scale and the write that follows$`, s.interject)
	on.Given(`^Cluster Autoscaler for Cluster API$`, s.plainAutoscaler)
	on.Given(`^Cluster Autoscaler for the API version v1beta1 of Cluster API$`, s.oldVersionAutoscaler)
	on.Given(`^Cluster Autoscaler that prefers the MachineDeployment `+name+` to `+name+`$`, s.preferringAutoscaler)
	on.Given(`^Cluster Autoscaler without the right to patch, that prefers the MachineDeployment `+name+` to `+name+`$`, s.oldRightsAutoscaler)

	on.Given(`^somebody mistypes the maximum of the MachineDeployment `+name+` while the autoscaler reads its scale to delete a machine$`, s.mistypeMaximum)
	on.Given(`^the autoscaler's writes to the scale of the MachineDeployment `+name+` take `+span+` to the API server$`, s.slowWrites)
	on.When(`^a controller reports on the MachineDeployment `+name+` every `+span+` and a pod `+name+` that requests `+cpus+` is created$`, s.createPodMeanwhile)

	on.When(`^a pod `+name+` that requests `+cpus+` is created once the autoscaler drains a node$`, s.createPodOnceDraining)
	on.When(`^somebody lowers the maximum of the MachineDeployment `+name+` to `+number+`$`, s.lowerMaximum)

	on.Then(`^the autoscaler scales the Machine(?:Deployment|Pool) `+name+` within `+span+`$`, s.scaled)
	on.Then(`^the autoscaler reports no node as removed for `+span+` without scaling the MachineDeployment `+name+`$`, s.truthful)
	on.Then(`^the autoscaler does not scale the MachineDeployment `+name+` within `+span+`$`, s.notScaled)
}

func (s *scenario) nodeGroupOfMachines(ctx context.Context, name string, least, most, running int) error {
	return s.nodeGroupOfType(ctx, name, least, most, "", running)
}

func (s *scenario) nodeGroupOfType(ctx context.Context, name string, least, most int, instanceType string, running int) error {
	if s.capi == nil {
		return errNoClusterAPI
	}
	err := s.capi.CreateMachineDeployment(ctx, clusterapi.MachineDeployment{
		Name: name, Replicas: int64(running), InstanceType: instanceType, Annotations: clusterapi.Bounds(least, most),
	})
	if err != nil {
		return err
	}
	_, err = s.capi.AwaitRunning(ctx, name, running, 10*time.Minute)
	return err
}

// emptyTaintedNodeGroup says by annotations what a machine has: releases differ in
// whether they can read its template, which is not the question here.
func (s *scenario) emptyTaintedNodeGroup(ctx context.Context, name string, most int, taint string) error {
	t, err := cloudinit.ParseTaint(taint)
	if err != nil {
		return err
	}
	if s.capi == nil {
		return errNoClusterAPI
	}
	annotations := clusterapi.Bounds(0, most)
	maps.Copy(annotations, clusterapi.Capacity("4", "7Gi"))
	if err := s.capi.CreateMachineDeployment(ctx, clusterapi.MachineDeployment{Name: name, Annotations: annotations}); err != nil {
		return err
	}
	return s.capi.SetTaint(ctx, name, t)
}

func (s *scenario) nodeGroupOfPool(ctx context.Context, name string, least, most, running int) error {
	return s.createPool(ctx, clusterapi.MachineDeployment{Name: name, Replicas: int64(running), Annotations: clusterapi.Bounds(least, most)})
}

func (s *scenario) lowerMaximum(ctx context.Context, deployment string, most int) error {
	if s.capi == nil {
		return errNoClusterAPI
	}
	return s.capi.SetMaximum(ctx, deployment, most)
}

// slip is about the one read between a drain's beginning and the deletion five seconds
// later: the main loop reads again only after ten.
const slip = `
rules:
- name: a slip of the hand
  match: {client: cluster-autoscaler, verbs: [get], resource: machinedeployments.cluster.x-k8s.io, subresource: scale, namespace: %s, name: %q}
  when: {source: api, verb: create, resource: events, actor: cluster-autoscaler, detail: {message: {contains: toBeDeleted}}}
  at: 3s
  limit: 1
  act: {otherWriter: {patch: {metadata: {annotations: {%s: "4o"}}}, settle: 1s}}
`

func (s *scenario) mistypeMaximum(deployment string) error {
	rules, err := apifault.Load(fmt.Appendf(nil, slip, clusterapi.Namespace, deployment, clusterapi.MaximumAnnotation))
	s.rules = append(s.rules, rules...)
	return err
}

// interject is about updates and patches alike: releases that patch must be shown
// to meet the other writer too.
func (s *scenario) interject(deployment string) {
	s.rules = append(s.rules, apifault.Rule{
		Name: "another writer in between", Match: scaleWrites(deployment), Plan: apifault.Plan{Limit: 1},
		Act: apifault.Act{OtherWriter: &apifault.OtherWriter{}},
	})
}

func (s *scenario) slowWrites(deployment, by string) error {
	d, err := duration(by)
	if err != nil {
		return err
	}
	s.rules = append(s.rules, apifault.Rule{
		Name: "slow writes", Match: scaleWrites(deployment),
		Act: apifault.Act{Delay: &apifault.Delay{By: metav1.Duration{Duration: d}}},
	})
	return nil
}

func scaleWrites(deployment string) apifault.Match {
	return apifault.Match{
		Client: autoscaler.Name, Verbs: []string{"update", "patch"},
		Resource: "machinedeployments.cluster.x-k8s.io", Subresource: "scale", Namespace: clusterapi.Namespace, Name: deployment,
	}
}

func (s *scenario) plainAutoscaler(ctx context.Context) error {
	return s.startForClusterAPI(ctx, clusterapi.ExampleRights)
}

// Cluster Autoscaler goes by the version that the API server prefers unless its user
// says otherwise.
func (s *scenario) oldVersionAutoscaler(ctx context.Context) error {
	s.env = append(s.env, manifest.Variable{Name: "CAPI_VERSION", Value: "v1beta1"})
	return s.startForClusterAPI(ctx, clusterapi.ExampleRights)
}

func (s *scenario) preferringAutoscaler(ctx context.Context, first, second string) error {
	return s.startForClusterAPI(ctx, clusterapi.ExampleRights, first, second)
}

func (s *scenario) oldRightsAutoscaler(ctx context.Context, first, second string) error {
	return s.startForClusterAPI(ctx, clusterapi.RightsWithoutPatch, first, second)
}

func (s *scenario) startForClusterAPI(ctx context.Context, rights clusterapi.Rights, preferred ...string) error {
	if s.capi == nil {
		return errNoClusterAPI
	}
	if len(preferred) > 0 {
		s.intent.Expander = "priority"
		if err := s.capi.Prefer(ctx, metav1.NamespaceSystem, preferred...); err != nil {
			return err
		}
	}
	s.rights = rights
	return s.startAutoscaler(ctx)
}

func (s *scenario) createPodOnceDraining(ctx context.Context, pod, cpus string) error {
	if err := s.draining(ctx); err != nil {
		return err
	}
	return s.createPod(ctx, pod, cpus)
}

// draining waits for the taint that comes before a drain.
func (s *scenario) draining(ctx context.Context) error {
	_, err := s.within(ctx, 30*time.Minute, 0, func(r history.Record) bool {
		added, _ := texts(r, "added")
		return r.Source == history.API && r.Object.Resource == "nodes" &&
			slices.ContainsFunc(added, func(taint string) bool { return strings.HasPrefix(taint, "ToBeDeletedByClusterAutoscaler") })
	})
	if err != nil {
		return fmt.Errorf("waiting for the autoscaler to drain a node: %w", err)
	}
	return nil
}

// createPodMeanwhile has another controller write until the autoscaler has written.
func (s *scenario) createPodMeanwhile(ctx context.Context, deployment, every, pod, cpus string) error {
	period, err := duration(every)
	if err != nil {
		return err
	}
	if err := s.createPod(ctx, pod, cpus); err != nil {
		return err
	}
	busy, done := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.report(busy, deployment, period) }()
	_, err = s.within(ctx, 5*time.Minute, s.asked, func(r history.Record) bool {
		return scaling(r) && r.Object.Name == deployment
	})
	done()
	if broken := <-ended; broken != nil {
		return fmt.Errorf("reporting on MachineDeployment %q: %w", deployment, broken)
	}
	if err != nil {
		return fmt.Errorf("waiting for the autoscaler to scale MachineDeployment %q: %w", deployment, err)
	}
	return nil
}

// report changes the object again and again, as controllers do that keep a figure in
// it.
func (s *scenario) report(ctx context.Context, deployment string, period time.Duration) error {
	tick := s.world.Clock().NewTicker(period)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-tick.C():
		case <-ctx.Done():
			return nil
		}
		if err := s.capi.Touch(ctx, deployment, strconv.Itoa(n)); err != nil && ctx.Err() == nil {
			return err
		}
	}
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
