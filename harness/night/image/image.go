// Package image makes nodestorm's own container image: one static program that is not
// root's, and builds of the store for its replays. It needs no Docker and no base image.
//
// It is made with go-containerregistry. ko compiles a Go program out of its source, on a
// base that comes from a registry; here the program is there already, the very one that
// makes the image, and so are the builds, of which ko can make none.
package image

import (
	"archive/tar"
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	layers "nodestorm/harness/builds/registry"
	"nodestorm/sim/strict"
)

const (
	// Name is what the image is called by default.
	Name = "nodestorm/nodestorm:local"
	// User is who nodestorm runs as, and the number of its group: nonroot, as in images
	// without a distribution.
	// mutant: who runs in an image is root
	User = 65532
	// Store is where the builds are, without a slash before it.
	Store = "store"
	// Scratch is the only folder that is written to: with a read-only root, something is
	// to be mounted there.
	Scratch = "/tmp"
	// Label is on the image, as on all that nodestorm gives to Docker.
	Label = "nodestorm"

	program = "usr/local/bin/nodestorm"
)

// Spec is what the image is to have.
type Spec struct {
	Program string // a path; it must be linked statically
	Commit  string // that it was built from, for a label
	Builds  []builds.Target
}

// Make makes the image, for linux on this machine's processor; the same program and builds
// make the same image. The folder tmp is worked in, and has parts of the image as long as
// that is used.
func Make(ctx context.Context, s Spec, tmp string) (v1.Image, error) {
	if err := static(s.Program); err != nil {
		return nil, err
	}
	base, err := layer(folders)
	if err != nil {
		return nil, err
	}
	all := []v1.Layer{base}
	packed := slices.Clone(s.Builds)
	slices.SortFunc(packed, func(a, b builds.Target) int { return cmp.Compare(a.Dir, b.Dir) })
	for i, build := range packed {
		folder, err := buildstore.Portable(build, Store)
		if err != nil {
			return nil, err
		}
		of, err := folder.Layer(ctx, filepath.Join(tmp, fmt.Sprintf("build-%d.tar.gz", i)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", build.Ref, err)
		}
		all = append(all, of)
	}
	// The program comes last: it changes most.
	of, err := layer(func(w *tar.Writer) error { return addProgram(w, s.Program) })
	if err != nil {
		return nil, err
	}
	im, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON),
		append(all, of)...)
	if err != nil {
		return nil, err
	}
	file, err := im.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.History = "linux", runtime.GOARCH, nil
	file.Config = v1.Config{
		User:       fmt.Sprintf("%d:%[1]d", User),
		Entrypoint: []string{"/" + program},
		Env:        []string{"PATH=/usr/local/bin", "HOME=" + Scratch, "TMPDIR=" + Scratch, buildstore.EnvCache + "=/" + Store},
		WorkingDir: Scratch,
		Labels: map[string]string{Label: "image", "org.opencontainers.image.title": "nodestorm",
			"org.opencontainers.image.revision": s.Commit},
	}
	return mutate.ConfigFile(im, file)
}

// static makes sure that a program needs nothing else in the image.
func static(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("%s is not a Linux program: %w", path, err)
	}
	defer f.Close()
	// mutant: an image has a program that needs a loader
	if slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return fmt.Errorf("%s needs libraries of this machine: build nodestorm with CGO_ENABLED=0, as make image does", path)
	}
	return nil
}

// layer is one that write fills. It is written as often as it is read.
func layer(write func(*tar.Writer) error) (v1.Layer, error) {
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		r, w := io.Pipe()
		go func() {
			out := tar.NewWriter(w)
			w.CloseWithError(errors.Join(write(out), out.Close()))
		}()
		return r, nil
	}, tarball.WithMediaType(types.OCILayer))
}

// folders writes what a program finds in any system, as little as there can be.
func folders(w *tar.Writer) error {
	for _, dir := range []struct {
		name string
		mode int64
	}{{"etc/", 0o755}, {"tmp/", 0o1777}, {"store/", 0o755}, {"usr/", 0o755}, {"usr/local/", 0o755}, {"usr/local/bin/", 0o755}} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir.name, Mode: dir.mode}); err != nil {
			return err
		}
	}
	for _, file := range []struct{ name, text string }{
		{"etc/passwd", fmt.Sprintf("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:%d:%[1]d:nonroot:%s:/sbin/nologin\n", User, Scratch)},
		{"etc/group", fmt.Sprintf("root:x:0:\nnonroot:x:%d:\n", User)},
	} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: file.name, Mode: 0o644, Size: int64(len(file.text))}); err != nil {
			return err
		}
		if _, err := io.WriteString(w, file.text); err != nil {
			return err
		}
	}
	return nil
}

func addProgram(w *tar.Writer, path string) error {
	f, err := strict.Open(context.Background(), path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: program, Mode: 0o755, Size: info.Size()}); err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}

// Save writes the image to a file that docker load reads, and returns the file's size.
func Save(im v1.Image, as, file string) (size int64, err error) {
	tag, err := name.NewTag(as)
	if err != nil {
		return 0, err
	}
	if err := tarball.WriteToFile(file, tag, im); err != nil {
		if e := os.Remove(file); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
		return 0, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Push gives the image to a registry, and returns its digest there.
func Push(ctx context.Context, im v1.Image, ref string, progress layers.Progress) (string, error) {
	return layers.Write(ctx, im, ref, progress)
}
