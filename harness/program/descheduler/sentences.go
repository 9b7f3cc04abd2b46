package descheduler

import (
	"context"

	"nodestorm/harness/builds"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

// Kind is the descheduler. It is beside the target.
var Kind = deploy.Kind{Name: builds.Descheduler, Sentences: []deploy.Sentences{sentences}, Way: &running}

var running = scene.ProgramIs[*descheduler](
	`the descheduler does not run yet: say "the descheduler v0.36.0 runs every 1m with this policy:"`,
)

var sentences = deploy.Sentences{Sentences: scene.Sentences{
	Worlds: "the descheduler", Records: "evictions and other calls to the API server (api)",
	Rows: []scene.Sentence{
		{Role: scene.Either, Words: `the descheduler VERSION runs every DURATION with this policy:`, Wants: wants, Check: check, Act: act},
	},
}}

func named(a words.Args) builds.Ref { return builds.Ref{Name: builds.Descheduler, Version: a.Text(0)} }

func wants(a words.Args) (scene.Wants, error) {
	return scene.Wants{Releases: []builds.Ref{named(a)}}, nil
}

// check finds what is wrong with the policy.
func check(_ *scene.Feature, a words.Args) error {
	_, err := readPolicy(a.Quoted)
	return err
}

func act(ctx context.Context, s *scene.Scene, a words.Args) error {
	p, err := readPolicy(a.Quoted)
	if err != nil {
		return err
	}
	t, err := s.Part(named(a))
	if err != nil {
		return err
	}
	return bring(ctx, s, t, a.Duration(1), p)
}
