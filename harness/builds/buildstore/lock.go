package buildstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"nodestorm/sim/strict"
)

// Lock is a file of the digests to which references lead: a line "REFERENCE DIGEST" each, in
// their order, for people to keep with what they commit. It is the same for all machines.
type Lock string

// MovedError says that a reference leads to something else than it did.
type MovedError struct {
	Reference, Locked, Now string
	Lock                   Lock
}

func (e *MovedError) Error() string {
	return fmt.Sprintf("%s has moved: it is %s now, and %s is locked in %s; if that is right, take its line out of there", e.Reference,
		e.Now, e.Locked, string(e.Lock))
}

// read returns the digests by reference; none if there is no file yet.
func (l Lock) read() (map[string]string, error) {
	locked := map[string]string{}
	f, err := strict.Open(context.Background(), string(l))
	if errors.Is(err, fs.ErrNotExist) {
		return locked, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for number := 1; lines.Scan(); number++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != 2 {
			return nil, fmt.Errorf("%s:%d: want REFERENCE DIGEST", string(l), number)
		}
		if _, err := v1.NewHash(words[1]); err != nil {
			return nil, fmt.Errorf("%s:%d: %w; want sha256:… as a digest", string(l), number, err)
		}
		locked[words[0]] = words[1]
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", string(l), err)
	}
	return locked, nil
}

// check makes sure that the digests are those that are locked, where any are. The error is a
// *MovedError.
func (l Lock) check(digests map[string]string) error {
	locked, err := l.read()
	if err != nil {
		return err
	}
	for _, reference := range slices.Sorted(maps.Keys(digests)) {
		if was, is := locked[reference]; is && was != digests[reference] {
			return &MovedError{reference, was, digests[reference], l}
		}
	}
	return nil
}

// lock adds further digests to a lock, as check allows. Lines that are there stay, comments go.
func (s *Store) lock(ctx context.Context, l Lock, digests map[string]string) (err error) {
	guard := flock.New(filepath.Join(s.dir, "locks", filepath.Base(string(s.storeLock()))))
	if _, err := guard.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return errors.Join(fmt.Errorf("locking %s: %w", guard.Path(), err), guard.Close())
	}
	defer func() { err = errors.Join(err, guard.Close()) }()
	if err := l.check(digests); err != nil {
		return err
	}
	all, err := l.read()
	if err != nil {
		return err
	}
	before := len(all)
	maps.Copy(all, digests)
	if len(all) == before {
		return nil
	}
	var text strings.Builder
	for _, reference := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintln(&text, reference, all[reference])
	}
	if err := os.WriteFile(string(l)+".new", []byte(text.String()), 0o644); err != nil {
		return err
	}
	return os.Rename(string(l)+".new", string(l))
}
