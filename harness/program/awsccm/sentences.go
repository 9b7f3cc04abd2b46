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
var Kind = deploy.Kind{Name: builds.AWSCCM, Sentences: []deploy.Sentences{sentences}}

var sentences = deploy.Sentences{Sentences: scene.Sentences{
	Worlds: "the cloud controller manager of AWS", Records: "instances and calls (cloud), nodes (node), calls to the API server (api)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `the cloud controller manager of AWS`, Needs: []scene.Need{aws.Needed}, Check: starts, Act: act},
		{Role: scene.When, Words: `the cloud controller manager of AWS is deployed`, Needs: []scene.Need{aws.Needed}, Check: starts, Act: act},
	},
}}

// starts notes that the target runs.
func starts(f *scene.Feature, _ words.Args) error { return f.Starts(builds.AWSCCM) }

func act(ctx context.Context, s *scene.Scene, _ words.Args) error {
	if t := s.Rig.Target; t.Name != builds.AWSCCM {
		return fmt.Errorf("%s is no cloud controller manager of AWS: take %s", t.Ref, builds.AWSCCM)
	}
	return bring(ctx, s)
}
