package instances

import (
	"context"
	"errors"
	"fmt"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/instanceapi"
	"nodestorm/harness/cloud"
	"nodestorm/harness/cloud/live"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/sim/machine/node"
	"nodestorm/sim/oneline"
)

// Kind is that of a cloud of instances.
var Kind = live.Register(&live.Kind{
	Facts: cloud.Named(Name), Sentences: sentences, Start: start,
	Calls: instanceapi.API.Names, Operations: instanceapi.API.Operations, Call: instanceapi.API.Call,
	Examples: "of one of instances launch instances, terminate instances, describe instances",
})

var sentences = scene.Sentences{
	Worlds: "Karpenter on a cloud of instances", Records: "the cloud's instances and calls (cloud), its faults (fault)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `a cloud of instances`, Wants: isOfInstances, Act: cloudOfInstances},
	},
}

func isOfInstances(words.Args) (scene.Wants, error) {
	return scene.Wants{System: Name}, nil
}

func cloudOfInstances(ctx context.Context, s *scene.Scene, _ words.Args) error { return start(ctx, s) }

// start is for a cloud that is there without the sentence, too, where the target needs it.
func start(ctx context.Context, s *scene.Scene) error {
	if err := s.Meet(scene.NoCloud); err != nil {
		return err
	}
	if s.Rig.Target.Provider != Name {
		return fmt.Errorf("%s is linked with another provider than %s: %s", s.Rig.Target.Ref, Name,
			oneline.Command("nodestorm", "target", "build", s.Rig.Target.String(), "--provider", Name))
	}
	if len(s.Settings.Types) > 0 {
		return errors.New("a cloud of instances has types of its own: those of Karpenter's provider kwok")
	}
	// instanceProfile is that of "machines that register …".
	instanceProfile := func(fakecloud.Instance) node.Profile {
		p := s.Boots.Next()
		p.BootDelay = 0 // the type's
		if s.Boots.Register > 0 {
			p.BootDelay = bootDelay(s.Boots.Register)
		}
		return p
	}
	on := s.Setting()
	on.Profile, on.Kubelets = instanceProfile, s.LaunchedKubelets
	c, err := Start(ctx, on)
	if err != nil {
		return err
	}
	s.Cloud = c
	return nil
}

// Cluster Autoscaler does not know this cloud, which has no node groups.

func (*Cloud) Group(_ context.Context, _ *scene.Scene, g scene.Group) error {
	if len(g.Options) > 0 {
		return scene.ErrOptions
	}
	return scene.AnyCloud.Missing
}

func (*Cloud) Reach(context.Context, *scene.Scene) (scene.Reach, error) {
	return scene.Reach{}, scene.AnyCloud.Missing
}

func (*Cloud) RemoveNodes(context.Context, *scene.Scene) error { return scene.AnyCloud.Missing }
