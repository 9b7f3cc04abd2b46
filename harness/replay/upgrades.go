package replay

import (
	"context"
	"fmt"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/sentences/requirements"
	"nodestorm/harness/sentences/scene"
)

// checkUpgrades finds a release that cannot take the place of another one, as the steps have it.
func (r Request) checkUpgrades() error {
	check := r.program().CheckUpgrade
	if check == nil {
		return nil
	}
	return r.eachUpgrade(func(_ []*messages.PickleStep, from, to builds.Target, left scene.LeftBehind) error {
		return check(from, to, left)
	})
}

// checkReplaced reports whether the releases that run before the target, or after it, can be run as the manifest and the scenario
// have it.
func (r Request) checkReplaced(ctx context.Context) error {
	check := r.program().Check
	if check == nil {
		return nil
	}
	container, err := r.manifest()
	if err != nil {
		return err
	}
	return r.eachUpgrade(func(steps []*messages.PickleStep, from, to builds.Target, _ scene.LeftBehind) error {
		given, unlisted, err := requirements.Flags(steps)
		if err != nil || container == nil && len(given)+len(unlisted) == 0 {
			return err
		}
		for _, t := range []builds.Target{from, to} {
			// mutant: a flag that the release before does not know is found out when it is started
			if t.Ref == r.Target.Ref {
				continue
			}
			if err := check(ctx, deploy.Request{
				Target: t, Provider: r.Record.Provider(), Manifest: container, Flags: given, Unlisted: unlisted,
			}); err != nil {
				return fmt.Errorf("the upgrade from %s to %s: %w", from.Ref, to.Ref, err)
			}
		}
		return nil
	})
}

// eachUpgrade goes through those that the steps do, with the scenario's steps.
func (r Request) eachUpgrade(do func(steps []*messages.PickleStep, from, to builds.Target, left scene.LeftBehind) error) error {
	build := func(ref builds.Ref) (builds.Target, error) {
		if ref == r.Target.Ref {
			return r.Target, nil
		}
		store, err := buildstore.Open("")
		if err != nil {
			return builds.Target{}, err
		}
		return store.Get(ref)
	}
	return r.eachScenario(func(steps []*messages.PickleStep) error {
		for _, u := range requirements.Upgrades(steps, r.Target.Ref) {
			from, err := build(u.From)
			if err != nil {
				return err
			}
			to, err := build(u.To)
			if err == nil {
				err = do(steps, from, to, u.Left)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
