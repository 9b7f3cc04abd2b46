package buildstore

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/registry"
)

// goProgram is a small program of Go's for this machine.
func goProgram(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(build(t, openStore(t), fromFolderRecipe(tinySource(t))).Binary())
	ok(t, err)
	return text
}

// imageOf is an image for a machine with these files, which runs entrypoint.
func imageOf(t *testing.T, arch string, files map[string][]byte, entrypoint ...string) v1.Image {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, content := range files {
		ok(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}))
		_, err := w.Write(content)
		ok(t, err)
	}
	ok(t, w.Close())
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
	ok(t, err)
	im, err := mutate.AppendLayers(empty.Image, layer)
	ok(t, err)
	config, err := im.ConfigFile()
	ok(t, err)
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Config = "linux", arch, v1.Config{Entrypoint: entrypoint}
	im, err = mutate.ConfigFile(im, config)
	ok(t, err)
	return im
}

// published puts images into a registry, each as a project would: for several machines, with
// what a builder attests beside them.
func published(t *testing.T, mirror, at string, images map[string]v1.Image) {
	t.Helper()
	index := v1.ImageIndex(empty.Index)
	for arch, im := range images {
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: im, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}})
	}
	attested := imageOf(t, "unknown", map[string][]byte{"attestation.json": []byte("{}")})
	index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: attested, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "unknown", Architecture: "unknown"}}})
	ref, err := name.ParseReference(mirror + "/" + at)
	ok(t, err)
	ok(t, remote.WriteIndex(ref, index))
}

var (
	autoscaler = builds.Ref{Name: "cluster-autoscaler", Version: "1.33.0"}
	other      = map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH]
)

const autoscalerAt = "autoscaling/cluster-autoscaler:v1.33.0"

// mirrorOf is a registry on loopback.
func mirrorOf(t *testing.T) Registries {
	repository, _ := registryWith(t, nil)
	return Registries{Mirror: strings.TrimSuffix(repository, "/builds")}
}

func taken(t *testing.T, s *Store, ref builds.Ref, from Registries) builds.Target {
	t.Helper()
	offer, err := s.FindOffer(t.Context(), ref, from)
	ok(t, err)
	if offer.Size <= 0 {
		t.Errorf("%s is offered with %d bytes", ref, offer.Size)
	}
	got, err := s.PullOffer(t.Context(), offer, nil)
	ok(t, err)
	return got
}

// An official image becomes a target of the release: the program for this machine out of an
// index that has others and attestations. Its digest is locked, in the store and in a file of
// the user's, and a build made here goes before it.
func TestTake(t *testing.T) {
	s, text := openStore(t), goProgram(t)
	from := mirrorOf(t)
	from.Lock = Lock(filepath.Join(t.TempDir(), "images.lock"))
	published(t, from.Mirror, autoscalerAt, map[string]v1.Image{
		runtime.GOARCH: imageOf(t, runtime.GOARCH, map[string][]byte{"cluster-autoscaler": text}, "/cluster-autoscaler"),
		other:          imageOf(t, other, map[string][]byte{"cluster-autoscaler": []byte("another")}, "/cluster-autoscaler"),
	})
	var updates []Update
	offer, err := s.FindOffer(t.Context(), autoscaler, from)
	ok(t, err)
	got, err := s.PullOffer(t.Context(), offer, func(u Update) { updates = append(updates, u) })
	ok(t, err)
	if out := output(t, got.Binary()); out != "tiny v1.0.0" {
		t.Errorf("it prints %q", out)
	}
	const reference = "registry.k8s.io/" + autoscalerAt
	if src := got.Source; !src.Published || src.Image != reference || src.File != "/cluster-autoscaler" || !strings.HasPrefix(src.Digest, "sha256:") || got.GoVersion == "" || got.Virtual() || got.RealTimeOnly() {
		t.Errorf("manifest: %+v", got.Manifest)
	}
	if command := Rebuild(got); command != "nodestorm target get cluster-autoscaler@1.33.0" {
		t.Errorf("it is got again with %q", command)
	}
	if last := updates[len(updates)-1]; last.Stage != Pulling || last.Done != last.Total || last.Package != from.Mirror+"/"+autoscalerAt {
		t.Errorf("last update: %+v", last)
	}
	for _, lock := range []Lock{from.Lock, s.storeLock()} {
		if locked, err := lock.read(); err != nil || len(locked) != 1 || locked[reference] != got.Source.Digest {
			t.Errorf("%s has %v, %v", lock, locked, err)
		}
	}
	for _, provider := range []string{"", "hetzner"} {
		if found, err := s.Get(builds.Ref{Name: autoscaler.Name, Version: autoscaler.Version, Provider: provider}); err != nil || found.Dir != got.Dir {
			t.Errorf("for %q the store has %v, %v", provider, found.Dir, err)
		}
	}
	r := fromFolderRecipe(tinySource(t))
	r.Ref = autoscaler
	built := build(t, s, r)
	taken(t, s, autoscaler, from)
	if found, err := s.Get(autoscaler); err != nil || found.Dir != built.Dir {
		t.Errorf("beside a build the store gives %v, %v", found.Source, err)
	}
}

// A release may be several programs, of an image each; all are checked when it is found.
func TestTakeSeveral(t *testing.T) {
	s, text := openStore(t), goProgram(t)
	from := mirrorOf(t)
	programs, err := Published(builds.Kubernetes)
	ok(t, err)
	for _, p := range programs {
		_, at, _ := strings.Cut(p.Image, "/")
		published(t, from.Mirror, at, map[string]v1.Image{
			runtime.GOARCH: imageOf(t, runtime.GOARCH, map[string][]byte{strings.TrimPrefix(p.Path, "/"): append(slices.Clone(text), p.Name...), "go-runner": text}, "/go-runner"),
		})
	}
	got := taken(t, s, builds.Kubernetes, from)
	for _, p := range programs {
		if out := output(t, filepath.Join(got.Bin(), p.Name)); out != "tiny v1.0.0" {
			t.Errorf("%s prints %q", p.Name, out)
		}
		if got.Lacks(p.Name) {
			t.Errorf("it lacks %s", p.Name)
		}
	}
	if !got.Lacks("kubelet") || len(got.Programs) != len(programs) || got.Size < int64(len(programs)*len(text)) || got.GoVersion == "" {
		t.Errorf("it lacks no kubelet, or its manifest is another: %+v", got.Manifest)
	}
	found, err := s.Get(builds.Kubernetes)
	ok(t, err)
	// It goes on to others as any build does.
	repository := from.Mirror + "/builds"
	_, err = s.Push(t.Context(), builds.Kubernetes, repository, nil)
	ok(t, err)
	if there := taken(t, openStore(t), builds.Kubernetes, Registries{From: repository, Mirror: NoRegistry}); there.SHA256 != found.SHA256 {
		t.Errorf("from others it is %s, not %s", there.SHA256, found.SHA256)
	}
	ok(t, os.WriteFile(filepath.Join(got.Bin(), "etcd"), text, 0o755))
	_, err = s.Get(builds.Kubernetes)
	wantError(t, err, "damaged", "get it again with: nodestorm target get kubernetes@"+builds.Kubernetes.Version)
}

// A tag that leads elsewhere than it did is refused by name, and nothing is taken.
func TestMovedTag(t *testing.T) {
	s, text := openStore(t), goProgram(t)
	from := mirrorOf(t)
	put := func(more string) {
		published(t, from.Mirror, autoscalerAt, map[string]v1.Image{
			runtime.GOARCH: imageOf(t, runtime.GOARCH, map[string][]byte{"cluster-autoscaler": append(slices.Clone(text), more...)}, "/cluster-autoscaler"),
		})
	}
	put("")
	before := taken(t, s, autoscaler, from)
	put("moved")
	_, err := s.FindOffer(t.Context(), autoscaler, from)
	wantError(t, err, "pulling cluster-autoscaler@1.33.0", "registry.k8s.io/"+autoscalerAt+" has moved", before.Source.Digest+" is locked in "+string(s.storeLock()), "take its line out of there")
	if moved := (*MovedError)(nil); !errors.As(err, &moved) {
		t.Errorf("the error is %T", err)
	}
	if got, err := s.Get(autoscaler); err != nil || got.SHA256 != before.SHA256 {
		t.Errorf("the store has %v, %v", got.SHA256, err)
	}
	// A user's lock counts in a store that has none yet, and a damaged one is no lock at all.
	elsewhere := openStore(t)
	from.Lock = s.storeLock()
	_, err = elsewhere.FindOffer(t.Context(), autoscaler, from)
	wantError(t, err, "has moved")
	for text, want := range map[string]string{"x": "want REFERENCE DIGEST", "x y": "want sha256:"} {
		from.Lock = Lock(filepath.Join(t.TempDir(), "lock"))
		write(t, string(from.Lock), text+"\n")
		_, err = elsewhere.FindOffer(t.Context(), autoscaler, from)
		wantError(t, err, string(from.Lock)+":1: ", want)
	}
	wantEmpty(t, elsewhere)
	// Out of the lock, it is taken.
	ok(t, os.Remove(string(s.storeLock())))
	if after := taken(t, s, autoscaler, mirrorAt(from.Mirror)); after.SHA256 == before.SHA256 {
		t.Error("what has moved was not taken")
	}
}

func mirrorAt(mirror string) Registries { return Registries{Mirror: mirror} }

// An offer that cannot be had is an error of one sentence, which says what it is about and the way out.
func TestWrongOffers(t *testing.T) {
	text := goProgram(t)
	wrong := bytes.Clone(text)
	copy(wrong, "#!/bin/sh\n")
	from := mirrorOf(t)
	for version, im := range map[string]map[string]v1.Image{
		"1.33.1": {other: imageOf(t, other, map[string][]byte{"cluster-autoscaler": text}, "/cluster-autoscaler")},
		"1.33.2": {runtime.GOARCH: imageOf(t, runtime.GOARCH, map[string][]byte{"cluster-autoscaler": text, "run.sh": []byte("#!/bin/sh\n")}, "/run.sh")},
		"1.33.3": {runtime.GOARCH: imageOf(t, runtime.GOARCH, map[string][]byte{"cluster-autoscaler": text, "bin/sh": text}, "/bin/sh", "-c", "exec /cluster-autoscaler")},
		"1.33.4": {runtime.GOARCH: imageOf(t, runtime.GOARCH, map[string][]byte{"tool": text})},
		"1.33.5": {runtime.GOARCH: imageOf(t, runtime.GOARCH, map[string][]byte{"cluster-autoscaler": wrong}, "/cluster-autoscaler")},
	} {
		published(t, from.Mirror, "autoscaling/cluster-autoscaler:v"+version, im)
	}
	denied, _ := registryWith(t, func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		return true
	})
	for name, c := range map[string]struct {
		ref   string
		where Registries
		want  string
	}{
		"another machine":       {"cluster-autoscaler@1.33.1", from, "it has no image for linux/" + runtime.GOARCH + ", only for linux/" + other},
		"a wrapper":             {"cluster-autoscaler@1.33.2", from, "/run.sh is not a Linux program"},
		"a shell":               {"cluster-autoscaler@1.33.3", from, `it starts with "/bin/sh -c exec /cluster-autoscaler"`},
		"no entry point":        {"cluster-autoscaler@1.33.4", from, "it has neither entrypoint nor command"},
		"no program":            {"cluster-autoscaler@1.33.5", from, "/cluster-autoscaler is not a Linux program"},
		"not there":             {"cluster-autoscaler@1.33.9", from, "Unknown manifest"},
		"no images":             {"karpenter@v1.7.0", from, "karpenter@v1.7.0 has to be built: its project publishes no image of it with the provider kwok"},
		"unknown":               {"other@v1", from, "no images of other are known"},
		"no release":            {"cluster-autoscaler@my-fix", from, "images are those of releases"},
		"of an unknown minor":   {"kubernetes@v1.3.0", from, "which etcd belongs to it is not known"},
		"no registry":           {"cluster-autoscaler@1.33.0", Registries{Mirror: NoRegistry}, "no registry is asked"},
		"a mirror that is none": {"cluster-autoscaler@1.33.0", Registries{Mirror: "team/mirror"}, "is no place of a mirror"},
		"denied":                {"cluster-autoscaler@1.33.0", mirrorAt(strings.TrimSuffix(denied, "/builds")), "the registry refuses"},
		"not pushed":            {"karpenter@v1.7.0", Registries{From: from.Mirror + "/builds", Mirror: from.Mirror}, "karpenter@v1.7.0 has to be built"},
		"a wrong repository":    {"karpenter@v1.7.0", Registries{From: "no repository"}, "is no repository: want one that nodestorm target push"},
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t)
			ref, err := builds.ParseRef(c.ref)
			ok(t, err)
			offer, err := s.FindOffer(t.Context(), ref, c.where)
			if err == nil {
				_, err = s.PullOffer(t.Context(), offer, nil)
			}
			wantError(t, err, "pulling "+c.ref, c.want)
			if left, _ := filepath.Glob(filepath.Join(s.Dir(), "targets", "*", "*")); len(left) > 0 {
				t.Errorf("the store has %q", left)
			}
			if left, _ := filepath.Glob(filepath.Join(s.Dir(), "tmp", "*")); len(left) > 0 {
				t.Errorf("it left %q", left)
			}
		})
	}
	var none *registry.UnreachableError
	_, err := openStore(t).FindOffer(t.Context(), autoscaler, mirrorAt("127.0.0.1:1"))
	if !errors.As(err, &none) || none.Host != "127.0.0.1:1" {
		t.Errorf("without a registry: %v", err)
	}
}
