package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nodestorm/harness/night/bucket"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/world/process"
	"nodestorm/reports/bundle"
)

// upload keeps the folder that a command leaves in a bucket too, as one archive: where machines
// have no folder in common. The zero value keeps nothing.
type upload struct {
	where string
	to    *bucket.Bucket
}

const uploadFlag = "upload"

func (u *upload) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&u.where, uploadFlag, "", "keep what is in --out in `BUCKET`, s3://NAME/PREFIX, too, as an archive, when all is over; credentials are AWS's, from the environment or their file")
}

// check finds what is wrong with the bucket before anything starts.
func (u *upload) check(ctx context.Context) (err error) {
	if u.where == "" {
		return nil
	}
	if u.to, err = bucket.Open(u.where); err != nil {
		return usage(fmt.Errorf("--%s: %w", uploadFlag, err))
	}
	if _, err := u.to.Names(ctx, func(string) bool { return false }); err != nil { // it may be better soon
		return &exit.Error{Code: Inconclusive, Err: fmt.Errorf("--%s: %w", uploadFlag, err)}
	}
	return nil
}

// uploadWithin bounds an upload, of gigabytes at most.
const uploadWithin = time.Hour

// keep uploads dir as NAME.tar.gz, whatever came of the command but a signal or a wrong use, and
// returns what did. What cannot be kept is inconclusive: who only sees the bucket has nothing of it.
func (u *upload) keep(ctx context.Context, dir, name string, came error) error {
	wrong := new(exit.Error)
	if u.to == nil || ctx.Err() != nil || errors.As(came, &wrong) && wrong.Code == Usage {
		return came
	}
	ctx, cancel := context.WithTimeout(ctx, uploadWithin)
	defer cancel()
	if err := u.put(ctx, dir, name); err != nil {
		err = fmt.Errorf("--%s: what is in %s is not kept in %s: %w", uploadFlag, dir, u.where, err)
		return &exit.Error{Code: Inconclusive, Err: errors.Join(came, err)}
	}
	return came
}

func (u *upload) put(ctx context.Context, dir, name string) (err error) {
	staging, remove, err := process.Scratch(bundlePrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	file, err := os.Create(filepath.Join(staging, name+archiveSuffix))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := bundle.Pack(file, dir, name); err != nil {
		return err
	}
	size, err := file.Seek(0, 1)
	if err == nil {
		_, err = file.Seek(0, 0)
	}
	if err != nil {
		return err
	}
	return u.to.Put(ctx, name+archiveSuffix, file, size, "application/gzip")
}

// archived is the name of a shard's archive in a bucket.
var archived = regexp.MustCompile(`^shard-[1-9][0-9]*-of-[1-9][0-9]*\.tar\.gz$`)

// fetched are folders, and in place of s3://BUCKET/PREFIX those of the shards that were kept
// there, unpacked below into, where nothing of their names may be yet.
func fetched(ctx context.Context, places []string, into string) (dirs []string, err error) {
	var made []string
	defer func() {
		if err != nil {
			for _, dir := range made {
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
		names, err := from.Names(ctx, archived.MatchString)
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("%s: no archive of a shard in it, as verify --shard --%s leaves them", place, uploadFlag)
		}
		for _, name := range names {
			dir := filepath.Join(into, strings.TrimSuffix(name, archiveSuffix))
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
		return from.Says(name, err)
	}
	return nil
}
