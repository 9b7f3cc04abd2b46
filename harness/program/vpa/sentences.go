package vpa

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"nodestorm/harness/builds"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

const group = "autoscaling.k8s.io"

// Recommender, Updater and Admission are its programs. All may be beside a target, and the recommender may be it.
var (
	Recommender = deploy.Kind{Name: builds.VPARecommender, Sentences: []deploy.Sentences{sentences}}
	Updater     = deploy.Kind{Name: builds.VPAUpdater, Way: &running, Objects: itsObjects}
	Admission   = deploy.Kind{Name: builds.VPAAdmission, Way: &running}
)

var running = scene.ProgramIs[*part](
	`the Vertical Pod Autoscaler does not run yet: say "the Vertical Pod Autoscaler v1.8.1 without its recommender"`,
)

var sentences = deploy.Sentences{Sentences: scene.Sentences{
	Worlds: "the Vertical Pod Autoscaler", Records: "evictions, resizes and other calls to the API server (api)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `the recommender of the Vertical Pod Autoscaler`, Check: checkTarget, Act: bringTarget},
		{Role: scene.Given, Words: `the recommender of the Vertical Pod Autoscaler with the flags:`, Table: true,
			Wants: scene.WantsFlags, Check: scene.WithFlags(checkTarget), Act: withFlags},
		{Role: scene.Either, Words: `the Vertical Pod Autoscaler VERSION`, Wants: wants(whole), Check: check,
			Act: act(whole, func(words.Args) string { return "" })},
		{Role: scene.Either, Words: `the Vertical Pod Autoscaler VERSION without its recommender`, Wants: wants(applied), Check: check,
			Act: act(applied, func(words.Args) string { return "" })},
		{Role: scene.Either, Words: `the Vertical Pod Autoscaler VERSION without its recommender, with the feature gate "GATE"`,
			Wants: wants(applied), Check: check, Act: act(applied, func(a words.Args) string { return a.Text(1) })},
	},
}}

// What scenarios bring at once, in the order in which it starts. The webhook is there before pods are evicted for it.
var (
	applied = []string{builds.VPAAdmission, builds.VPAUpdater}
	whole   = []string{builds.VPAAdmission, builds.VPAUpdater, builds.VPARecommender}
)

func wants(names []string) func(words.Args) (scene.Wants, error) {
	return func(a words.Args) (w scene.Wants, err error) {
		for _, name := range names {
			w.Releases = append(w.Releases, builds.Ref{Name: name, Version: a.Text(0)})
		}
		return w, nil
	}
}

func check(f *scene.Feature, _ words.Args) error {
	f.Brings(builds.VPAUpdater)
	return nil
}

// checkTarget notes that the target runs, whose kinds are those of all parts.
func checkTarget(f *scene.Feature, a words.Args) error {
	return errors.Join(f.Starts(builds.VPARecommender), check(f, a))
}

func bringTarget(ctx context.Context, s *scene.Scene, _ words.Args) error {
	if t := s.Rig.Target; t.Name != builds.VPARecommender {
		return fmt.Errorf("%s is no recommender of the Vertical Pod Autoscaler: take %s", t.Ref, builds.VPARecommender)
	}
	first, err := s.FirstRelease()
	if err != nil {
		return err
	}
	return bring(ctx, s, "", &part{build: first})
}

func withFlags(ctx context.Context, s *scene.Scene, a words.Args) (err error) {
	if s.Settings.Flags, err = scene.Flags(a.Table); err != nil {
		return err
	}
	return bringTarget(ctx, s, a)
}

// act brings these parts with feature gates, of which there may be none.
func act(names []string, gates func(words.Args) string) func(context.Context, *scene.Scene, words.Args) error {
	return func(ctx context.Context, s *scene.Scene, a words.Args) error {
		var parts []*part
		for _, name := range names {
			t, err := s.Part(builds.Ref{Name: name, Version: a.Text(0)})
			if err != nil {
				return err
			}
			parts = append(parts, &part{build: t})
		}
		return bring(ctx, s, gates(a), parts...)
	}
}

// itsObjects are those of its CRDs.
func itsObjects(kind schema.GroupVersionKind, runs bool) (its bool, err error) {
	if its = kind.Group == group; its && !runs {
		err = deploy.NoKind(kind, `say "the Vertical Pod Autoscaler v1.8.1" before`)
	}
	return its, err
}
