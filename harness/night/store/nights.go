// Package store is where nights are kept, one file each: a folder, or a bucket of any
// store that speaks S3. It knows nothing of what is in the files.
package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"nodestorm/harness/night/bucket"
	"nodestorm/harness/run"
	"nodestorm/sim/strict"
)

// What a place may cost us.
const (
	maxNight  = 64 << 20 // bytes of a file
	maxNights = 10_000
)

// Place keeps files.
type Place interface {
	// Names are those of the files, in their order.
	Names(ctx context.Context) ([]string, error)
	Read(ctx context.Context, name string) ([]byte, error)
	// Write keeps a file, whole or not at all.
	Write(ctx context.Context, name string, text []byte) error
}

// Open finds the place: a folder, or s3://BUCKET/PREFIX.
func Open(where string) (Place, error) {
	switch {
	case strings.HasPrefix(where, bucket.Scheme):
		b, err := bucket.Open(where)
		return inBucket{b}, err
	case where == "":
		return nil, errors.New("no folder given")
	}
	return folder(where), nil
}

// file is a name that a night's file may have.
var file = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*\.json$`)

type folder string

func (f folder) Names(context.Context) (names []string, err error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notThere(f)
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Type().IsRegular() && file.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	if len(names) > maxNights {
		return nil, fmt.Errorf("%s has more than %d nights", string(f), maxNights)
	}
	return names, nil
}

// notThere is a folder that does not exist.
type notThere string

func (f notThere) Error() string {
	return string(f) + " is not there; name the folder in which nights are kept, or s3://BUCKET/PREFIX"
}

func (notThere) Is(err error) bool { return err == fs.ErrNotExist }

func (f folder) Read(_ context.Context, name string) ([]byte, error) {
	text, err := strict.ReadFile(filepath.Join(string(f), name), maxNight)
	if errors.As(err, new(*strict.LargeError)) {
		err = fmt.Errorf("%s is no night: %w", name, strict.WithoutPath(err))
	}
	return text, err
}

func (f folder) Write(_ context.Context, name string, text []byte) error {
	if err := os.MkdirAll(string(f), 0o755); err != nil {
		return fmt.Errorf("keeping a night: %w", err)
	}
	return run.WriteFile(string(f), name, text)
}

func bounded(in io.Reader, name string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxNight+1))
	if err == nil && len(text) > maxNight {
		err = fmt.Errorf("%s is no night: it has more than %d MiB", name, maxNight>>20)
	}
	return text, err
}

type inBucket struct{ *bucket.Bucket }

func (b inBucket) Names(ctx context.Context) ([]string, error) {
	return b.Bucket.Names(ctx, file.MatchString)
}

func (b inBucket) Read(ctx context.Context, name string) ([]byte, error) {
	in, err := b.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := bounded(in, name)
	if err != nil {
		return nil, b.ReadError(name, err)
	}
	return text, nil
}

func (b inBucket) Write(ctx context.Context, name string, text []byte) error {
	return b.Put(ctx, name, bytes.NewReader(text), int64(len(text)), "application/json")
}
