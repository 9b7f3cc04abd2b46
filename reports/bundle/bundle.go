// Package bundle packs folders of runs into one archive that can be given away,
// and unpacks archives that others have given. Credentials are removed before, see
// reports/redact; what looks like an attack is refused on the way in.
package bundle

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"nodestorm/sim/strict"
)

const (
	// maxSize and maxFiles bound what an archive unpacks to. A run of a million
	// events has about 300 MiB.
	maxSize  = 4 << 30
	maxFiles = 20_000
	// maxDepth is how deep folders of an archive may be: a run's logs are three
	// deep.
	maxDepth = 8
)

// Pack writes all regular files below dir as a gzip-compressed tar archive, in a
// folder of the given name, as long as ctx lasts.
func Pack(ctx context.Context, w io.Writer, dir, name string) error {
	compressed := gzip.NewWriter(w)
	archive := tar.NewWriter(compressed)
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		relative, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		return add(ctx, archive, file, path.Join(name, filepath.ToSlash(relative)))
	})
	err = errors.Join(err, archive.Close(), compressed.Close())
	if err != nil {
		return fmt.Errorf("packing %s: %w", dir, err)
	}
	return nil
}

func add(ctx context.Context, archive *tar.Writer, file, name string) error {
	in, err := strict.Open(ctx, file)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	// Nothing of this machine or its user is in the header.
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: info.Size(),
		ModTime: info.ModTime().UTC().Truncate(time.Second)}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(archive, in)
	return err
}

// Unpack unpacks an archive into dir, which must exist. It writes regular files
// below dir and nothing else: an archive with anything else, with a name that
// leads elsewhere or comes twice, or one that is larger than a bundle can be, is
// refused, and what was unpacked until then stays in dir, as when ctx ends.
func Unpack(ctx context.Context, r io.Reader, dir string) error {
	compressed, err := gzip.NewReader(strict.WithContext(ctx, r))
	if err != nil {
		return fmt.Errorf("no bundle of runs: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	archive := tar.NewReader(compressed)
	left := int64(maxSize)
	for n := 0; ; n++ {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			if n == 0 {
				return errors.New("no bundle of runs: the archive is empty")
			}
			return sound(compressed)
		}
		if err != nil {
			return fmt.Errorf("the archive is damaged: %w", err)
		}
		if n >= maxFiles {
			return fmt.Errorf("the archive has more than %d files, no bundle has", maxFiles)
		}
		if left -= header.Size; left < 0 {
			return fmt.Errorf("the archive unpacks to more than %d GiB, no bundle does", maxSize>>30)
		}
		if err := unpack(root, header, archive); err != nil {
			return fmt.Errorf("file %q of the archive: %w", header.Name, err)
		}
	}
}

// sound reads what follows an archive: the check sum shows whether it is whole.
func sound(compressed io.Reader) error {
	if _, err := io.Copy(io.Discard, io.LimitReader(compressed, 1<<20)); err != nil {
		return fmt.Errorf("the archive is damaged: %w", err)
	}
	return nil
}

func unpack(root *os.Root, header *tar.Header, content io.Reader) error {
	name := path.Clean(header.Name)
	switch {
	case header.Typeflag == tar.TypeDir:
		return nil // files make their folders
	case header.Typeflag != tar.TypeReg:
		return errors.New("neither a file nor a folder")
	// mutant: an archive may name files elsewhere
	case !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsAny(name, "\x00\\"):
		return errors.New("its name leads out of the archive")
	case strings.Count(name, "/") >= maxDepth:
		return fmt.Errorf("deeper than %d folders", maxDepth)
	}
	if folder := path.Dir(name); folder != "." {
		if err := root.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	out, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	return errors.Join(err, out.Close())
}
