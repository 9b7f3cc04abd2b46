// Package buildstore keeps the builds under test in one store that all checkouts of
// a user share: released Go modules, a maintainer's source folder, a binary that
// someone else built, and the real Kubernetes of our worlds. Each is an entry
// with a manifest that says where it came from, what built it, and its hash.
//
// It builds and stores; it starts nothing and knows no cluster.
package buildstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/mod/semver"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/seal"
	"nodestorm/sim/strict"
	"nodestorm/sim/time/clock/overlay"
)

// EnvCache overrides where the store is.
const EnvCache = "NODESTORM_CACHE"

// OverlayFunc writes what gives programs built by the toolchain at goroot the
// clock; see overlay.Write.
type OverlayFunc func(goroot, goarch, dir string) (path, hash string, err error)

// Store is a folder of targets. Any number of processes may use it at once.
//
//	targets/NAME/VERSION/[PROVIDER-]KEY/   manifest.json, bin/, assets/
//	locks/NAME@VERSION                     held while that target changes
//	tmp/NAME@VERSION/                      what the holder of the lock works in
//	logs/NAME@VERSION.log                  what the go command said when a build failed
//
// The key is a hash over source, toolchain, clock and flags. One version can
// have several entries: checkouts of nodestorm with different clocks share a store.
type Store struct {
	dir string
	// Overlay gives new builds the clock, and reports whether an entry's is still
	// the same. Nil, as on systems that the clock doesn't know, builds for real
	// time only and takes every entry as it is.
	Overlay OverlayFunc
	// Yields has builds use only processors that no other process wants, as replays beside them do.
	Yields bool
}

// Open returns the store in dir, which is made when the first target is.
// An empty dir is $NODESTORM_CACHE, or the folder nodestorm in the user's cache.
func Open(dir string) (*Store, error) {
	if dir == "" {
		dir = os.Getenv(EnvCache)
	}
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("finding a folder for the store: %w; name one in %s", err, EnvCache)
		}
		dir = filepath.Join(cache, "nodestorm")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir}
	if overlay.Supported(runtime.GOOS, runtime.GOARCH) {
		s.Overlay = overlay.Write
	}
	return s, nil
}

// Dir is the store's folder.
func (s *Store) Dir() string { return s.dir }

// Get returns the target that was built or added last under ref, for its provider
// if it names one. The error is a
// *NotFoundError, a *StaleError if all were built with another clock or adapter, or a
// *CorruptError; each names the command that helps.
func (s *Store) Get(ref builds.Ref) (builds.Target, error) {
	keys, err := s.keys(ref)
	if err != nil {
		return builds.Target{}, err
	}
	none := &NotFoundError{Ref: ref}
	var old error
	for _, key := range keys {
		t, err := s.load(ref, key)
		switch {
		case !t.Is(ref) && t.Race != ref.Race:
			none.otherwise = true
		case !t.Is(ref):
			none.Others = append(none.Others, t.Provider)
		case !errors.As(err, new(*StaleError)):
			return t, err
		case old == nil:
			old = err
		}
	}
	if old != nil {
		return builds.Target{}, old
	}
	return builds.Target{}, none
}

// Entry is a target in a list, with what is wrong with it: nil, a *StaleError
// or a *CorruptError. Of a corrupt one only Ref and Dir are sure.
type Entry struct {
	builds.Target
	Err error
}

// Refs returns what the store has, by name and version, damaged or not.
func (s *Store) Refs() (refs []builds.Ref) {
	dirs, _ := filepath.Glob(filepath.Join(s.dir, "targets", "*", "*")) // the pattern is right
	for _, dir := range dirs {
		refs = append(refs, builds.Ref{Name: filepath.Base(filepath.Dir(dir)), Version: filepath.Base(dir)})
	}
	slices.SortFunc(refs, func(a, b builds.Ref) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), semver.Compare(a.Version, b.Version), cmp.Compare(a.Version, b.Version))
	})
	return refs
}

// List returns all entries, by name and version, the last built first.
func (s *Store) List() ([]Entry, error) {
	var entries []Entry
	for _, ref := range s.Refs() {
		keys, err := s.keys(ref)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			t, err := s.load(ref, key)
			entries = append(entries, Entry{t, err})
		}
	}
	return entries, nil
}

// Remove deletes all entries of ref; a *NotFoundError says that there are none.
// It waits for a build of ref that is under way.
func (s *Store) Remove(ctx context.Context, ref builds.Ref) error {
	err := s.remove(ctx, ref)
	if errors.Is(err, fs.ErrNotExist) {
		return &NotFoundError{Ref: ref, removing: true}
	}
	return err
}

func (s *Store) remove(ctx context.Context, ref builds.Ref) (err error) {
	if _, err := os.Stat(s.refDir(ref)); err != nil {
		return err
	}
	tmp, done, err := s.begin(ctx, ref, reporter{ref: ref})
	if err != nil {
		return fmt.Errorf("removing %s: %w", ref, err)
	}
	defer func() { err = errors.Join(err, done()) }()
	return os.Rename(s.refDir(ref), filepath.Join(tmp, "removed"))
}

// Clear removes what is in the store, and its folder if nothing else is in that. It waits for
// builds that are under way.
func (s *Store) Clear(ctx context.Context) error {
	for _, ref := range s.Refs() {
		if err := s.remove(ctx, ref); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, own := range []string{"targets", "tmp", "logs", "mirrors", "locks", "images.lock", timesFile} {
		if err := os.RemoveAll(filepath.Join(s.dir, own)); err != nil {
			return fmt.Errorf("clearing the store: %w", err)
		}
	}
	if err := os.Remove(s.dir); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) &&
		!errors.Is(err, syscall.EEXIST) {
		return fmt.Errorf("clearing the store: %w", err)
	}
	return nil
}

func (s *Store) refDir(ref builds.Ref) string {
	return filepath.Join(s.dir, "targets", ref.Name, ref.Version)
}

// keys are the folder names of ref's entries, the last built or found first, and those that
// Take has made last.
func (s *Store) keys(ref builds.Ref) ([]string, error) {
	found, err := os.ReadDir(s.refDir(ref))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the store: %w", err)
	}
	at := map[string]int64{}
	var keys []string
	for _, f := range found {
		keys = append(keys, f.Name())
		// An entry without a manifest is the newest: it is to be noticed.
		at[f.Name()] = math.MaxInt64
		if info, err := os.Stat(filepath.Join(s.refDir(ref), f.Name(), manifestFile)); err == nil {
			at[f.Name()] = info.ModTime().UnixNano()
		}
	}
	slices.SortStableFunc(keys, func(a, b string) int {
		switch {
		case !isPulled(a) && isPulled(b):
			return -1
		case isPulled(a) && !isPulled(b):
			return 1
		}
		return cmp.Compare(at[b], at[a])
	})
	return keys, nil
}

const manifestFile = seal.Manifest

// maxText is more than any file has that is read as a whole, in bytes.
const maxText = 16 << 20

// load reads an entry and checks it against our clock and against its manifest.
func (s *Store) load(ref builds.Ref, key string) (builds.Target, error) {
	ref.Provider, ref.Race = "", false // the manifest says which
	t := builds.Target{Manifest: builds.Manifest{Ref: ref}, Dir: filepath.Join(s.refDir(ref), key)}
	b, err := strict.ReadFile(filepath.Join(t.Dir, manifestFile), maxText)
	if err == nil {
		err = json.Unmarshal(b, &t.Manifest)
	}
	if err == nil && (t.Name != ref.Name || t.Version != ref.Version) {
		err = fmt.Errorf("the manifest is that of %q", t.Ref)
		t.Manifest = builds.Manifest{Ref: ref}
	}
	if err == nil {
		if err := s.fresh(t); err != nil {
			return t, err
		}
		err = seal.Check(&t)
	}
	if errors.Is(err, seal.ErrNone) {
		return t, &StaleError{Ref: t.Ref, Source: t.Source, Unsealed: true}
	}
	if err != nil {
		return t, &CorruptError{Ref: ref, Source: t.Source, Dir: t.Dir, Err: err}
	}
	return t, nil
}

// fresh makes sure that a build with the clock has the one we would give it now, and one that is
// linked with code of ours that code.
func (s *Store) fresh(t builds.Target) error {
	if t.Source.Graft != "" {
		// Without our checkout an adapter can neither be built anew nor compared.
		if of, err := graftOf(t.Ref); err == nil {
			// mutant: an adapter of an older nodestorm stands for today's
			if sum, err := of.sum(); err == nil && sum != t.Source.Graft {
				return &StaleError{Ref: t.Ref, Source: t.Source, Err: fmt.Errorf("%s (%.12s, not %.12s)", of.name, t.Source.Graft, sum)}
			}
		}
	}
	if !t.Virtual() || s.Overlay == nil {
		return nil
	}
	if t.Clock != "" {
		if t.Clock != overlay.Digest() {
			return &StaleError{Ref: t.Ref, Source: t.Source, Err: fmt.Errorf("clock (%.12s, not %.12s)", t.Clock, overlay.Digest())}
		}
		return nil
	}
	tmp, err := os.MkdirTemp("", "nodestorm-overlay-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	_, hash, err := s.Overlay(t.GOROOT, runtime.GOARCH, tmp)
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("looking at the clock of %s: %w; make room, or name another folder in TMPDIR", t.Ref, err)
	}
	if err == nil && hash != t.OverlayHash {
		err = fmt.Errorf("overlay %.12s, not %.12s", t.OverlayHash, hash)
	}
	if err != nil {
		return &StaleError{Ref: t.Ref, Source: t.Source, Err: fmt.Errorf("clock (%w)", err)}
	}
	return nil
}
