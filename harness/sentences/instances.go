package sentences

import (
	"context"
	"errors"
	"fmt"

	"nodestorm/fakecloud"
	"nodestorm/harness/builds"
	"nodestorm/harness/program/karpenter"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/sim/machine/node"
)

var instancesSentences = scene.Sentences{
	Worlds: "Karpenter on a cloud of instances", Records: "the cloud's instances and calls (cloud), its faults (fault)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `a cloud of instances`, Wants: isOfInstances, Act: cloudOfInstances},
	},
}

func isOfInstances(words.Args) (scene.Wants, error) {
	return scene.Wants{System: builds.Instances}, nil
}

// instancesCloud is a cloud of instances that is a scenario's.
type instancesCloud struct{ *karpenter.Cloud }

func cloudOfInstances(ctx context.Context, s *scene.Scene, _ words.Args) error {
	_, err := startInstances(ctx, s)
	return err
}

// startInstances is for a cloud that is there without the sentence, too, where the target needs it.
func startInstances(ctx context.Context, s *scene.Scene) (*karpenter.Cloud, error) {
	if err := s.Meet(scene.NoCloud); err != nil {
		return nil, err
	}
	if !karpenter.OnCloud(s.Rig.Target) {
		return nil, fmt.Errorf("%s is linked with another provider than %s: nodestorm target build %s --provider %[2]s",
			s.Rig.Target.Ref, builds.Instances, s.Rig.Target.Ref)
	}
	if len(s.Settings.Types) > 0 {
		return nil, errors.New("a cloud of instances has types of its own: those of Karpenter's provider kwok")
	}
	// instanceProfile is that of "machines that register …".
	instanceProfile := func(fakecloud.Instance) node.Profile {
		p := s.Boots.Next()
		p.BootDelay = 0 // the type's
		if s.Boots.Register > 0 {
			p.BootDelay = karpenter.BootDelay(s.Boots.Register)
		}
		return p
	}
	c, err := karpenter.StartCloud(ctx, karpenter.CloudConfig{
		World: s.World, Seed: s.Rig.World.Seed, Profile: instanceProfile, Kubelets: s.LaunchedKubelets, Containers: s.Containers,
	})
	if err != nil {
		return nil, err
	}
	s.Cloud = instancesCloud{c}
	return c, nil
}

// Cluster Autoscaler does not know this cloud, which has no node groups.

func (instancesCloud) Group(_ context.Context, _ *scene.Scene, g scene.Group) error {
	if len(g.Options) > 0 {
		return errOptions
	}
	return anyCloud.Missing
}

func (instancesCloud) Reach(context.Context, *scene.Scene) (scene.Reach, error) {
	return scene.Reach{}, anyCloud.Missing
}

func (instancesCloud) RemoveNodes(context.Context, *scene.Scene) error { return anyCloud.Missing }
