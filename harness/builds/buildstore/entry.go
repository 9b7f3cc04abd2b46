package buildstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/mod/sumdb/dirhash"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/gotool"
	"nodestorm/harness/builds/seal"
	"nodestorm/harness/builds/tree"
	"nodestorm/sim/strict"
)

// begin locks ref, waiting for any process that has it, and makes a folder to work in.
// The function it returns removes the folder and unlocks.
func (s *Store) begin(ctx context.Context, ref builds.Ref, report reporter) (tmp string, done func() error, err error) {
	locks := filepath.Join(s.dir, "locks")
	if err := os.MkdirAll(locks, 0o755); err != nil {
		return "", nil, fmt.Errorf("making the store: %w; another place for it can be named in %s", err, EnvCache)
	}
	lock := flock.New(filepath.Join(locks, ref.String()))
	got, err := lock.TryLock()
	if err == nil && !got {
		report.send(Update{Stage: Waiting})
		_, err = lock.TryLockContext(ctx, 200*time.Millisecond)
	}
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("locking %s: %w", lock.Path(), err), lock.Close())
	}
	// What an interrupted build left behind goes first.
	tmp = filepath.Join(s.dir, "tmp", ref.String())
	if err := errors.Join(os.RemoveAll(tmp), os.MkdirAll(tmp, 0o755)); err != nil {
		return "", nil, errors.Join(err, lock.Close())
	}
	return tmp, func() error { return errors.Join(os.RemoveAll(tmp), lock.Close()) }, nil
}

// log is the file for what the go command says while it builds ref. The function
// it returns closes it, and removes it unless it has more than err says.
func (s *Store) log(ref builds.Ref) (log io.Writer, done func(err error) error, err error) {
	path := filepath.Join(s.dir, "logs", ref.String()+".log")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, nil, err
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, nil, err
	}
	return f, func(err error) error {
		_ = f.Close() // it is no loss
		if failed := (*gotool.CommandError)(nil); errors.As(err, &failed) {
			failed.Log = path
		} else {
			_ = os.Remove(path)
		}
		return err
	}, nil
}

// draft is an entry that is being made in a temporary folder of the store.
type draft struct{ tmp, dir string }

func newDraft(tmp string) draft { return draft{tmp: tmp, dir: filepath.Join(tmp, "entry")} }

func (d draft) binary(name string) string { return filepath.Join(d.dir, "bin", name) }

// fill puts beside the binary what else the recipe wants: faces, and assets of
// the source at root.
func (d draft) fill(r Recipe, root string) error {
	for _, face := range r.Faces {
		if err := os.Symlink(r.Name, d.binary(face)); err != nil {
			return err
		}
	}
	if len(r.Assets) == 0 {
		return nil
	}
	source, err := strict.Root(root)
	if err != nil {
		return err
	}
	defer source.Close()
	for _, path := range r.Assets {
		if err := tree.Copy(filepath.Join(d.dir, "assets", path), source, path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the source has no %s: is it %s?", path, r.Name)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// content is a hash over all that the entry holds so far.
func (d draft) content() (string, error) { return dirhash.HashDir(d.dir, "", dirhash.DefaultHash) }

// keep is how many entries of one ref and provider stay: a few clocks', or the
// last states of a source folder. A run that is older than that can't restart its
// target.
const keep = 4

// publish makes the draft the newest entry of m's ref, in one step.
func (s *Store) publish(d draft, key string, m builds.Manifest) (_ builds.Target, err error) {
	if m.SHA256, m.Size, err = seal.Sum(m, d.dir); err != nil {
		return builds.Target{}, err
	}
	if m.Assets, err = seal.AssetsDigest(m, d.dir); err != nil {
		return builds.Target{}, err
	}
	m.BuiltAt = time.Now().UTC()
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return builds.Target{}, err
	}
	if err := os.WriteFile(filepath.Join(d.dir, manifestFile), append(b, '\n'), 0o644); err != nil {
		return builds.Target{}, err
	}
	if err := tree.Sync(d.dir); err != nil {
		return builds.Target{}, err
	}
	dir := filepath.Join(s.refDir(m.Ref), key)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return builds.Target{}, err
	}
	// A damaged entry of the same key makes way.
	if err := os.Rename(dir, filepath.Join(d.tmp, "old")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return builds.Target{}, err
	}
	if err := os.Rename(d.dir, dir); err != nil {
		return builds.Target{}, err
	}
	if err := tree.SyncEntry(filepath.Dir(dir)); err != nil {
		return builds.Target{}, err
	}
	return builds.Target{Manifest: m, Dir: dir}, s.prune(m.Ref, d.tmp)
}

// reuse returns the entry of that key, if it is intact, as the newest of ref and as
// what came from src.
func (s *Store) reuse(ref builds.Ref, key string, src builds.Source) (t builds.Target, ok bool) {
	t, err := s.load(ref, key)
	if err != nil {
		return builds.Target{}, false
	}
	if path := filepath.Join(t.Dir, manifestFile); !reflect.DeepEqual(t.Source, src) {
		t.Source = src // the same, elsewhere
		b, err := json.MarshalIndent(t.Manifest, "", "  ")
		if err == nil {
			err = errors.Join(os.WriteFile(path+".new", append(b, '\n'), 0o644), os.Rename(path+".new", path))
		}
		return t, err == nil
	} else {
		now := time.Now()
		return t, os.Chtimes(path, now, now) == nil
	}
}

func (s *Store) prune(ref builds.Ref, tmp string) error {
	keys, err := s.keys(ref)
	if err != nil {
		return err
	}
	seen := map[string]int{} // by provider
	for _, key := range keys {
		provider := key[:max(0, strings.LastIndex(key, "-"))]
		if seen[provider]++; seen[provider] <= keep {
			continue
		}
		if err := os.Rename(filepath.Join(s.refDir(ref), key), filepath.Join(tmp, "old-"+key)); err != nil {
			return err
		}
	}
	return nil
}

// keyOf is an entry's folder name: a hash over everything that shapes it, with
// the provider in front for people to read.
func keyOf(provider string, parts ...any) string {
	b, err := json.Marshal(parts)
	if err != nil {
		panic(err) // they are strings, and structs of strings
	}
	sum := sha256.Sum256(b)
	key := hex.EncodeToString(sum[:8])
	if provider != "" {
		key = provider + "-" + key
	}
	return key
}
