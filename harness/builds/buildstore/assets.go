package buildstore

import (
	"errors"
	"os"
	"reflect"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/seal"
	"nodestorm/harness/builds/tree"
)

// Verify makes sure that a build which Get has returned is still what its manifest describes. The error is a
// *CorruptError. What is in no store, such as an order, is for others to look at.
func Verify(t builds.Target) error {
	if t.Dir == "" {
		return nil
	}
	if err := seal.Check(&t); err != nil {
		return &CorruptError{Ref: t.Ref, Source: t.Source, Dir: t.Dir, Err: err}
	}
	return nil
}

// Unsealed returns an error if the store has a build of ref that was made here of a Go module, and is to be built again, which
// compiles nothing, because what stands beside its program has no digest.
func (s *Store) Unsealed(ref builds.Ref) error {
	_, err := s.Get(ref)
	if stale := (*StaleError)(nil); errors.As(err, &stale) && stale.Unsealed && stale.Source.Kind == builds.FromModule &&
		stale.Source.Image == "" {
		return stale
	}
	return nil
}

// sealAgain makes such a build of a recipe anew, with its program as it is and the rest out of the source. It reports
// whether there is one.
func (s *Store) sealAgain(r Recipe, p *plan, d draft) (_ builds.Target, found bool, err error) {
	keys, err := s.keys(r.Ref)
	if err != nil || p.source.Kind != builds.FromModule {
		return builds.Target{}, false, err
	}
	for _, key := range keys {
		t, err := s.load(r.Ref, key)
		stale := (*StaleError)(nil)
		if !errors.As(err, &stale) || !stale.Unsealed || t.Provider != r.Provider || t.Race != r.Race ||
			t.OverlayHash != p.manifest.OverlayHash || !reflect.DeepEqual(t.Source, p.source) {
			continue
		}
		bin := d.binary(r.Name)
		if err := errors.Join(tree.CopyFile(bin, t.Binary()), os.Chmod(bin, 0o755), d.fill(r, p.root)); err != nil {
			return t, true, err
		}
		t, err = s.publish(d, key, t.Manifest)
		return t, true, err
	}
	return builds.Target{}, false, nil
}
