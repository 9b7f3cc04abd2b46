package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"nodestorm/sim/strict"
)

// Local reports whether from names a file or a folder, and no image in a registry; see Open.
func Local(from string) bool {
	_, err := os.Stat(from)
	return !errors.Is(err, fs.ErrNotExist) || from == "" || strings.ContainsAny(from[:1], "/.~")
}

// find returns the image on disk for the platform that from names, and its digest; see
// Open and Image.Digest.
func find(ctx context.Context, from string, platform v1.Platform) (im v1.Image, id v1.Hash, err error) {
	info, err := os.Stat(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, id, errors.New("there is no such file or folder")
	case err == nil && info.IsDir():
		im, err = inLayout(from, platform)
	case err == nil && info.Mode().IsRegular():
		if im, err = inArchive(ctx, from); err != nil {
			return nil, id, err
		}
		id, err = im.ConfigName()
		return im, id, err
	case err == nil:
		return nil, id, strict.Regular(from)
	default:
		return nil, id, err
	}
	if err == nil {
		err = checkManifest(im)
	}
	if err == nil {
		id, err = im.Digest()
	}
	return im, id, err
}

// maxDepth is how deep indexes may lie in each other.
const maxDepth = 4

// choose finds the one image of an index that is for the platform. Before one is
// asked for by its digest, ready is called.
func choose(index v1.ImageIndex, platform v1.Platform, ready func(v1.Hash) error) (v1.Image, error) {
	c := chooser{platform: platform, ready: ready, images: map[v1.Hash]v1.Image{}}
	if err := c.look(index, 0); err != nil {
		return nil, err
	}
	if len(c.images) > 1 {
		return nil, fmt.Errorf("it holds %d images for %s; export the one you mean alone, or name it by its digest", len(c.images), platform)
	}
	for _, im := range c.images {
		return im, nil
	}
	if len(c.others) == 0 {
		return nil, errors.New("it holds no image")
	}
	return nil, fmt.Errorf("it has no image for %s, only for %s", platform, strings.Join(c.others, ", "))
}

func nothing(v1.Hash) error { return nil }

type chooser struct {
	platform v1.Platform
	ready    func(v1.Hash) error
	images   map[v1.Hash]v1.Image
	others   []string // further platforms
	seen     int
}

func (c *chooser) look(index v1.ImageIndex, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("its indexes lie more than %d deep in each other", maxDepth)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return fmt.Errorf("reading its index: %w", err)
	}
	for _, d := range manifest.Manifests {
		if c.seen++; c.seen > maxLayers {
			return fmt.Errorf("its index has more than %d entries", maxLayers)
		}
		p := d.Platform
		switch {
		case d.MediaType.IsIndex():
			if err := c.ready(d.Digest); err != nil {
				return err
			}
			inner, err := index.ImageIndex(d.Digest)
			if err != nil {
				return fmt.Errorf("reading its index %s: %w", short(d.Digest), err)
			}
			if err := c.look(inner, depth+1); err != nil {
				return err
			}
		case !d.MediaType.IsImage() || p != nil && p.OS == "unknown":
			// A signature, or what a builder says of its build.
		case p == nil || p.OS == c.platform.OS && p.Architecture == c.platform.Architecture:
			if err := c.ready(d.Digest); err != nil {
				return err
			}
			im, err := index.Image(d.Digest)
			if err != nil {
				return fmt.Errorf("reading its manifest %s: %w", short(d.Digest), err)
			}
			c.images[d.Digest] = im
		default:
			c.others = append(c.others, p.String())
		}
	}
	return nil
}
