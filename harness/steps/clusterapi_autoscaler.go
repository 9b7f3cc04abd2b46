package steps

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
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

	on.When(`^a controller keeps reporting on the MachineDeployment `+name+` and a pod `+name+` that requests `+cpus+` is created$`, s.createPodMeanwhile)

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
		Name: "another writer in between",
		Match: apifault.Match{
			Client: autoscaler.Name, Verbs: []string{"update", "patch"},
			Resource: "machinedeployments.cluster.x-k8s.io", Subresource: "scale", Namespace: clusterapi.Namespace, Name: deployment,
		},
		Limit: 1,
		Act:   apifault.Act{OtherWriter: &apifault.OtherWriter{}},
	})
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

// writers is how many calls a busy controller has under way at once.
const writers = 4

// createPodMeanwhile has the other controller write until the autoscaler has
// written once: nothing but chance decides who comes between whom.
func (s *scenario) createPodMeanwhile(ctx context.Context, deployment, pod, cpus string) error {
	if err := s.createPod(ctx, pod, cpus); err != nil {
		return err
	}
	var running sync.WaitGroup
	busy, done := context.WithCancel(ctx)
	failed := make(chan error, writers)
	for n := range writers {
		running.Go(func() {
			for i := 0; busy.Err() == nil; i++ {
				if err := s.capi.Touch(busy, deployment, strconv.Itoa(n)+"-"+strconv.Itoa(i)); err != nil && busy.Err() == nil {
					failed <- err
					return
				}
			}
		})
	}
	_, err := s.within(ctx, 5*time.Minute, s.asked, func(r history.Record) bool {
		return scaling(r) && r.Object.Name == deployment
	})
	done()
	running.Wait()
	select {
	case broken := <-failed:
		return fmt.Errorf("reporting on MachineDeployment %q: %w", deployment, broken)
	default:
	}
	if err != nil {
		return fmt.Errorf("waiting for the autoscaler to scale MachineDeployment %q: %w", deployment, err)
	}
	return nil
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
