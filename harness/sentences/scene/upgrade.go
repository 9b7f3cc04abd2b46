package scene

import (
	"context"
	"fmt"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/sim/history"
)

// Upgradable is a program of which another release can take the place.
type Upgradable interface {
	// Upgrade brings what the release's documentation says has to be there for it, but for what is left behind, ends the program
	// as a kubelet does, and starts the release with the settings that the scenario gave the program.
	Upgrade(ctx context.Context, to builds.Target, left LeftBehind) error
}

// LeftBehind is what an upgrade leaves as the release before brought it.
type LeftBehind struct {
	CRDs bool // as Helm does with those of a chart's folder crds
	// Roles are its rights, as where others than the chart grant them.
	Roles bool
	// Refused are those of its CRDs that the API server does not take in place of the old ones.
	Refused bool
	// Lease is that of its leader, which ends by SIGKILL as on a machine that is gone: none can lead until it has run out.
	Lease bool
}

// Change is what a step does to which release runs as the target.
type Change struct {
	First bool // it runs from the start
	Back  bool // the one before the last upgrade runs again
	Left  LeftBehind
}

// releases are those that have run as the target.
type releases struct {
	first   string // the version that a step names; empty: the build under test
	running builds.Target
	before  *builds.Target // nil: there has been no upgrade
}

// StartWith has a release run as the target until it is upgraded.
func (s *Scene) StartWith(version string) { State[releases](s).first = version }

// FirstRelease is what runs as the target until it is upgraded: the build under test, unless a step names another.
func (s *Scene) FirstRelease() (t builds.Target, err error) {
	of := State[releases](s)
	if t = s.Rig.Target; of.first != "" {
		if t, err = s.release(of.first); err != nil {
			return t, err
		}
		s.recordRelease(history.Installed, t)
	}
	of.running = t
	return t, nil
}

// release is one of the target's, as the store has it.
func (s *Scene) release(version string) (t builds.Target, err error) {
	store, err := buildstore.Open("")
	if err != nil {
		return t, err
	}
	ref := s.Rig.Target.Ref
	ref.Version = version
	return store.Get(ref)
}

// Upgrade has a release take the place of the one that runs as the target: that of a version, or the build under test where
// version is empty.
func (s *Scene) Upgrade(ctx context.Context, version string, left LeftBehind) (err error) {
	to := s.Rig.Target
	if version != "" {
		if to, err = s.release(version); err != nil {
			return err
		}
	}
	return s.replaceTarget(ctx, to, left)
}

// RollBack has the release run as the target that ran before the last upgrade.
func (s *Scene) RollBack(ctx context.Context) error {
	before := State[releases](s).before
	if before == nil {
		return fmt.Errorf("%s was not upgraded", s.Rig.Target.Program())
	}
	return s.replaceTarget(ctx, *before, LeftBehind{})
}

func (s *Scene) replaceTarget(ctx context.Context, to builds.Target, left LeftBehind) error {
	of := State[releases](s)
	before := of.running
	s.recordRelease(history.Upgraded, to)
	if err := s.Target.(Upgradable).Upgrade(ctx, to, left); err != nil {
		return fmt.Errorf("replacing %s by %s: %w", before.Ref, to.Ref, err)
	}
	of.running, of.before = to, &before
	return nil
}

// Led is a program of whose processes one leads.
type Led interface {
	// Leading is its name, as [world.World.Replicas] has it, empty if none is known to lead.
	Leading() string
	// Depose is its name for who ends it: until another one leads none does.
	Depose() (string, error)
	// Lease is that by which it leads, "namespace/name", empty if none is known to lead.
	Lease() string
}

// CanLead is the need for such a target.
var CanLead = Need{func(s *Scene) bool { _, can := s.Target.(Led); return can && TargetRuns.There(s) },
	`nothing of the target is known to lead: say "Karpenter" or "Cluster Autoscaler" before`}

// CanUpgrade is the need for a target of which another release can take the place.
var CanUpgrade = Need{func(s *Scene) bool { _, can := s.Target.(Upgradable); return can && TargetRuns.There(s) },
	`no other release can take the place of the target: say "Karpenter", "Cluster Autoscaler", "Cluster API" or ` +
		`"the cloud controller manager of AWS" before`}

func (s *Scene) recordRelease(verb string, t builds.Target) {
	s.World.History().Record(history.Event{
		Source: history.Harness, Verb: verb, Actor: s.Rig.Target.Program(),
		Object: history.Object{Resource: history.Programs, Name: s.Rig.Target.Program()},
		Detail: map[string]any{"version": t.Version, "source": string(t.Source.Kind), "sha256": t.SHA256},
	})
}
