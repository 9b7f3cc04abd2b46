package steps

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/autoscaler"
	"nodestorm/harness/clusterapi"
	"nodestorm/sim/apifault"
	"nodestorm/sim/history"
)

func (s *scenario) registerClusterAPIAutoscaler(on sentences) {
	on.Given(`^a MachineDeployment `+name+` of `+number+` to `+number+` machines, `+number+` of them Running$`, s.nodeGroupOfMachines)
	on.Given(`^another writer changes the MachineDeployment `+name+` between the autoscaler's read of its scale and the write that follows$`, s.interject)
	on.Given(`^Cluster Autoscaler that prefers the MachineDeployment `+name+` to `+name+`$`, s.preferringAutoscaler)
	on.Given(`^Cluster Autoscaler without the right to patch, that prefers the MachineDeployment `+name+` to `+name+`$`, s.oldRightsAutoscaler)

	on.Given(`^the autoscaler's writes to the scale of the MachineDeployment `+name+` take `+span+` to the API server$`, s.slowWrites)
	on.When(`^a controller reports on the MachineDeployment `+name+` every `+span+` and a pod `+name+` that requests `+cpus+` is created$`, s.createPodMeanwhile)

	on.Then(`^the autoscaler scales the MachineDeployment `+name+` within `+span+`$`, s.scaled)
	on.Then(`^the autoscaler does not scale the MachineDeployment `+name+` within `+span+`$`, s.notScaled)
}

func (s *scenario) nodeGroupOfMachines(ctx context.Context, name string, least, most, running int) error {
	if s.capi == nil {
		return errNoClusterAPI
	}
	err := s.capi.CreateMachineDeployment(ctx, clusterapi.MachineDeployment{Name: name, Replicas: int64(running), Annotations: clusterapi.Bounds(least, most)})
	if err != nil {
		return err
	}
	_, err = s.capi.AwaitRunning(ctx, name, running, 10*time.Minute)
	return err
}

// interject is about updates and patches alike: releases that patch must be shown
// to meet the other writer too.
func (s *scenario) interject(deployment string) {
	s.rules = append(s.rules, apifault.Rule{
		Name: "another writer in between", Match: scaleWrites(deployment), Limit: 1,
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

func (s *scenario) preferringAutoscaler(ctx context.Context, first, second string) error {
	return s.startForClusterAPI(ctx, true, first, second)
}

func (s *scenario) oldRightsAutoscaler(ctx context.Context, first, second string) error {
	return s.startForClusterAPI(ctx, false, first, second)
}

func (s *scenario) startForClusterAPI(ctx context.Context, patch bool, preferred ...string) (err error) {
	if s.capi == nil {
		return errNoClusterAPI
	}
	if err := s.capi.Prefer(ctx, metav1.NamespaceSystem, preferred...); err != nil {
		return err
	}
	if err := s.capi.Grant(ctx, metav1.NamespaceSystem, autoscaler.Name, patch); err != nil {
		return err
	}
	s.intent.Provider, s.intent.Expander = "clusterapi", "priority"
	s.autoscaler, err = autoscaler.Install(ctx, autoscaler.Config{
		World: s.world, Target: s.rig.Target, Intent: s.intent, Env: s.env, Manifest: s.rig.Manifest, Rules: s.rules,
	})
	if err != nil {
		return err
	}
	_, err = s.autoscaler.Start(ctx)
	return err
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

// scaling is a write of the autoscaler to a MachineDeployment's scale, taken or not.
func scaling(r history.Record) bool {
	return r.Source == history.API && r.Object.Resource == "machinedeployments" && r.Detail["subresource"] == "scale" &&
		r.Actor == autoscaler.Name && (r.Verb == "update" || r.Verb == "patch")
}

func (s *scenario) scaled(ctx context.Context, deployment, window string) error {
	d, err := duration(window)
	if err != nil {
		return err
	}
	refused := ""
	_, err = s.within(ctx, d, s.asked, func(r history.Record) bool {
		if !scaling(r) || r.Object.Name != deployment {
			return false
		}
		if r.Code >= 300 {
			refused = fmt.Sprintf(", its write was answered with %d", r.Code)
		}
		return r.Code < 300
	})
	if errors.Is(err, errWindow) {
		return fmt.Errorf("MachineDeployment %q is as it was after %s%s", deployment, window, refused)
	}
	return err
}

func (s *scenario) notScaled(ctx context.Context, deployment, window string) error {
	return s.never(ctx, window, func(r history.Record) error {
		if scaling(r) && r.Object.Name == deployment && r.Code < 300 {
			return fmt.Errorf("MachineDeployment %q is scaled %s after the start", deployment, r.Virtual.Round(time.Millisecond))
		}
		return nil
	})
}
