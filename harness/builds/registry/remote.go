package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Remote is an image in a registry, of which the manifest has been read and nothing else.
type Remote struct {
	ref      string
	platform v1.Platform
	top      v1.Hash
	image    v1.Image
	size     int64
}

// Query asks a registry for the image that ref names, such as registry.example/name:tag, for
// linux/arch, with the credentials that docker has for it, or without. The error is an
// *UnreachableError if there was no answer.
func Query(ctx context.Context, ref, arch string) (*Remote, error) {
	r, err := query(ctx, ref, v1.Platform{OS: "linux", Architecture: arch})
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", ref, oneLine(refused(ref, err)))
	}
	return r, nil
}

func query(ctx context.Context, from string, platform v1.Platform) (*Remote, error) {
	ref, err := name.ParseReference(from)
	if err != nil {
		return nil, err
	}
	got, err := remote.Get(ref, append(options(ctx), remote.WithPlatform(platform))...)
	if err != nil {
		return nil, fmt.Errorf("asking the registry: %w", err)
	}
	r := &Remote{ref: from, platform: platform, top: got.Digest}
	if got.MediaType.IsIndex() {
		index, err := got.ImageIndex()
		if err != nil {
			return nil, err
		}
		r.image, err = choose(index, platform, nothing)
		if err != nil {
			return nil, err
		}
	} else if r.image, err = got.Image(); err != nil {
		return nil, err
	}
	if err := checkManifest(r.image); err != nil {
		return nil, err
	}
	manifest, err := r.image.Manifest()
	if err != nil {
		return nil, fmt.Errorf("reading its manifest: %w", err)
	}
	r.size = manifest.Config.Size
	for _, layer := range manifest.Layers {
		if r.size += layer.Size; layer.Size < 0 || r.size > maxUnpacked {
			return nil, errTooLarge
		}
	}
	return r, nil
}

// Digest is that of what the reference leads to, whatever machine it is asked for: of the
// index, if there is one. A tag that has moved leads to another.
func (r *Remote) Digest() string { return r.top.String() }

// Size is how many bytes Open reads from the registry.
func (r *Remote) Size() int64 { return r.size }

// Open reads the image into the folder dir, as an OCI layout, and opens that. What is there
// already is not read again. The image is read from dir for as long as it is in use. Progress
// is called with bytes; it may be nil.
func (r *Remote) Open(ctx context.Context, dir string, progress func(done, total int64)) (*Image, error) {
	if err := r.fetch(ctx, dir, progress); err != nil {
		return nil, fmt.Errorf("image %s: %w", r.ref, oneLine(refused(r.ref, err)))
	}
	im, err := open(ctx, dir, r.platform.Architecture, nil)
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", r.ref, oneLine(err))
	}
	im.from = r.ref
	return im, nil
}

func (r *Remote) fetch(ctx context.Context, dir string, progress func(done, total int64)) error {
	to, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	manifest, err := r.image.Manifest()
	if err != nil {
		return err
	}
	layers, err := r.image.Layers()
	if err != nil {
		return err
	}
	count := &counting{total: r.size, progress: progress, done: manifest.Config.Size}
	count.report()
	for i, layer := range layers {
		of := manifest.Layers[i]
		if err := fetchLayer(ctx, layer, of, dir, count); err != nil {
			return fmt.Errorf("layer %d of %d (%s): %w", i+1, len(layers), short(of.Digest), err)
		}
	}
	return r.describe(to, manifest.Config.Digest)
}

// describe writes what makes an image of its layers. (AppendImage asks for these again.)
func (r *Remote) describe(to layout.Path, configuration v1.Hash) error {
	config, err := r.image.RawConfigFile()
	if err != nil {
		return err
	}
	text, err := r.image.RawManifest()
	if err != nil {
		return err
	}
	of, err := partial.Descriptor(r.image)
	if err != nil {
		return err
	}
	for hash, blob := range map[v1.Hash][]byte{configuration: config, of.Digest: text} {
		if err := to.WriteBlob(hash, io.NopCloser(bytes.NewReader(blob))); err != nil {
			return err
		}
	}
	return to.AppendDescriptor(v1.Descriptor{MediaType: of.MediaType, Digest: of.Digest, Size: of.Size})
}

// fetchLayer writes a layer's blob, which the library checks against its digest and size,
// unless it is there.
func fetchLayer(ctx context.Context, layer v1.Layer, of v1.Descriptor, dir string, count *counting) (err error) {
	file := filepath.Join(dir, "blobs", of.Digest.Algorithm, of.Digest.Hex)
	if _, err := os.Lstat(file); err == nil {
		count.done += of.Size
		count.report()
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	in, err := layer.Compressed()
	if err != nil {
		return err
	}
	defer in.Close()
	part := file + ".part"
	out, err := os.Create(part)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.MultiWriter(out, count), &bounded{ctx: ctx, in: in, left: of.Size})
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return os.Rename(part, file)
}

// counting counts how much has come, and reports it as progress.
type counting struct {
	done, total int64
	progress    func(done, total int64)
}

func (c *counting) Write(p []byte) (int, error) {
	c.done += int64(len(p))
	c.report()
	return len(p), nil
}

func (c *counting) report() {
	if c.progress != nil {
		c.progress(c.done, c.total)
	}
}
