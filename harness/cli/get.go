package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"nodestorm/harness/replay"
	"nodestorm/harness/target"
	"nodestorm/harness/target/image"
)

// registriesOfEnvironment are where all commands look for what the store lacks.
func registriesOfEnvironment() target.Registries {
	return target.Registries{From: os.Getenv(target.EnvFrom), Mirror: os.Getenv(target.EnvMirror)}
}

// found is what the store has of ref. Of the Kubernetes of worlds they take the kubelet too, which
// is in no image: its official programs are no such build.
func (e *env) found(ref target.Ref) (target.Target, error) {
	t, err := replay.Find(e.store, ref)
	if err == nil && ref == target.Kubernetes && t.Lacks("kubelet") {
		return target.Target{}, &target.NotFoundError{Ref: ref}
	}
	return t, err
}

// asked are where a target that replays need is asked for: see found. Official programs of another
// Kubernetes are pulled if that is named.
func asked(ref target.Ref, where target.Registries) target.Registries {
	if ref.Name == target.Kubernetes.Name {
		where.Mirror = target.NoRegistry
	}
	return where
}

// offered asks registries for what the store lacks; nil is that they do not have it. The first
// that gives no answer, or refuses, is the last that is asked, which is said.
func (e *env) offered(ctx context.Context, ref target.Ref) (*target.Offer, error) {
	if e.registriesGivenUp.Load() {
		return nil, nil
	}
	offer, err := e.store.Ask(ctx, ref, asked(ref, registriesOfEnvironment()))
	switch {
	case err == nil:
		return offer, nil
	case ctx.Err() != nil, errors.As(err, new(*target.MovedError)):
		return nil, err
	case errors.As(err, new(*target.UnpublishedError)), image.NotThere(err):
		return nil, nil
	}
	e.registriesGivenUp.Store(true)
	none := &image.UnreachableError{}
	if errors.As(err, &none) {
		err = none
	}
	e.remark("%v: no registry is asked from now on, and what has a Go module is built", err)
	return nil, nil
}

// unobtainable says why a target that no registry has is not built either.
func (e *env) unobtainable(ref target.Ref, unknown error) error {
	if errors.As(unknown, new(*target.NoCheckoutError)) {
		return fmt.Errorf("%s is not in the store, and its source is needed to build it: %w", ref, unknown)
	}
	_, err := e.found(ref)
	return err
}

// take gets a target out of a registry, with progress on standard error.
func (e *env) take(ctx context.Context, ref target.Ref, from target.Registries) (target.Target, error) {
	offer, err := e.store.Ask(ctx, ref, from)
	if err != nil {
		return target.Target{}, err
	}
	line := e.newStatus()
	defer line.clear()
	return e.store.Take(ctx, offer, line.update)
}
