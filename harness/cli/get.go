package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/builds/registry"
	"nodestorm/harness/replay"
)

// registriesOfEnvironment are where all commands look for what the store lacks.
func registriesOfEnvironment() buildstore.Registries {
	return buildstore.Registries{From: os.Getenv(buildstore.EnvFrom), Mirror: os.Getenv(buildstore.EnvMirror)}
}

// found is what the store has of ref. Of the Kubernetes of worlds they take the kubelet too, which
// is in no image: its official programs are no such build.
func (e *env) found(ref builds.Ref) (builds.Target, error) {
	t, err := replay.Find(e.store, ref)
	if err == nil && ref == builds.Kubernetes && t.Lacks("kubelet") {
		return builds.Target{}, &buildstore.NotFoundError{Ref: ref}
	}
	return t, err
}

// asked are where a target that replays need is asked for: see found. Official programs of another
// Kubernetes are pulled if that is named.
func asked(ref builds.Ref, where buildstore.Registries) buildstore.Registries {
	if ref.Name == builds.Kubernetes.Name {
		where.Mirror = buildstore.NoRegistry
	}
	return where
}

// offered asks registries for what the store lacks; nil is that they do not have it. The first
// that gives no answer, or refuses, is the last that is asked, which is said.
func (e *env) offered(ctx context.Context, ref builds.Ref) (*buildstore.Offer, error) {
	if e.registriesGivenUp.Load() {
		return nil, nil
	}
	offer, err := e.store.Ask(ctx, ref, asked(ref, registriesOfEnvironment()))
	switch {
	case err == nil:
		return offer, nil
	case ctx.Err() != nil, errors.As(err, new(*buildstore.MovedError)):
		return nil, err
	case errors.As(err, new(*buildstore.UnpublishedError)), registry.NotThere(err):
		return nil, nil
	}
	e.registriesGivenUp.Store(true)
	none := &registry.UnreachableError{}
	if errors.As(err, &none) {
		err = none
	}
	e.remark("%v: no registry is asked from now on, and what has a Go module is built", err)
	return nil, nil
}

// unobtainable says why a target that no registry has is not built either.
func (e *env) unobtainable(ref builds.Ref, unknown error) error {
	if errors.As(unknown, new(*buildstore.NoCheckoutError)) {
		return fmt.Errorf("%s is not in the store, and its source is needed to build it: %w", ref, unknown)
	}
	_, err := e.found(ref)
	return err
}

// take gets a target out of a registry, with progress on standard error.
func (e *env) take(ctx context.Context, ref builds.Ref, from buildstore.Registries) (builds.Target, error) {
	offer, err := e.store.Ask(ctx, ref, from)
	if err != nil {
		return builds.Target{}, err
	}
	line := e.newStatus()
	defer line.clear()
	return e.store.Take(ctx, offer, line.update)
}
