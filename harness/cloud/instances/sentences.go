package instances

import (
	"context"
	"errors"
	"fmt"

	"nodestorm/fakecloud/instanceapi"
	"nodestorm/harness/cloud"
	"nodestorm/harness/cloud/live"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
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
	c, err := Start(ctx, s.LaunchSetting(2*instanceapi.LaunchTakes))
	if err != nil {
		return err
	}
	s.Cloud = c
	return nil
}
