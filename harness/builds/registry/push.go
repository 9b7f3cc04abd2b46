package registry

import (
	"archive/tar"
	"bytes"
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

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// What a folder in a registry may cost us.
const (
	maxFolder      = 2 << 30 // bytes
	maxFolderFiles = 10_000
)

// Folder is a folder as an image: the files that Files names beside those in Dir, and
// annotations. The same content makes the same image, wherever and whenever it is packed.
type Folder struct {
	Dir string
	// Inside is where in the image it is, as "a/b"; empty is the image's root.
	Inside string
	// Files stand in the place of those of Dir that have their names.
	Files       map[string][]byte
	Arch        string
	Annotations map[string]string
}

// Push writes the folder to a registry as ref names it, and returns the digest under which
// it is there. tmp is a folder to work in. A registry is asked with the credentials that
// docker has for it, or without.
func Push(ctx context.Context, f Folder, ref, tmp string, progress Progress) (string, error) {
	digest, err := push(ctx, f, ref, tmp, progress)
	if err != nil {
		return "", fmt.Errorf("%s: %w", ref, oneLine(refused(ref, err)))
	}
	return digest, nil
}

func push(ctx context.Context, f Folder, to, tmp string, progress Progress) (string, error) {
	ref, err := name.ParseReference(to, name.StrictValidation)
	if err != nil {
		return "", err
	}
	layer, err := f.Layer(ctx, filepath.Join(tmp, "layer.tar.gz"))
	if err != nil {
		return "", err
	}
	im, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), layer)
	if err != nil {
		return "", err
	}
	config, err := im.ConfigFile()
	if err != nil {
		return "", err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.History = "linux", f.Arch, nil
	if im, err = mutate.ConfigFile(im, config); err != nil {
		return "", err
	}
	annotated, is := mutate.Annotations(im, f.Annotations).(v1.Image)
	if !is {
		return "", errors.New("an image with annotations is none")
	}
	return write(ctx, ref, annotated, progress)
}

// Write gives an image to a registry as ref names it, and returns the digest under which
// it is there.
func Write(ctx context.Context, im v1.Image, ref string, progress Progress) (digest string, err error) {
	to, err := name.ParseReference(ref, name.StrictValidation)
	if err == nil {
		digest, err = write(ctx, to, im, progress)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", ref, oneLine(refused(ref, err)))
	}
	return digest, nil
}

func write(ctx context.Context, ref name.Reference, im v1.Image, progress Progress) (string, error) {
	updates := make(chan v1.Update, 16)
	reported := make(chan struct{})
	go func() { // remote.Write closes updates
		defer close(reported)
		for u := range updates {
			if progress != nil && u.Error == nil {
				progress(int(u.Complete>>20), int(u.Total>>20))
			}
		}
	}()
	err := remote.Write(ref, im, append(options(ctx), remote.WithProgress(updates))...)
	<-reported
	if err != nil {
		return "", err
	}
	digest, err := im.Digest()
	return digest.String(), err
}

// Layer is the folder as a layer of an image, kept in a new file.
func (f Folder) Layer(ctx context.Context, file string) (v1.Layer, error) {
	if err := f.pack(ctx, file); err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	return tarball.LayerFromFile(file, tarball.WithMediaType(types.OCILayer))
}

// pack writes the folder as a gzipped tar without times and owners, in the order of names.
func (f Folder) pack(ctx context.Context, to string) (err error) {
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	zip, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return err
	}
	w := tar.NewWriter(zip)
	for i, c := range f.Inside + "/" {
		if c == '/' && i > 0 {
			if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: f.Inside[:i] + "/", Mode: 0o755, Format: tar.FormatPAX}); err != nil {
				return err
			}
		}
	}
	err = filepath.WalkDir(f.Dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(f.Dir, file)
		if err != nil || inside == "." {
			return err
		}
		return f.add(w, filepath.ToSlash(inside), file, d)
	})
	return errors.Join(err, w.Close(), zip.Close())
}

func (f Folder) add(w *tar.Writer, inside, file string, d fs.DirEntry) error {
	header := &tar.Header{Name: path.Join(f.Inside, inside), Format: tar.FormatPAX}
	var content io.Reader
	info, err := d.Info()
	if err != nil {
		return err
	}
	switch {
	case d.IsDir():
		header.Typeflag, header.Name, header.Mode = tar.TypeDir, header.Name+"/", 0o755
	case d.Type() == fs.ModeSymlink:
		header.Typeflag, header.Mode = tar.TypeSymlink, 0o777
		if header.Linkname, err = os.Readlink(file); err != nil {
			return err
		}
	case d.Type().IsRegular():
		header.Typeflag, header.Mode, header.Size = tar.TypeReg, 0o644, info.Size()
		if info.Mode()&0o111 != 0 {
			header.Mode = 0o755
		}
		if text, instead := f.Files[inside]; instead {
			header.Size, content = int64(len(text)), bytes.NewReader(text)
			break
		}
		in, err := os.Open(file)
		if err != nil {
			return err
		}
		defer in.Close()
		content = in
	default:
		return fmt.Errorf("%s is neither a file nor a folder (%s)", inside, d.Type())
	}
	if err := w.WriteHeader(header); err != nil || content == nil {
		return err
	}
	_, err = io.Copy(w, content)
	return err
}

// Pull unpacks what Push has written into the folder dir, which must be empty, and returns
// the digest and the annotations. Every byte is checked against the digests; what does not
// fit, leads out of dir, or is larger than builds are, is refused, and dir is to be thrown away.
func Pull(ctx context.Context, ref, arch, dir string, progress Progress) (digest string, annotations map[string]string, err error) {
	digest, annotations, err = pull(ctx, ref, arch, dir, progress)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", ref, oneLine(refused(ref, err)))
	}
	return digest, annotations, nil
}

func pull(ctx context.Context, from, arch, dir string, progress Progress) (string, map[string]string, error) {
	ref, err := name.ParseReference(from, name.StrictValidation)
	if err != nil {
		return "", nil, err
	}
	im, err := remote.Image(ref, append(options(ctx), remote.WithPlatform(v1.Platform{OS: "linux", Architecture: arch}))...)
	if err != nil {
		return "", nil, err
	}
	if err := checkManifest(im); err != nil {
		return "", nil, err
	}
	manifest, err := im.Manifest()
	if err != nil {
		return "", nil, err
	}
	config, err := im.ConfigFile()
	if err != nil {
		return "", nil, err
	}
	if config.OS != "linux" || config.Architecture != arch {
		return "", nil, fmt.Errorf("it is for %s/%s, and this machine is linux/%s", config.OS, config.Architecture, arch)
	}
	layers, err := im.Layers()
	if err != nil {
		return "", nil, err
	}
	if len(layers) != 1 || len(config.RootFS.DiffIDs) != 1 || manifest.Layers[0].Size > maxFolder {
		return "", nil, errors.New("it is no build that nodestorm has pushed")
	}
	if progress != nil {
		progress(0, int(manifest.Layers[0].Size>>20))
	}
	if err := unpack(ctx, layers[0], config.RootFS.DiffIDs[0], dir); err != nil {
		return "", nil, fmt.Errorf("layer %s: %w", short(manifest.Layers[0].Digest), err)
	}
	digest, err := im.Digest()
	return digest.String(), manifest.Annotations, err
}

// unpack writes a layer's files below dir, and reads it to its end.
func unpack(ctx context.Context, layer unpacked, id v1.Hash, dir string) error {
	hasher, err := v1.Hasher(id.Algorithm)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir) // nothing outside of it can be reached through it
	if err != nil {
		return err
	}
	defer root.Close()
	files, err := layer.Uncompressed()
	if err != nil {
		return err
	}
	defer files.Close()
	all := io.TeeReader(&bounded{ctx: ctx, in: files, left: maxFolder}, hasher)
	in := tar.NewReader(all)
	for number := 1; ; number++ {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("reading its tar: %w", err)
		}
		if number > maxFolderFiles {
			return fmt.Errorf("it has more than %d files", maxFolderFiles)
		}
		if err := placed(root, h, in); err != nil {
			return fmt.Errorf("its file %.200q: %w", h.Name, err)
		}
	}
	if _, err := io.Copy(io.Discard, all); err != nil { // a tar may end before its layer does
		return err
	}
	if got := fmt.Sprintf("%x", hasher.Sum(nil)); got != id.Hex {
		return fmt.Errorf("its content has the digest %s:%.12s…, not %s", id.Algorithm, got, short(id))
	}
	return nil
}

// placed writes one file of a tar. A link leads to a file beside it, as a program's faces do.
func placed(root *os.Root, h *tar.Header, content io.Reader) error {
	clean, err := pathInside("/", h.Name)
	if err != nil {
		return err
	}
	local := strings.TrimPrefix(clean, "/")
	if local == "" || sparse(h) {
		return errors.New("no build has such a file")
	}
	if err := root.MkdirAll(path.Dir(local), 0o755); err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(local, 0o755)
	case tar.TypeSymlink:
		// mutant: a link in a pulled build may lead anywhere
		if h.Linkname == "" || h.Linkname == "." || h.Linkname == ".." || strings.Contains(h.Linkname, "/") || len(h.Linkname) > maxPath {
			return fmt.Errorf("it is a link to %.200q, which is no file beside it", h.Linkname)
		}
		return root.Symlink(h.Linkname, local)
	case tar.TypeReg:
		out, err := root.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fs.FileMode(0o644|h.Mode&0o111))
		if err != nil {
			return err
		}
		_, err = io.Copy(out, content)
		return errors.Join(err, out.Close())
	}
	return errors.New("it is neither a file, a folder nor a link")
}

// Tags are those that a repository of a registry has.
func Tags(ctx context.Context, repository string) ([]string, error) {
	repo, err := name.NewRepository(repository, name.StrictValidation)
	if err != nil {
		return nil, oneLine(err)
	}
	tags, err := remote.List(repo, options(ctx)...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", repository, oneLine(refused(repository, err)))
	}
	return tags, nil
}
