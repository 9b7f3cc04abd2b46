package kueue

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"nodestorm/harness/builds"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

const group = "kueue.x-k8s.io"

// Kind is Kueue. It is beside the target.
var Kind = deploy.Kind{Name: builds.Kueue, Sentences: []deploy.Sentences{sentences}, Way: &running, Objects: itsObjects}

var running = scene.ProgramIs[*kueue](`Kueue does not run yet: say "Kueue v0.17.1"`)

var sentences = deploy.Sentences{Sentences: scene.Sentences{
	Worlds: "Kueue", Records: "calls to the API server (api)",
	Rows: []scene.Sentence{{Role: scene.Either, Words: `Kueue VERSION`, Wants: wants, Check: check, Act: act}},
}}

func named(a words.Args) builds.Ref { return builds.Ref{Name: builds.Kueue, Version: a.Text(0)} }

func wants(a words.Args) (scene.Wants, error) {
	return scene.Wants{Releases: []builds.Ref{named(a)}}, nil
}

func check(f *scene.Feature, _ words.Args) error {
	f.Brings(builds.Kueue)
	return nil
}

func act(ctx context.Context, s *scene.Scene, a words.Args) error {
	t, err := s.Part(named(a))
	if err != nil {
		return err
	}
	return bring(ctx, s, t)
}

// itsObjects are those of its CRDs.
func itsObjects(kind schema.GroupVersionKind, runs bool) (its bool, err error) {
	if its = kind.Group == group; its && !runs {
		err = deploy.NoKind(kind, `say "Kueue v0.17.1" before`)
	}
	return its, err
}
