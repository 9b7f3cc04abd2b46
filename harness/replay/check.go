package replay

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	clouds "nodestorm/harness/cloud/all"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/program/programs"
	"nodestorm/harness/sentences/requirements"
	"nodestorm/harness/sentences/validation"
	"nodestorm/harness/world/container"
	"nodestorm/harness/world/memory"
	"nodestorm/sim/oneline"
	"nodestorm/sim/time/clock"
)

// Check reports whether the request can run at all, before anything starts.
func (r Request) Check(ctx context.Context) error {
	if err := r.CheckSteps(); err != nil {
		return err
	}
	if err := r.checkMachine(); err != nil {
		return err
	}
	releases, err := r.checkReleases()
	if err != nil {
		return err
	}
	if err := r.checkUpgrades(); err != nil {
		return err
	}
	for _, t := range append([]builds.Target{r.Target, r.Kubernetes}, r.With...) { // releases have just come from the store
		if err := buildstore.Verify(t); err != nil {
			return err
		}
	}
	for _, t := range append([]builds.Target{r.Target}, r.With...) {
		if err := container.Check(ctx, t); err != nil {
			return err
		}
	}
	if err := r.CheckManifest(ctx); err != nil {
		return err
	}
	if err := r.CheckFlags(ctx); err != nil {
		return err
	}
	if err := r.checkReplaced(ctx); err != nil {
		return err
	}
	if err := r.CheckCluster(); err != nil {
		return err
	}
	if err := r.CheckKubernetes(); err != nil {
		return err
	}
	if err := r.ControlPlane.checkClock(r.World.Clock); err != nil {
		return err
	}
	return CheckClock(r.World.Clock, slices.Concat([]builds.Target{r.Target, r.Kubernetes}, r.With, releases)...)
}

// program is the target's.
func (r Request) program() deploy.Kind { return programs.Named(r.Target.Name) }

// manifest is what Manifest names, nil for none. Each run reads it anew, since its
// mounted files end with the world.
func (r Request) manifest() (*manifest.Container, error) {
	if r.Manifest == "" {
		return nil, nil
	}
	options := r.program().Manifest
	if options == nil {
		return nil, fmt.Errorf("%s: manifests are for %s, and the target is %s: leave it out", r.Manifest, programs.WithManifest(), r.Target.Name)
	}
	return manifest.Load(r.Manifest, *options)
}

// ReadManifest finds what is wrong with the file that Manifest names, whatever the target can do. It needs
// Manifest and the target's name only.
func (r Request) ReadManifest() error {
	_, err := r.manifest()
	return err
}

// CheckManifest reports whether the target can be run as the manifest has it. It needs
// Record, Features, Target and Manifest only.
func (r Request) CheckManifest(ctx context.Context) error {
	container, err := r.manifest()
	if err != nil || container == nil {
		return err
	}
	if err := r.program().Check(ctx, deploy.Request{Target: r.Target, Provider: r.Record.Provider(), Manifest: container}); err != nil {
		return err
	}
	if of := clouds.Named(r.Record.Provider()); of != nil && of.CheckManifest != nil {
		var given []string
		if err := r.eachScenario(func(pickle []*messages.PickleStep) error {
			given = append(given, requirements.Environment(pickle)...)
			return nil
		}); err != nil {
			return err
		}
		if err := of.CheckManifest(container, r.Target.Mentions, given); err != nil {
			return err
		}
	}
	releases, err := r.checkReleases()
	if err != nil {
		return err
	}
	for _, t := range releases {
		check := programs.Named(t.Name).CheckBeside
		if check == nil {
			continue
		}
		if err := check(t, container.Env); err != nil {
			return fmt.Errorf("%s: env: %w", container.Source, err)
		}
	}
	return nil
}

// CheckFlags reports whether the target knows the flags, variables and feature gates that the scenario gives it. It needs
// Record, Features and Target only.
func (r Request) CheckFlags(ctx context.Context) error {
	var steps []*messages.PickleStep
	err := r.eachScenario(func(pickle []*messages.PickleStep) error {
		steps = append(steps, pickle...)
		return nil
	})
	if err != nil {
		return err
	}
	var beside []builds.Target
	if len(requirements.Environment(steps)) > 0 { // what runs in its place may know them
		if beside, err = r.checkReleases(); err != nil {
			return err
		}
	}
	if err := checkGiven(ctx, r.Target, r.Record.Provider(), steps, beside...); err != nil {
		return fmt.Errorf("%s: %w", r.feature(), err)
	}
	return nil
}

// checkGiven reports whether a build knows the flags, variables and feature gates that steps give it. Karpenter says nothing of a
// gate that it does not know. A variable may be for a build beside it.
func checkGiven(ctx context.Context, t builds.Target, provider string, steps []*messages.PickleStep, beside ...builds.Target) error {
	given, unlisted, err := requirements.Flags(steps)
	gates := requirements.Gates(steps)
	// mutant: a feature gate that a target does not know is given to it
	err = cmp.Or(err, mentions(t, "environment variable", requirements.Environment(steps), beside...), mentions(t, "feature gate", gates))
	if err != nil || len(given)+len(unlisted) == 0 {
		return err
	}
	check := programs.Named(t.Name).Check
	if check == nil {
		return nil
	}
	return check(ctx, deploy.Request{Target: t, Provider: provider, Flags: given, Unlisted: unlisted})
}

// mentions finds the first of some names that neither a build's program has nor one of the same name beside it.
func mentions(t builds.Target, what string, names []string, beside ...builds.Target) error {
	for _, name := range names {
		known, err := t.Mentions(name)
		for _, other := range beside {
			if err == nil && !known && other.Name == t.Name {
				known, err = other.Mentions(name)
			}
		}
		if err != nil || !known {
			return cmp.Or(err, fmt.Errorf("%s knows no %s %s", t.Ref, what, name))
		}
	}
	return nil
}

// CheckClock reports whether the targets can live in such time, and whether this machine lets
// them.
func CheckClock(mode clock.Mode, targets ...builds.Target) error {
	if !mode.Virtual() {
		return nil
	}
	for _, t := range targets {
		switch {
		case !t.Virtual():
			if err := checkGuest(t); err != nil {
				return err
			}
		case t.OverlayHash != "":
			if err := clock.TryBuiltIn(); err != nil {
				return fmt.Errorf("%s: %w", t.Ref, err)
			}
		}
	}
	return mode.Try()
}

// checkGuest reports whether a program that was not built with the clock can live in virtual time
// as it is.
func checkGuest(t builds.Target) error {
	switch {
	case t.Source.Container:
		return fmt.Errorf("%s runs in a container, where time is real: use --clock real", t.Ref)
	case t.RealTimeOnly():
		return fmt.Errorf("%s was not built with the clock and is no Go program, of which alone it is known how they wait: "+
			"use --clock real", t.Ref)
	}
	if err := clock.TryGuest(); err != nil {
		return fmt.Errorf("%s was not built with the clock, and in virtual time as it is it cannot live here: %w; "+
			"use --clock real, or build it: %s", t.Ref, err, oneline.Command("nodestorm", "target", "build", t.Ref.String()))
	}
	return nil
}

// CheckSteps reports whether all steps of the scenario have a meaning. It needs
// Record and Features only.
func (r Request) CheckSteps() error {
	return r.eachScenario(func(pickle []*messages.PickleStep) error {
		files := featureFolder(r.Features, r.Record)
		if err := validation.Steps(pickle, files); err != nil {
			return err
		}
		return validation.Made(pickle, files).CheckRecord(&r.Record)
	})
}

// checkMachine reports whether this machine can have the nodes and the replicas that the steps ask for.
func (r Request) checkMachine() error {
	return r.eachScenario(func(pickle []*messages.PickleStep) error {
		// mutant: more nodes are begun with than the machine has memory for
		err := memory.Check(requirements.Nodes(pickle))
		if check := r.program().CheckReplicas; check != nil {
			err = cmp.Or(err, check(requirements.Replicas(pickle)))
		}
		return err
	})
}

// Releases are those that the steps name as parts of the world, and versions of the target. It needs Record, Features
// and the target's Ref only.
func (r Request) Releases() (refs []builds.Ref, err error) {
	err = r.eachScenario(func(pickle []*messages.PickleStep) error {
		of, err := requirements.Releases(pickle, r.Target.Ref)
		refs = append(refs, of...)
		return err
	})
	return refs, err
}

// Needs are the builds that the scenario takes out of the store beside its target and Kubernetes,
// see [requirements.Builds]. It needs Record, Features and the target's Ref only.
func (r Request) Needs() (refs []builds.Ref, err error) {
	err = r.eachScenario(func(pickle []*messages.PickleStep) error {
		of, err := requirements.Builds(pickle, r.Target.Ref)
		refs = append(refs, of...)
		return err
	})
	return refs, err
}

// checkReleases finds them in the store.
func (r Request) checkReleases() ([]builds.Target, error) {
	refs, err := r.Releases()
	if err != nil || len(refs) == 0 {
		return nil, err
	}
	store, err := buildstore.Open("")
	if err != nil {
		return nil, err
	}
	var releases []builds.Target
	for _, ref := range refs {
		t, err := store.Get(ref)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.feature(), err)
		}
		releases = append(releases, t)
	}
	return releases, nil
}

// feature is what people call the scenario's: ours are in features/.
func (r Request) feature() string {
	if r.Own != nil {
		return r.Record.Feature
	}
	return "features/" + r.Record.Feature
}

func (r Request) eachScenario(check func([]*messages.PickleStep) error) error {
	suite, err := r.suite()
	if err != nil {
		return fmt.Errorf("reading %s: %w", r.feature(), err)
	}
	features, err := suite.RetrieveFeatures()
	if err != nil {
		return fmt.Errorf("reading %s: %w", r.feature(), err)
	}
	for _, f := range features {
		for _, pickle := range f.Pickles {
			if err := check(pickle.Steps); err != nil {
				return fmt.Errorf("%s: scenario %q: %w", r.feature(), pickle.Name, err)
			}
		}
	}
	return nil
}
