package scene

import (
	"cmp"
	"context"
	"fmt"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/world"
	"nodestorm/sim/history"
)

// Plane is what a step does to which release of Kubernetes the control plane is of.
type Plane struct {
	First    string // its release from the start; empty: the run's own
	Upgraded bool   // to the run's own
}

// OlderKubernetes is a world's configuration with the control plane of a release, as the store has it, until it is upgraded.
func (s *Scene) OlderKubernetes(cfg world.Config, version string) (world.Config, error) {
	cfg.ControlPlane, cfg.Version = "", version
	ref := builds.Ref{Name: builds.Kubernetes.Name, Version: version}
	if ref == builds.Kubernetes {
		return cfg, nil
	}
	store, err := buildstore.Open("")
	if err != nil {
		return cfg, err
	}
	t, err := store.Get(ref)
	cfg.ControlPlane = t.Bin()
	return cfg, err
}

// OwnKubernetes is the release of the run's control plane.
func (s *Scene) OwnKubernetes() world.Release {
	own := s.Rig.World
	return world.Release{ControlPlane: own.ControlPlane, Version: cmp.Or(own.Version, builds.Kubernetes.Version)}
}

// UpgradeKubernetes has the run's own Kubernetes take the place of the control plane's release.
func (s *Scene) UpgradeKubernetes(ctx context.Context) error {
	to := s.OwnKubernetes()
	s.RecordKubernetes(history.Upgraded, to.Version) // before: what comes of it is after it
	if err := s.World.Upgrade(ctx, to); err != nil {
		return fmt.Errorf("upgrading the control plane to %s: %w", to.Version, err)
	}
	return nil
}

// RecordKubernetes has the history say which release the control plane is of.
func (s *Scene) RecordKubernetes(verb, version string) {
	s.World.History().Record(history.Event{
		Source: history.Harness, Verb: verb, Actor: builds.Kubernetes.Name,
		Object: history.Object{Resource: history.Programs, Name: builds.Kubernetes.Name},
		Detail: map[string]any{"version": version},
	})
}
