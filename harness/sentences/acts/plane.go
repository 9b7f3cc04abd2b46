package acts

import (
	"context"
	"errors"
	"fmt"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/sim/history"
)

// planeSentences replace the control plane's release of Kubernetes by the run's own while the cluster lives.
var planeSentences = scene.Sentences{
	Worlds: "any", Records: "releases of Kubernetes that the control plane is of (harness)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `a cluster of Kubernetes VERSION until its control plane is upgraded`, Begins: true,
			Wants: wantsOlder, Check: checkOlder, Act: startOlder},
		{Role: scene.When, Words: `the control plane is upgraded`, Wants: wantsOwn, Check: checkPlane,
			Act: func(ctx context.Context, s *scene.Scene, _ words.Args) error { return s.UpgradeKubernetes(ctx) }},
	},
}

// wantsOlder wants the release in the store. The one that nodestorm is built for is always there.
func wantsOlder(a words.Args) (w scene.Wants, err error) {
	w.Plane = &scene.Plane{First: a.Text(0)}
	if ref := (builds.Ref{Name: builds.Kubernetes.Name, Version: a.Text(0)}); ref != builds.Kubernetes {
		w.Releases = []builds.Ref{ref}
	}
	return w, nil
}

func wantsOwn(words.Args) (scene.Wants, error) {
	return scene.Wants{Plane: &scene.Plane{Upgraded: true}}, nil
}

func checkOlder(f *scene.Feature, a words.Args) error {
	f.OlderPlane = a.Text(0)
	f.Owed = append(f.Owed, func(f *scene.Feature) error {
		if f.OlderPlane == "" {
			return nil
		}
		return fmt.Errorf(`nothing upgrades the control plane from %s: say "the control plane is upgraded" in a When, or have all of `+
			`the run on that release: --kubernetes %[1]s`, f.OlderPlane)
	})
	return buildstore.CheckKubernetes(a.Text(0))
}

func checkPlane(f *scene.Feature, _ words.Args) error {
	if f.OlderPlane == "" {
		return errors.New(`the control plane is of the run's own Kubernetes already: say "a cluster of Kubernetes v1.35.4 until its ` +
			`control plane is upgraded" in place of "a cluster"`)
	}
	f.OlderPlane = ""
	return nil
}

func startOlder(ctx context.Context, s *scene.Scene, a words.Args) error {
	cfg, err := s.OlderKubernetes(s.Rig.World, a.Text(0))
	if err != nil {
		return err
	}
	if err := start(ctx, s, cfg); err != nil {
		return err
	}
	s.RecordKubernetes(history.Installed, cfg.Version)
	return nil
}
