package buildstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/executable"
	"nodestorm/harness/builds/registry"
	"nodestorm/harness/builds/seal"
	"nodestorm/sim/oneline"
	"nodestorm/sim/strict"
	"nodestorm/sim/time/clock/overlay"
)

// Annotations of builds in a registry, after those of the OCI image specification.
const (
	titleAnnotation    = "org.opencontainers.image.title"
	versionAnnotation  = "org.opencontainers.image.version"
	revisionAnnotation = "org.opencontainers.image.revision"
	ours               = "dev.nodestorm."
)

// Push writes the newest entry of ref to a repository of a registry, such as
// registry.example/team/builds, under a tag made of its name, version, provider, machine
// and clock. It returns where it is, by digest. One entry has one digest, on whatever
// machine and however often it is pushed.
func (s *Store) Push(ctx context.Context, ref builds.Ref, repository string, progress Progress) (_ string, err error) {
	defer func() {
		if err != nil {
			err = withHint(fmt.Errorf("pushing %s to %w", ref, err))
		}
	}()
	t, err := s.Get(ref)
	if err != nil {
		return "", fmt.Errorf("%s: %w", repository, err)
	}
	report := reporter{ref: ref, start: time.Now(), to: progress}
	tmp, done, err := s.begin(ctx, ref, report)
	if err != nil {
		return "", fmt.Errorf("%s: %w", repository, err)
	}
	defer func() { err = errors.Join(err, done()) }()
	m := portable(t.Manifest)
	folder, err := folderOf(t, m)
	if err != nil {
		return "", err
	}
	folder.Annotations = annotations(m)
	to := repository + ":" + tag(m.Ref, m.Clock)
	digest, err := registry.Push(ctx, folder, to, tmp, func(doneMB, ofMB int) {
		report.send(Update{Stage: Pushing, Done: doneMB, Total: ofMB, Package: to})
	})
	return repository + "@" + digest, err
}

// Portable is the entry as a folder of an image, where it is in a store in the folder
// store: nothing in it is of this machine.
func Portable(t builds.Target, store string) (registry.Folder, error) {
	// mutant: an image has the path where a build was made
	folder, err := folderOf(t, portable(t.Manifest))
	folder.Inside = path.Join(store, "targets", t.Name, t.Version, filepath.Base(t.Dir))
	return folder, err
}

// folderOf is the entry with another manifest.
func folderOf(t builds.Target, m builds.Manifest) (registry.Folder, error) {
	text, err := json.MarshalIndent(m, "", "  ")
	return registry.Folder{Dir: t.Dir, Files: map[string][]byte{manifestFile: append(text, '\n')}, Arch: runtime.GOARCH}, err
}

// portable is a manifest without what only the machine has that made the build: paths,
// and when it was.
func portable(m builds.Manifest) builds.Manifest {
	m.GOROOT, m.BuiltAt = "", time.Time{}
	if m.OverlayHash != "" {
		m.Clock = overlay.Digest() // Get has found it to be ours
	}
	m.Source.Dir, m.Source.Workspace = "", ""
	switch m.Source.Kind {
	case builds.FromBinary:
		m.Source.File = filepath.Base(m.Source.File)
	case builds.FromImage:
		if filepath.IsAbs(m.Source.Image) {
			m.Source.Image = filepath.Base(m.Source.Image)
		}
	default: // it may have been pulled
		m.Source.Image, m.Source.Digest = "", ""
	}
	return m
}

// tag is the build's in a repository that holds many. Machines whose nodestorms have other
// clocks do not take each other's builds away.
func tag(ref builds.Ref, of string) string {
	words := []string{ref.Name, ref.Version}
	if ref.Provider != "" {
		words = append(words, ref.Provider)
	}
	words = append(words, runtime.GOARCH, "real")
	if of != "" {
		words[len(words)-1] = "clock" + of[:min(12, len(of))]
	}
	return strings.ReplaceAll(strings.Join(words, "-"), "+", "_")
}

// annotations are the build's provenance, for readers of the registry.
func annotations(m builds.Manifest) map[string]string {
	all := map[string]string{
		titleAnnotation: m.Ref.String(), versionAnnotation: m.Version, revisionAnnotation: m.Source.Commit,
		ours + "name": m.Name, ours + "provider": m.Provider, ours + "kind": string(m.Source.Kind), ours + "module": m.Source.Module,
		ours + "module-version": m.Source.Version, ours + "sum": m.Source.Sum, ours + "package": m.Source.Package, ours +
			"tags": strings.Join(m.Source.Tags, ","),
		ours + "go": m.GoVersion, ours + "overlay": m.OverlayHash, ours + "clock": m.Clock, ours + "sha256": m.SHA256,
	}
	if m.Source.Dirty {
		all[ours+"dirty"] = strconv.FormatBool(true)
	}
	for key, value := range all {
		if value == "" {
			delete(all, key)
		}
	}
	return all
}

// Pull takes the build of ref out of a repository, where Push has written it, or as
// repository@sha256:… names it. The error leaves the store as it was.
func (s *Store) Pull(ctx context.Context, ref builds.Ref, repository string, progress Progress) (_ builds.Target, err error) {
	defer func() {
		if err != nil {
			err = withHint(fmt.Errorf("pulling %s from %w", ref, err))
		}
	}()
	if err := ref.Check(); err != nil {
		return builds.Target{}, fmt.Errorf("%s: %w", repository, err)
	}
	report := reporter{ref: ref, start: time.Now(), to: progress}
	tmp, done, err := s.begin(ctx, ref, report)
	if err != nil {
		return builds.Target{}, fmt.Errorf("%s: %w", repository, err)
	}
	defer func() { err = errors.Join(err, done()) }()

	// Which of a nodestorm's own clock comes first; a build without any serves all.
	places := []string{repository}
	if !strings.Contains(repository, "@") {
		places = []string{repository + ":" + tag(ref, overlay.Digest()), repository + ":" + tag(ref, "")}
	}
	d := newDraft(tmp)
	var digest string
	for _, place := range places {
		if err := errors.Join(os.RemoveAll(d.dir), os.MkdirAll(d.dir, 0o755)); err != nil {
			return builds.Target{}, err
		}
		digest, _, err = registry.Pull(ctx, place, runtime.GOARCH, d.dir, func(doneMB, ofMB int) {
			report.send(Update{Stage: Pulling, Done: doneMB, Total: ofMB, Package: place})
		})
		if !registry.NotThere(err) {
			break
		}
	}
	if registry.NotThere(err) {
		return builds.Target{}, fmt.Errorf("%s: it has no build of it for linux/%s with this nodestorm's clock, nor one for real time (looked "+
			"for %s); push it with: %s", repository, runtime.GOARCH, strings.Join(places, ", "),
			oneline.Command("nodestorm", "target", "push", ref.String(), repository))
	}
	if err != nil {
		return builds.Target{}, err
	}
	m, err := d.pulled(ref)
	if err != nil {
		return builds.Target{}, fmt.Errorf("%s: %w", repository, err)
	}
	bare, _, _ := strings.Cut(repository, "@")
	m.Source.Image, m.Source.Digest = bare, digest
	key := keyOf(m.Provider, m.Source, digest)
	if t, ok := s.reuse(m.Ref, key, m.Source); ok {
		return t, nil
	}
	return s.publish(d, key, m)
}

// Pushed are the versions of what is called name that a repository has for this machine and
// this nodestorm's clock, or for real time; and for the provider, or for all. A build for
// another provider looks like a version that ends with its name.
func (s *Store) Pushed(ctx context.Context, name, provider, repository string) (versions []string, err error) {
	tags, err := registry.Tags(ctx, repository)
	if registry.NotThere(err) {
		return nil, fmt.Errorf("%s has no builds at all: push them with: %s", repository,
			oneline.Command("nodestorm", "target", "push", "NAME@VERSION", repository))
	}
	if err != nil {
		return nil, fmt.Errorf("listing what there is to pull: %w", err)
	}
	var ends []string // the longest first: a build for one provider is none for all
	for _, provider := range slices.Compact([]string{provider, ""}) {
		for _, of := range []string{overlay.Digest(), ""} {
			ends = append(ends, strings.TrimPrefix(tag(builds.Ref{Name: name, Provider: provider}, of), name+"-"))
		}
	}
	for _, pushed := range tags {
		version, is := strings.CutPrefix(pushed, name+"-")
		i := slices.IndexFunc(ends, func(end string) bool { return strings.HasSuffix(version, end) })
		if is && i >= 0 {
			versions = append(versions, strings.TrimSuffix(version, ends[i]))
		}
	}
	slices.Sort(versions)
	return slices.Compact(versions), nil
}

// pulled is the manifest of a build that was unpacked into the draft, if that is what it says.
func (d draft) pulled(ref builds.Ref) (m builds.Manifest, err error) {
	if err := onlyEntry(d.dir); err != nil {
		return m, err
	}
	path := filepath.Join(d.dir, manifestFile)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return m, fmt.Errorf("it is no build that nodestorm has pushed: it has no %s", manifestFile)
	}
	text, err := strict.ReadFile(path, maxText)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return m, fmt.Errorf("its %s: %w", manifestFile, err)
	}
	if !m.Ref.Is(ref) || m.Ref.Check() != nil {
		return m, fmt.Errorf("it is %.200q for %.200q, and not %s for %q", m.Ref.String(), m.Provider, ref, ref.Provider)
	}
	if m.OverlayHash != "" && m.Clock != overlay.Digest() {
		return m, fmt.Errorf("it was built with another clock (%.12s, not %.12s); pull what the same nodestorm has pushed", m.Clock,
			overlay.Digest())
	}
	sum, _, err := seal.Sum(m, d.dir)
	if err != nil {
		return m, fmt.Errorf("its program: %w", err)
	}
	// mutant: a pulled program need not be the one that was pushed
	if sum != m.SHA256 {
		return m, fmt.Errorf("its program has the SHA-256 %.12s…, and its %s says %.12s…", sum, manifestFile, m.SHA256)
	}
	assets, err := seal.AssetsDigest(m, d.dir)
	// mutant: what was pushed beside a program may be other than what its manifest says
	if err == nil && m.Assets != "" && m.Assets != assets { // a manifest of before has none, and the image's digest counts
		err = fmt.Errorf("what stands beside its program has the digest %.15s…, and its %s says %.15s…", assets, manifestFile, m.Assets)
	}
	if err != nil {
		return m, err
	}
	for _, name := range seal.Programs(m) {
		if err := executable.Inspect(d.binary(name), &builds.Manifest{}); err != nil {
			return m, fmt.Errorf("its program %s %w", name, err)
		}
		if err := os.Chmod(d.binary(name), 0o755); err != nil {
			return m, err
		}
	}
	// Nothing of the machine that made it is taken over.
	return portable(m), nil
}

// onlyEntry makes sure that the folder holds what entries of the store do.
func onlyEntry(dir string) error {
	found, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range found {
		switch f.Name() {
		case manifestFile, "bin", "assets":
		default:
			return fmt.Errorf("it has %.200q, which no build has", f.Name())
		}
	}
	return nil
}
