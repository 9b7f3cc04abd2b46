package registry

import (
	"archive/tar"
	"bufio"
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

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"nodestorm/sim/strict"
)

// inLayout finds the image in an OCI layout. The library trusts a folder on
// disk, so every document in it is looked at before the library reads it.
func inLayout(dir string, platform v1.Platform) (v1.Image, error) {
	if _, err := document(filepath.Join(dir, "index.json")); errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("it is no OCI layout: the folder has no index.json")
	} else if err != nil {
		return nil, err
	}
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, fmt.Errorf("it is no OCI layout: %w", err)
	}
	ready := func(h v1.Hash) error {
		b, err := document(filepath.Join(dir, "blobs", h.Algorithm, h.Hex))
		if err == nil {
			err = check(b, h)
		}
		return err
	}
	im, err := choose(index, platform, ready)
	if err != nil {
		return nil, err
	}
	manifest, err := im.Manifest()
	if err == nil {
		err = ready(manifest.Config.Digest)
	}
	return im, err
}

// document reads a file that is as small as manifests and configurations are.
func document(file string) ([]byte, error) {
	if info, err := os.Lstat(file); err == nil && info.Mode().Type() == fs.ModeSymlink {
		return nil, fmt.Errorf("%s is a link, of which images have none", file)
	}
	return strict.ReadFile(file, maxDocument)
}

// inArchive finds the image in an archive of docker save, gzipped or not.
func inArchive(ctx context.Context, file string) (v1.Image, error) {
	opener := func() (io.ReadCloser, error) { return openArchive(ctx, file) }
	err := plain(opener, "manifest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("it is no archive of docker save: it has no manifest.json; unpack an archive of another kind and name the folder")
	} else if err != nil {
		return nil, err
	}
	images, err := tarball.LoadManifest(opener)
	if err != nil {
		return nil, fmt.Errorf("reading its manifest.json: %w", err)
	}
	if len(images) != 1 {
		return nil, fmt.Errorf("it holds %d images; save the one you mean alone", len(images))
	}
	if err := plain(opener, images[0].Config); err != nil {
		return nil, err
	}
	im, err := tarball.Image(opener, nil)
	if err != nil {
		return nil, fmt.Errorf("reading the archive: %w", err)
	}
	return im, nil
}

// openArchive is the archive's tar.
func openArchive(ctx context.Context, file string) (io.ReadCloser, error) {
	f, err := strict.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(&bounded{ctx: ctx, in: f, left: maxUnpacked}, 1<<16)
	if magic, _ := in.Peek(2); string(magic) != "\x1f\x8b" {
		return readCloser{in, f}, nil
	}
	zip, err := gzip.NewReader(in)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return readCloser{&bounded{ctx: ctx, in: zip, left: maxUnpacked}, f}, nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

// plain makes sure that the library, which reads the archive's file called name
// as a whole, can: that it is there, no link, and small.
func plain(opener tarball.Opener, name string) error {
	f, err := opener()
	if err != nil {
		return err
	}
	defer f.Close()
	in := tar.NewReader(f)
	found := false
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("it is no archive of docker save: reading its tar: %w", err)
		}
		if sparse(h) {
			return fmt.Errorf("its file %q has holes, which docker save never leaves", h.Name)
		}
		if path.Clean(h.Name) != path.Clean(name) {
			continue
		}
		found = true
		if h.Typeflag != tar.TypeReg || h.Size > maxDocument {
			return fmt.Errorf("its %s is no regular file of at most %d bytes", name, maxDocument)
		}
	}
	if !found {
		return fmt.Errorf("its file %q: %w", name, fs.ErrNotExist)
	}
	return nil
}

// sparse reports whether a file may be larger than what the tar has of it.
func sparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return h.Typeflag == tar.TypeGNUSparse
}
