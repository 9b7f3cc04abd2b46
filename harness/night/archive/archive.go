// Package archive keeps the folders that commands leave in a bucket, each as one archive: where
// machines have no folder in common.
package archive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"nodestorm/harness/night/bucket"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/stored"
	"nodestorm/reports/bundle"
)

// Flag is the one that names the bucket, as messages have it.
const Flag = "upload"

// Upload keeps the folder that a command leaves in a bucket too. Where nothing is named it keeps
// nothing.
type Upload struct {
	Where   string
	Scratch stored.Scratch
	to      *bucket.Bucket
}

// Check finds what is wrong with the bucket before anything starts.
func (u *Upload) Check(ctx context.Context) (err error) {
	if u.Where == "" {
		return nil
	}
	if u.to, err = bucket.Open(u.Where); err != nil {
		return exit.UsageError(fmt.Errorf("--%s: %w", Flag, err))
	}
	if _, err := u.to.Names(ctx, func(string) bool { return false }); err != nil { // it may be better soon
		return &exit.Error{Code: exit.Inconclusive, Err: fmt.Errorf("--%s: %w", Flag, err)}
	}
	return nil
}

// within bounds an upload, of gigabytes at most.
const within = time.Hour

// Save uploads dir as NAME.tar.gz, whatever came of the command but a signal or a wrong use, and
// returns what did. What cannot be kept is inconclusive: who only sees the bucket has nothing of it.
func (u *Upload) Save(ctx context.Context, dir, name string, came error) error {
	if u.to == nil || ctx.Err() != nil || exit.CodeOf(came) == exit.Usage {
		return came
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := u.save(ctx, dir, name); err != nil {
		err = fmt.Errorf("--%s: what is in %s is not kept in %s: %w", Flag, dir, u.Where, err)
		// mutant: what cannot be kept in a bucket is as good as kept
		return &exit.Error{Code: exit.Inconclusive, Err: errors.Join(came, err)}
	}
	return came
}

func (u *Upload) save(ctx context.Context, dir, name string) (err error) {
	staging, remove, err := u.Scratch()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	file, err := os.Create(filepath.Join(staging, name+stored.ArchiveSuffix))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := bundle.Pack(ctx, file, dir, name); err != nil {
		return err
	}
	size, err := file.Seek(0, 1)
	if err == nil {
		_, err = file.Seek(0, 0)
	}
	if err != nil {
		return err
	}
	return u.to.Put(ctx, name+stored.ArchiveSuffix, file, size, "application/gzip")
}

// ofShard is the name of a shard's archive in a bucket.
var ofShard = regexp.MustCompile(`^shard-[1-9][0-9]*-of-[1-9][0-9]*\.tar\.gz$`)

// Fetch returns folders: in place of s3://BUCKET/PREFIX those of the shards that were kept
// there, unpacked below into, where nothing of their names may be yet.
func Fetch(ctx context.Context, places []string, into string) (dirs []string, err error) {
	var made []string
	defer func() {
		if err != nil {
			for _, dir := range made {
				// mutant: half of what a bucket has stays
				err = errors.Join(err, os.RemoveAll(dir))
			}
		}
	}()
	for _, place := range places {
		if !strings.HasPrefix(place, bucket.Scheme) {
			dirs = append(dirs, place)
			continue
		}
		from, err := bucket.Open(place)
		if err != nil {
			return nil, err
		}
		// mutant: any object of a bucket is a shard
		names, err := from.Names(ctx, ofShard.MatchString)
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("%s: no archive of a shard in it, as verify --shard --%s leaves them", place, Flag)
		}
		for _, name := range names {
			dir := filepath.Join(into, strings.TrimSuffix(name, stored.ArchiveSuffix))
			if err := os.MkdirAll(into, 0o755); err != nil {
				return nil, err
			}
			if err := os.Mkdir(dir, 0o755); err != nil {
				return nil, fmt.Errorf("%w; name another --out", err)
			}
			made, dirs = append(made, dir), append(dirs, dir)
			if err := fetch(ctx, from, name, dir); err != nil {
				return nil, err
			}
		}
	}
	return dirs, nil
}

func fetch(ctx context.Context, from *bucket.Bucket, name, dir string) error {
	in, err := from.Get(ctx, name)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := bundle.Unpack(ctx, in, dir); err != nil {
		return from.ReadError(name, err)
	}
	return nil
}
