package supply

import (
	"context"
	"errors"
	"fmt"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/builds/registry"
)

// Places returns where a target that replays need is asked for, of the registries that are named:
// see Find. Official programs of another Kubernetes are pulled if that is named.
func Places(ref builds.Ref, named buildstore.Registries) buildstore.Registries {
	if ref.Name == builds.Kubernetes.Name {
		named.Mirror = buildstore.NoRegistry
	}
	return named
}

// WithoutRegistries has no registry asked from now on.
func (s *Supplier) WithoutRegistries() { s.registriesGivenUp.Store(true) }

// offer asks registries for what the store lacks; it returns nil if they do not have it. The first
// that gives no answer, or refuses, is the last that is asked, which is said.
func (s *Supplier) offer(ctx context.Context, ref builds.Ref) (*buildstore.Offer, error) {
	if s.registriesGivenUp.Load() {
		return nil, nil
	}
	offer, err := s.Store.FindOffer(ctx, ref, Places(ref, s.Registries))
	switch {
	case err == nil:
		return offer, nil
	case ctx.Err() != nil, errors.As(err, new(*buildstore.MovedError)):
		return nil, err
	case errors.As(err, new(*buildstore.UnpublishedError)), registry.NotThere(err):
		return nil, nil
	}
	s.registriesGivenUp.Store(true)
	none := &registry.UnreachableError{}
	if errors.As(err, &none) {
		err = none
	}
	s.Output.Remark("%v: no registry is asked from now on, and what has a Go module is built", err)
	return nil, nil
}

// unobtainable says why a target that no registry has is not built either.
func (s *Supplier) unobtainable(ref builds.Ref, unknown error) error {
	_, err := s.Find(ref)
	if !errors.As(unknown, new(*buildstore.NoCheckoutError)) {
		return err
	}
	missing := new(buildstore.NotFoundError)
	if ref.Provider != builds.Instances || !errors.As(err, &missing) {
		return fmt.Errorf("%s is not in the store, and its source is needed to build it: %w", ref, unknown)
	}
	only := ""
	if len(missing.Others) > 0 {
		only = ", only for " + missing.Providers()
	}
	return fmt.Errorf("%s for the cloud of %s is not in the store%s: %w; then: %s", ref, ref.Provider, only, unknown, missing.Command())
}

// CheckKnown returns an error unless it is known how a target is built.
func (s *Supplier) CheckKnown(ref builds.Ref) error {
	if _, unknown := buildstore.Known(ref); unknown != nil {
		return s.unobtainable(ref, unknown)
	}
	return nil
}

// Pull gets a target out of a registry, or an error.
func (s *Supplier) Pull(ctx context.Context, ref builds.Ref, from buildstore.Registries) (builds.Target, error) {
	offer, err := s.Store.FindOffer(ctx, ref, from)
	if err != nil {
		return builds.Target{}, err
	}
	line := s.Output.NewLine()
	defer line.Clear()
	return s.Store.PullOffer(ctx, offer, ShowOn(line, "", ""))
}
