package registry

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// readLayers learns what files the layers make together. Each layer is read to
// its end and has to have its digest of ids. (go-containerregistry's mutate.Extract merges
// layers, too: it compares no digests, bounds neither names nor bytes, and as a stream
// leaves the links on the way to the program to be followed all the same.)
func readLayers(ctx context.Context, layers []v1.Layer, ids []v1.Hash, progress Progress) (*tree, error) {
	t := newTree()
	left := int64(maxUnpacked)
	for i, l := range layers {
		if progress != nil {
			progress(i, len(layers))
		}
		n, err := readLayer(ctx, t, l, ids[i], left)
		if err != nil {
			return nil, fmt.Errorf("layer %d of %d (%s): %w", i+1, len(layers), short(ids[i]), err)
		}
		left -= n
	}
	return t, nil
}

// readLayer adds one layer to the tree and returns its size.
func readLayer(ctx context.Context, t *tree, layer v1.Layer, id v1.Hash, left int64) (int64, error) {
	hasher, err := v1.Hasher(id.Algorithm)
	if err != nil {
		return 0, err
	}
	files, err := layer.Uncompressed()
	if err != nil {
		return 0, err
	}
	defer files.Close()
	limit := &bounded{ctx: ctx, in: files, left: left}
	all := io.TeeReader(limit, hasher)
	if err := t.add(all); err != nil {
		return 0, err
	}
	// A tar may end before its layer does.
	if _, err := io.Copy(io.Discard, all); err != nil {
		return 0, err
	}
	if got := fmt.Sprintf("%x", hasher.Sum(nil)); got != id.Hex {
		return 0, fmt.Errorf("its content has the digest %s:%.12s…", id.Algorithm, got)
	}
	return left - limit.left, nil
}

// unpacked is the part of a layer that copyOut needs.
type unpacked interface{ Uncompressed() (io.ReadCloser, error) }

// copyOut writes the content of a layer's file, by its number in there.
func copyOut(ctx context.Context, layer unpacked, number int, w io.Writer) error {
	files, err := layer.Uncompressed()
	if err != nil {
		return err
	}
	defer files.Close()
	in := tar.NewReader(&bounded{ctx: ctx, in: files, left: maxUnpacked})
	for range number {
		if _, err := in.Next(); err != nil {
			return err
		}
	}
	// A file with holes can be larger than its layer.
	_, err = io.Copy(w, &bounded{ctx: ctx, in: in, left: maxProgram})
	return err
}

// bounded is a reader that fails after a number of bytes, and when ctx ends.
type bounded struct {
	ctx  context.Context
	in   io.Reader
	left int64
}

var errTooLarge = errors.New("it is larger than any image of a program")

func (b *bounded) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if b.left == 0 {
		// The end may be just here.
		if n, err := b.in.Read(make([]byte, 1)); n == 0 && err != nil {
			return 0, err
		}
		return 0, errTooLarge
	}
	n, err := b.in.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
