package sentences

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	corev1 "k8s.io/api/core/v1"

	"nodestorm/harness/program/karpenter"
	"nodestorm/harness/run/then"
	"nodestorm/harness/world"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/cloudinit"
	"nodestorm/sim/machine/node"
)

func (s *scenario) cluster(ctx context.Context) error { return s.start(ctx, s.rig.World) }

// The admission plugin's toleration of 300 s is in almost every cluster; it is
// switched off where users bring pods with tolerations of their own.
func (s *scenario) clusterWithoutDefaultTolerations(ctx context.Context) error {
	cfg := s.rig.World
	cfg.APIServer = map[string][]string{"disable-admission-plugins": {"DefaultTolerationSeconds"}}
	return s.start(ctx, cfg)
}

const servesWords = "a cluster whose API server also serves "

var groupVersion = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/v[0-9]+([a-z]+[0-9]+)?$`)

// clusterServing has a version of an API group that is off by default.
func (s *scenario) clusterServing(ctx context.Context, version string) error {
	cfg := s.rig.World
	cfg.Serves = []string{version}
	return s.start(ctx, cfg)
}

func (s *scenario) start(ctx context.Context, cfg world.Config) (err error) {
	if s.world != nil {
		return errors.New("the scenario has a cluster already")
	}
	s.profile = node.DefaultProfile()
	simulated := karpenter.Machines(s.nextProfile)
	cfg.Nodes.Adopt = func(n *corev1.Node) (node.Profile, bool) {
		if s.kwokKubelets {
			return node.Profile{}, false
		}
		return simulated(n)
	}
	if s.world, err = world.Start(ctx, cfg); err != nil {
		s.world = nil
		return err
	}
	s.rig.Started(s.world)
	s.guard(ctx)
	if s.rig.Machines != nil {
		s.containers, err = s.rig.Machines(ctx, s.world)
	}
	return err
}

// systemNode keeps the cluster out of full disruption: if no Node at all is
// Ready, kube-controller-manager evicts nobody and taints nothing NoExecute.
func (s *scenario) systemNode(ctx context.Context, name string) error {
	return s.foreignNode(ctx, name, "")
}

// foreignNode is for system pods only.
func (s *scenario) foreignNode(ctx context.Context, name, providerID string) error {
	profile := node.DefaultProfile()
	profile.BootDelay = 0
	err := s.world.Fleet().Boot(node.Spec{
		Name:       name,
		ProviderID: providerID,
		Taints:     []corev1.Taint{{Key: "CriticalAddonsOnly", Value: "true", Effect: corev1.TaintEffectNoSchedule}},
		Profile:    profile,
	})
	if err != nil {
		return err
	}
	return s.nodeReady(ctx, name, 5*time.Minute, 0)
}

// nodeReady waits for the record of it, after the one numbered seq.
func (s *scenario) nodeReady(ctx context.Context, name string, d time.Duration, seq uint64) error {
	_, err := s.within(ctx, d, seq, func(r history.Record) bool {
		return r.Source == history.Node && r.Verb == "ready" && r.Object.Name == name
	})
	if err != nil {
		return fmt.Errorf("waiting for node %q to be Ready: %w", name, err)
	}
	return nil
}

func (s *scenario) machines(register, ready string) (err error) {
	if s.delay, err = duration(register); err != nil {
		return err
	}
	s.profile.ReadyDelay, err = duration(ready)
	return err
}

func (s *scenario) agent(name, taint, set, lift string) error {
	t, err := cloudinit.ParseTaint(taint)
	if err != nil {
		return err
	}
	from, err := duration(set)
	if err != nil {
		return err
	}
	to, err := duration(lift)
	if err != nil {
		return err
	}
	s.profile.Agents = append(s.profile.Agents, node.Agent{Name: name, Taint: t, SetAfter: from, LiftAfter: to})
	return nil
}

func (s *scenario) karpenterWithPool(ctx context.Context, pool string) error {
	return s.startKarpenter(ctx, karpenter.Pool{Name: pool})
}

func (s *scenario) startKarpenter(ctx context.Context, pool karpenter.Pool) error {
	if err := s.beginKarpenter(ctx); err != nil {
		return err
	}
	pool.InstanceTypes = []string{"c-4x-amd64-linux"} // 4 CPUs, 8 GiB
	pool.RegistrationDelay = s.delay
	return s.karpenter.CreatePool(ctx, pool)
}

func (s *scenario) runningPod(ctx context.Context, name, cpus string) error {
	if err := s.createPod(ctx, name, cpus); err != nil {
		return err
	}
	running, err := then.PodRuns(name, 10*time.Minute)
	if err != nil {
		return err
	}
	return s.holds(ctx, running)
}

// machineInitialized waits for Karpenter to call its only machine initialized, for whose
// Node $name stands from then on, and for a time since its launch.
func (s *scenario) machineInitialized(ctx context.Context, since string) error {
	d, err := duration(since)
	if err != nil {
		return err
	}
	s.launched, err = s.within(ctx, time.Second, 0, claimCreated)
	if err != nil {
		return fmt.Errorf("looking for the NodeClaim: %w", err)
	}
	initialized, err := s.within(ctx, 10*time.Minute, 0, nodeInitialized)
	if err != nil {
		return fmt.Errorf("waiting for the Node to be initialized: %w", err)
	}
	s.awaited = &initialized
	at := s.world.History().Start().Add(s.launched.Virtual + d)
	return s.sleep(ctx, at.Sub(s.world.Clock().Now()))
}
