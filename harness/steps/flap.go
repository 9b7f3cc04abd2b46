package steps

import (
	"context"

	"nodestorm/harness/karpenter"
	"nodestorm/harness/kubelet"
)

func (s *scenario) registerFlap(on sentences) {
	on.Given(`^a cluster that kubelets can join, whose API server adds no default tolerations$`, s.kubeletsWithoutDefaultTolerations)
	on.Given(`^machines with kubelets that register `+span+` after their launch and have a network `+span+` later$`, s.machinesWithKubelets)
	on.When(`^the container runtime of its Node does not answer for `+span+`$`, s.runtimeFlaps)
	on.When(`^the kubelet of its Node is stopped for `+span+`$`, s.kubeletStopped)
}

func (s *scenario) kubeletsWithoutDefaultTolerations(ctx context.Context) error {
	s.rig.World.APIServer = map[string][]string{"disable-admission-plugins": {"DefaultTolerationSeconds"}}
	return s.clusterForKubelets(ctx)
}

func (s *scenario) machinesWithKubelets(register, network string) (err error) {
	if s.kubelets == nil {
		return errNoKubelets
	}
	if s.delay, err = duration(register); err != nil {
		return err
	}
	after, err := duration(network)
	if err != nil {
		return err
	}
	s.kwokKubelets = true
	karpenter.Kubelets(s.world, s.kubelets, func() kubelet.Machine {
		return kubelet.Machine{Cores: 4, Memory: 8 * kubelet.GiB, NetworkDelay: after}
	})
	return nil
}

// runtimeFlaps makes the kubelet say NotReady; it does not wait for the end.
func (s *scenario) runtimeFlaps(down string) error {
	name := s.node()
	if err := s.kubelets.SetRuntimeDown(name, true); err != nil {
		return err
	}
	return s.later(down, func() error { return s.kubelets.SetRuntimeDown(name, false) })
}

func (s *scenario) kubeletStopped(down string) error {
	name := s.node()
	if err := s.kubelets.StopKubelet(name); err != nil {
		return err
	}
	return s.later(down, func() error { return s.kubelets.StartKubelet(name) })
}

// later does something after a time, while the scenario goes on. What went wrong shows
// when the world ends.
func (s *scenario) later(after string, do func() error) error {
	d, err := duration(after)
	if err != nil {
		return err
	}
	timer := s.world.Clock().NewTimer(d)
	stop := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		defer timer.Stop()
		select {
		case <-timer.C():
			ended <- do()
		case <-stop:
			ended <- nil
		}
	}()
	s.world.OnStop(func() error {
		close(stop)
		return <-ended
	})
	return nil
}
