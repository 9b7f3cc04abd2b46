package vpa

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"nodestorm/harness/builds"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

const group = "autoscaling.k8s.io"

// Updater and Admission are the two programs. They are beside the target.
var (
	Updater   = deploy.Kind{Name: builds.VPAUpdater, Sentences: []deploy.Sentences{sentences}, Way: &running, Objects: itsObjects}
	Admission = deploy.Kind{Name: builds.VPAAdmission, Way: &running}
)

var running = scene.ProgramIs[*part](
	`the Vertical Pod Autoscaler does not run yet: say "the Vertical Pod Autoscaler v1.8.1 without its recommender"`,
)

var sentences = deploy.Sentences{Sentences: scene.Sentences{
	Worlds: "the Vertical Pod Autoscaler", Records: "evictions, resizes and other calls to the API server (api)",
	Rows: []scene.Sentence{
		{Role: scene.Either, Words: `the Vertical Pod Autoscaler VERSION without its recommender`, Wants: wants, Check: check,
			Act: act(func(words.Args) string { return "" })},
		{Role: scene.Either, Words: `the Vertical Pod Autoscaler VERSION without its recommender, with the feature gate "GATE"`,
			Wants: wants, Check: check, Act: act(func(a words.Args) string { return a.Text(1) })},
	},
}}

// refs are those of the updater and of the admission controller.
func refs(a words.Args) []builds.Ref {
	return []builds.Ref{{Name: builds.VPAUpdater, Version: a.Text(0)}, {Name: builds.VPAAdmission, Version: a.Text(0)}}
}

func wants(a words.Args) (scene.Wants, error) { return scene.Wants{Releases: refs(a)}, nil }

func check(f *scene.Feature, _ words.Args) error {
	f.Runs[builds.VPAUpdater] = true
	return nil
}

// act brings both with feature gates, of which there may be none.
func act(gates func(words.Args) string) func(context.Context, *scene.Scene, words.Args) error {
	return func(ctx context.Context, s *scene.Scene, a words.Args) error {
		var parts [2]builds.Target
		for i, ref := range refs(a) {
			t, err := s.Part(ref)
			if err != nil {
				return err
			}
			parts[i] = t
		}
		return bring(ctx, s, parts[0], parts[1], gates(a))
	}
}

// itsObjects are those of its CRDs.
func itsObjects(kind schema.GroupVersionKind, runs bool) (its bool, err error) {
	if its = kind.Group == group; its && !runs {
		err = deploy.NoKind(kind, `say "the Vertical Pod Autoscaler v1.8.1 without its recommender" before`)
	}
	return its, err
}
