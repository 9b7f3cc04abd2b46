package sentences

import (
	"context"
	"errors"
	"fmt"

	"nodestorm/fakecloud"
	"nodestorm/harness/builds"
	"nodestorm/harness/program/karpenter"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/machine/node"
)

// instancesCloud is the sentence of a cloud whose instances are launched one by one.
const instancesCloud = "a cloud of instances"

func (s *scenario) registerInstances(on sentences) {
	on.Given(`^`+instancesCloud+`$`, s.cloudOfInstances)
}

// hasCloud tells whether there is one already, but for that of Cluster API.
func (s *scenario) hasCloud() bool { return s.hetzner != nil || s.groups != nil || s.instances != nil }

// cloudOfInstances is there without the sentence, too, where the target needs it.
func (s *scenario) cloudOfInstances(ctx context.Context) (err error) {
	switch {
	case s.hasCloud() || s.capi != nil:
		return errors.New("the scenario has a cloud already")
	case !karpenter.OnCloud(s.rig.Target):
		return fmt.Errorf("%s is linked with another provider than %s: nodestorm target build %s --provider %[2]s", s.rig.Target.Ref, builds.Instances, s.rig.Target.Ref)
	case len(s.types) > 0:
		return errors.New("a cloud of instances has types of its own: those of Karpenter's provider kwok")
	}
	s.instances, err = karpenter.StartCloud(ctx, karpenter.CloudConfig{
		World: s.world, Seed: s.rig.World.Seed, Profile: s.instanceProfile, Kubelets: s.instanceKubelets, Containers: s.containers,
	})
	return err
}

// instanceProfile is that of "machines that register …".
func (s *scenario) instanceProfile(fakecloud.Instance) node.Profile {
	p := s.nextProfile()
	p.BootDelay = 0 // the type's
	if s.delay > 0 {
		p.BootDelay = karpenter.BootDelay(s.delay)
	}
	return p
}

func (s *scenario) instanceKubelets(fakecloud.Instance) *kubelet.Machines {
	if s.kwokKubelets {
		return s.kubelets
	}
	return nil
}
