// Package registry takes one program out of a container image: from a registry, an
// OCI layout on disk, or what docker save wrote.
//
// Images are other people's. Nothing of them is run or unpacked, each byte that
// is used is checked against the image's digests, and what they may make us read
// and remember is bounded. The package knows no targets.
//
// It also takes a folder to a registry and back, as an image of its own kind: see Push.
package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"nodestorm/sim/oneline"
)

// What an image may cost us. The largest autoscaler image of 2026 has 40 layers'
// worth of 300 MB; the other figures are as generous.
const (
	maxUnpacked = 8 << 30   // bytes of all layers, unpacked
	maxProgram  = 1 << 30   // bytes
	maxDocument = 8 << 20   // bytes of a manifest, an index or a configuration
	maxLayers   = 500       // and images of an index
	maxFiles    = 1_000_000 // entries of all layers
	maxNames    = 256 << 20 // bytes of their names and links
	maxPath     = 4096      // bytes of one, as Linux has it
	maxFolders  = 255       // in one
	maxLinks    = 40        // on the way to the program, as Linux has it
	maxSteps    = 1000      // on that way, links and folders
)

// Image is an image for one platform, whose layers have been read and found to
// be what its configuration says.
type Image struct {
	from   string
	whole  v1.Image
	config v1.Config
	name   v1.Hash // of the configuration
	id     v1.Hash
	layers []v1.Layer
	tree   *tree
}

// Progress hears how much of how much has been read, or written.
type Progress func(done, total int)

// Open reads the image for linux/arch that from names: an OCI layout if it is a
// folder, an archive of docker save if it is a file, and else a reference such as
// registry.example/name:tag, see Query: what it leads to is read into the folder dir, which
// must be there for as long as the image is in use. Progress may be nil; it hears of layers
// that were read, or of MiB of what comes from a registry.
func Open(ctx context.Context, from, arch, dir string, progress Progress) (*Image, error) {
	if !Local(from) {
		return openRemote(ctx, from, arch, dir, progress)
	}
	im, err := open(ctx, from, arch, progress)
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", from, oneLine(err))
	}
	return im, nil
}

func openRemote(ctx context.Context, from, arch, dir string, progress Progress) (*Image, error) {
	if _, err := name.ParseReference(from); err != nil {
		return nil, fmt.Errorf("image %s: there is no such file or folder, and it is no reference to a registry either: %w", from, oneLine(err))
	}
	r, err := Query(ctx, from, arch)
	if err != nil {
		return nil, err
	}
	return r.Open(ctx, dir, func(done, total int64) {
		if progress != nil {
			progress(int(done>>20), int(total>>20))
		}
	})
}

func open(ctx context.Context, from, arch string, progress Progress) (*Image, error) {
	found, id, err := find(ctx, from, v1.Platform{OS: "linux", Architecture: arch})
	if err != nil {
		return nil, err
	}
	config, err := found.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading its configuration: %w", err)
	}
	if config.OS != "linux" || config.Architecture != arch {
		return nil, fmt.Errorf("it is for %s/%s, and this machine is linux/%s", config.OS, config.Architecture, arch)
	}
	im := &Image{from: from, whole: found, id: id, config: config.Config}
	if im.name, err = found.ConfigName(); err != nil {
		return nil, fmt.Errorf("reading its configuration: %w", err)
	}
	if im.layers, err = found.Layers(); err != nil {
		return nil, fmt.Errorf("reading its layers: %w", err)
	}
	if len(im.layers) != len(config.RootFS.DiffIDs) {
		return nil, fmt.Errorf("its manifest has %d layers and its configuration %d", len(im.layers), len(config.RootFS.DiffIDs))
	}
	im.tree, err = readLayers(ctx, im.layers, config.RootFS.DiffIDs, progress)
	return im, err
}

// checkManifest makes sure that a manifest asks for nothing that is too large or to be
// had elsewhere, and that the configuration is the one it names.
func checkManifest(im v1.Image) error {
	manifest, err := im.Manifest()
	if err != nil {
		return fmt.Errorf("reading its manifest: %w", err)
	}
	if manifest.Config.Size > maxDocument {
		return fmt.Errorf("its configuration is %d bytes, more than %d", manifest.Config.Size, maxDocument)
	}
	if len(manifest.Layers) > maxLayers {
		return fmt.Errorf("it has %d layers, more than %d", len(manifest.Layers), maxLayers)
	}
	for _, l := range manifest.Layers {
		if len(l.URLs) > 0 {
			return fmt.Errorf("its layer %s is not part of it, but elsewhere: %.200q", short(l.Digest), l.URLs[0])
		}
	}
	config, err := im.RawConfigFile()
	if err == nil {
		err = check(config, manifest.Config.Digest)
	}
	if err != nil {
		return fmt.Errorf("its configuration: %w", err)
	}
	return nil
}

// Digest is that of the image's manifest, as registries know it; of an archive,
// which has no manifest, that of its configuration, as docker images shows it.
func (im *Image) Digest() string { return im.id.String() }

// ID is the digest of its configuration, by which Docker knows it.
func (im *Image) ID() string { return im.name.String() }

// Save writes the image as docker save does, under a name of Docker's.
func (im *Image) Save(as string, w io.Writer) error {
	tag, err := name.NewTag(as)
	if err != nil {
		return err
	}
	if err := tarball.Write(tag, im.whole, w); err != nil {
		return im.errorf("%w", err)
	}
	return nil
}

// wrappers start another program, which is the one that is wanted.
var wrappers = map[string]bool{"sh": true, "bash": true, "ash": true, "dash": true, "busybox": true, "env": true, "tini": true,
	"dumb-init": true, "catatonit": true}

// Program is the absolute path of what the image runs: the first word of its
// entrypoint or else of its command, looked for in its PATH.
func (im *Image) Program() (string, error) {
	words := append(append([]string{}, im.config.Entrypoint...), im.config.Cmd...)
	if len(words) == 0 || words[0] == "" {
		return "", im.errorf("it has neither entrypoint nor command; name the program with --path")
	}
	word := words[0]
	if wrappers[path.Base(word)] {
		return "", im.errorf("it starts with %q; name the program itself with --path", strings.Join(words, " "))
	}
	if path.IsAbs(word) {
		return path.Clean(word), nil
	}
	if strings.Contains(word, "/") {
		return path.Join("/", im.config.WorkingDir, word), nil
	}
	dirs := "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	for _, v := range im.config.Env {
		if list, is := strings.CutPrefix(v, "PATH="); is {
			dirs = list
		}
	}
	for dir := range strings.SplitSeq(dirs, ":") {
		if name := path.Join("/", dir, word); im.tree.hasFile(name) {
			return name, nil
		}
	}
	return "", im.errorf("its entrypoint %s is in none of %s%s", word, dirs, im.similarPrograms(word))
}

// Copy writes the program at the absolute path name to w. Links on the way to it
// are followed inside the image.
func (im *Image) Copy(ctx context.Context, name string, w io.Writer) error {
	at, err := im.tree.find(name)
	if errors.Is(err, errNotThere) {
		return im.errorf("it has no %s%s", name, im.similarPrograms(path.Base(name)))
	}
	if err == nil {
		err = copyOut(ctx, im.layers[at.layer], at.number, w)
	}
	if err != nil {
		return im.errorf("%s: %w", name, err)
	}
	return nil
}

// oneLine is an error whose words may be a registry's or an archive's own: it shows no more
// of them than a line of text.
func oneLine(err error) error { return oneline.CutError(err, 600) }

func (im *Image) errorf(format string, args ...any) error {
	return fmt.Errorf("image %s: %w", im.from, oneLine(fmt.Errorf(format, args...)))
}

// similarPrograms names the places where programs with name in theirs are, as a help.
func (im *Image) similarPrograms(name string) string {
	like := im.tree.programsLike(name)
	if len(like) == 0 {
		return "; name the program with --path"
	}
	return "; --path can name " + strings.Join(like, ", ")
}

// check makes sure that b is what has the digest.
func check(b []byte, want v1.Hash) error {
	hasher, err := v1.Hasher(want.Algorithm)
	if err != nil {
		return err
	}
	_, _ = hasher.Write(b) // never fails
	if got := fmt.Sprintf("%x", hasher.Sum(nil)); got != want.Hex {
		return fmt.Errorf("its digest is %s:%.12s…, not %s", want.Algorithm, got, short(want))
	}
	return nil
}

// short is a digest for people to read.
func short(h v1.Hash) string { return fmt.Sprintf("%s:%.12s…", h.Algorithm, h.Hex) }
