package steps

import (
	"context"

	"nodestorm/harness/karpenter"
	"nodestorm/harness/kubelet"
	"nodestorm/sim/fault"
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
	return s.breakKubelet("runtime-down", kubelet.RuntimeDown, down)
}

func (s *scenario) kubeletStopped(down string) error {
	return s.breakKubelet("kubelet-stopped", kubelet.Stopped, down)
}

func (s *scenario) breakKubelet(name string, effect kubelet.Effect, down string) error {
	d, err := duration(down)
	if err != nil {
		return err
	}
	return s.kubelets.Inject(kubelet.Fault{Name: name, Machine: s.node(), Plan: fault.Plan{For: fault.Duration(d)}, Effect: effect})
}
