package awsccm

import (
	"context"
	"fmt"

	"nodestorm/harness/builds"
	"nodestorm/harness/cloud/aws"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

// Kind is the cloud controller manager of AWS.
var Kind = deploy.Kind{Name: builds.AWSCCM, CheckUpgrade: deploy.WithoutCRDs, Sentences: []deploy.Sentences{sentences}}

var sentences = deploy.Sentences{Sentences: scene.Sentences{
	Worlds: "the cloud controller manager of AWS", Records: "instances and calls (cloud), nodes (node), calls to the API server (api)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `the cloud controller manager of AWS`, Needs: []scene.Need{aws.Needed}, Check: starts, Act: act},
		{Role: scene.Given, Words: `the cloud controller manager of AWS VERSION beside the target`, Needs: []scene.Need{aws.Needed},
			Wants: wantsRelease, Act: beside},
		{Role: scene.When, Words: `the cloud controller manager of AWS is deployed`, Needs: []scene.Need{aws.Needed}, Check: starts, Act: act},
	},
}}

// starts notes that the target runs.
func starts(f *scene.Feature, _ words.Args) error { return f.Starts(builds.AWSCCM) }

func act(ctx context.Context, s *scene.Scene, _ words.Args) error {
	if t := s.Rig.Target; t.Name != builds.AWSCCM {
		return fmt.Errorf("%s is no cloud controller manager of AWS: take %s", t.Ref, builds.AWSCCM)
	}
	first, err := s.FirstRelease()
	if err != nil {
		return err
	}
	return bring(ctx, s, first, true)
}

func named(a words.Args) builds.Ref { return builds.Ref{Name: builds.AWSCCM, Version: a.Text(0)} }

func wantsRelease(a words.Args) (scene.Wants, error) {
	return scene.Wants{Releases: []builds.Ref{named(a)}}, nil
}

// beside starts a release that is a part of the world of another target.
func beside(ctx context.Context, s *scene.Scene, a words.Args) error {
	if t := s.Rig.Target; t.Name == builds.AWSCCM {
		return fmt.Errorf("%s is the target itself: say \"the cloud controller manager of AWS\"", t.Ref)
	}
	t, err := s.Part(named(a))
	if err != nil {
		return err
	}
	return bring(ctx, s, t, false)
}
