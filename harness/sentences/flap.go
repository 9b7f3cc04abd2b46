package sentences

import (
	"context"

	"nodestorm/harness/program/karpenter"
	"nodestorm/harness/world/kubelet"
)

func (s *scenario) registerFlap(on sentences) {
	on.Given(`^a cluster that kubelets can join, whose API server adds no default tolerations$`, s.kubeletsWithoutDefaultTolerations)
	on.Given(`^machines with kubelets that register `+span+` after their launch and have a network `+span+` later$`, s.machinesWithKubelets)
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
	s.kwokKubelets, s.profile.ReadyDelay = true, after
	karpenter.Kubelets(s.world, s.kubelets, func() kubelet.Machine {
		return kubelet.Machine{Cores: 4, Memory: 8 * kubelet.GiB, NetworkDelay: after}
	})
	return nil
}
