package buildstore

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"nodestorm/harness/builds"
	"nodestorm/sim/time/clock/overlay"
)

// registryWith is a registry on loopback, before which a handler may answer in its place.
func registryWith(t *testing.T, before func(w http.ResponseWriter, r *http.Request) (answered bool)) (repository string, inner http.Handler) {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	inner = registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before == nil || !before(w, r) {
			inner.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://") + "/team/builds", inner
}

// A build with assets and faces goes to a registry and into another store, and is the same
// there: it says where it came from and how to get it again, and nothing of this machine.
func TestPushAndPull(t *testing.T) {
	here, there := openStore(t), openStore(t)
	source := tinySource(t)
	recipe := fromFolderRecipe(source)
	recipe.Provider, recipe.Faces = "cloud", []string{"face"}
	pushed := build(t, here, recipe)
	repository, _ := registryWith(t, nil)

	first, err := here.Push(t.Context(), tiny, repository, nil)
	ok(t, err)
	again, err := here.Push(t.Context(), tiny, repository, nil)
	ok(t, err)
	if first != again || !regexp.MustCompile(`@sha256:[0-9a-f]{64}$`).MatchString(first) {
		t.Errorf("two pushes are %s and %s", first, again)
	}
	// The same build, made elsewhere at another time, is the same to the registry.
	elsewhere := openStore(t)
	build(t, elsewhere, recipe)
	if third, err := elsewhere.Push(t.Context(), tiny, repository, nil); err != nil || third != first {
		t.Errorf("pushed from elsewhere it is %s, %v", third, err)
	}

	for provider, want := range map[string][]string{"cloud": {tiny.Version}, "other": nil} {
		versions, err := there.Pushed(t.Context(), tiny.Name, provider, repository)
		ok(t, err)
		versions = slices.DeleteFunc(versions, func(v string) bool { return strings.HasSuffix(v, "-cloud") }) // a version, as far as a tag shows
		if !slices.Equal(versions, want) {
			t.Errorf("for %s it has %q, want %q", provider, versions, want)
		}
	}
	_, err = there.Pushed(t.Context(), tiny.Name, "", repository+"-none")
	wantError(t, err, "has no builds at all: push them with: nodestorm target push")

	wanted := tiny
	wanted.Provider = "cloud"
	got, err := there.Pull(t.Context(), wanted, repository, nil)
	ok(t, err)
	if out := output(t, filepath.Join(got.Bin(), "face")); out != "tiny v1.0.0" {
		t.Errorf("its face prints %q", out)
	}
	if got.SHA256 != pushed.SHA256 || got.OverlayHash != pushed.OverlayHash || got.Source.Sum != pushed.Source.Sum || got.GoVersion != pushed.GoVersion {
		t.Errorf("pulled %+v, pushed %+v", got.Manifest, pushed.Manifest)
	}
	text, err := os.ReadFile(filepath.Join(got.Dir, manifestFile))
	ok(t, err)
	if strings.Contains(string(text), source) || strings.Contains(string(text), "goroot") {
		t.Errorf("its manifest names the machine that made it: %s", text)
	}
	if stored, err := there.Get(wanted); err != nil || stored.Dir != got.Dir {
		t.Errorf("the store has %v, %v", stored, err)
	}
	if command := Rebuild(got); command != "nodestorm target get tiny@v1.0.0 --from "+repository+" --provider cloud" {
		t.Errorf("it is got again with %q", command)
	}
	if twice, err := there.Pull(t.Context(), wanted, repository, nil); err != nil || twice.Dir != got.Dir {
		t.Errorf("pulled twice it is in %s, %v", twice.Dir, err)
	}
	if pinned, err := openStore(t).Pull(t.Context(), wanted, first, nil); err != nil || pinned.SHA256 != pushed.SHA256 {
		t.Errorf("by its digest: %v, %v", pinned.SHA256, err)
	}
	if onward, err := there.Push(t.Context(), wanted, repository, nil); err != nil || onward != first {
		t.Errorf("pushed onward it is %s, %v", onward, err)
	}

	ref, err := name.ParseReference(first)
	ok(t, err)
	im, err := remote.Image(ref)
	ok(t, err)
	manifest, err := im.Manifest()
	ok(t, err)
	for key, want := range map[string]string{"org.opencontainers.image.title": "tiny@v1.0.0", "dev.nodestorm.provider": "cloud", "dev.nodestorm.kind": "source", "dev.nodestorm.sha256": pushed.SHA256, "dev.nodestorm.sum": pushed.Source.Sum} {
		if manifest.Annotations[key] != want {
			t.Errorf("annotation %s is %q, want %q", key, manifest.Annotations[key], want)
		}
	}
}

// Each fault of a registry is an error of one sentence, and changes nothing in the store.
func TestRegistryIsWrong(t *testing.T) {
	here := openStore(t)
	build(t, here, fromFolderRecipe(tinySource(t)))
	var fault atomic.Pointer[func(http.ResponseWriter, *http.Request) bool]
	repository, inner := registryWith(t, func(w http.ResponseWriter, r *http.Request) bool {
		f := fault.Load()
		return f != nil && (*f)(w, r)
	})
	_, err := here.Push(t.Context(), tiny, repository, nil)
	ok(t, err)
	refuses := func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"errors":[{"code":"DENIED","message":"not you\nand a second line"}]}`)
		return true
	}
	isBlob := func(r *http.Request) bool {
		return strings.Contains(r.URL.Path, "/blobs/sha256:") && r.Method == http.MethodGet
	}
	host := strings.SplitN(repository, "/", 2)[0]
	for _, test := range []struct {
		name  string
		push  bool
		fault func(http.ResponseWriter, *http.Request) bool
		want  string
	}{
		{"refuses a push", true, refuses, "the registry refuses"},
		{"refuses a pull", false, refuses, "docker login " + host},
		{"breaks off in the middle of a layer", false, func(w http.ResponseWriter, r *http.Request) bool {
			if !isBlob(r) {
				return false
			}
			whole := httptest.NewRecorder()
			inner.ServeHTTP(whole, r)
			text := whole.Body.Bytes()
			w.Header().Set("Content-Length", strconv.Itoa(len(text)))
			if len(text) > 10_000 { // not the configuration
				text = text[:len(text)/2] // the connection ends before what was promised
			}
			_, _ = w.Write(text)
			return true
		}, "the registry broke off"},
		{"breaks off in the middle of a push", true, func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }, "the registry broke off"},
		{"resets the connection in the middle of a push", true, func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPatch && r.Method != http.MethodPut {
				return false
			}
			connection, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				panic(err)
			}
			_ = connection.(*net.TCPConn).SetLinger(0) // what it has not read is thrown away: RST
			_ = connection.Close()
			return true
		}, "the registry broke off"},
		{"serves another layer", false, func(w http.ResponseWriter, r *http.Request) bool {
			if isBlob(r) {
				_, _ = io.WriteString(w, strings.Repeat("x", 100))
			}
			return isBlob(r)
		}, "sha256:"},
		{"leads to plain HTTP elsewhere", false, func(w http.ResponseWriter, r *http.Request) bool {
			if isBlob(r) {
				http.Redirect(w, r, "http://192.0.2.1/layer", http.StatusTemporaryRedirect)
			}
			return isBlob(r)
		}, "192.0.2.1 would be asked without TLS, which is done on loopback only"},
	} {
		there := openStore(t)
		fault.Store(&test.fault)
		var err error
		if test.push {
			_, err = here.Push(t.Context(), tiny, repository+"-anew", nil) // where nothing of it is yet
		} else {
			_, err = there.Pull(t.Context(), tiny, repository, nil)
		}
		fault.Store(nil)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 1200 {
			t.Errorf("%s: %v; want a line with %q", test.name, err, test.want)
		}
		wantEmpty(t, there)
		if _, err := here.Get(tiny); err != nil {
			t.Errorf("%s: what was pushed is gone: %v", test.name, err)
		}
	}
	_, err = openStore(t).Pull(t.Context(), builds.Ref{Name: "tiny", Version: "v2.0.0"}, repository, nil)
	wantError(t, err, "it has no build of it for linux/", "nodestorm target push tiny@v2.0.0 "+repository)
	_, err = openStore(t).Pull(t.Context(), tiny, "10.0.0.1/team/builds", nil)
	wantError(t, err, "10.0.0.1")
	for _, wrong := range []string{"", "UPPER/x", "a b/c", "host/repo:tag@x"} {
		if _, err := here.Push(t.Context(), tiny, wrong, nil); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q as repository: %v", wrong, err)
		}
	}
}

// What another user wrote into the repository is refused: a changed program, another
// target's, another clock's, files that lead elsewhere.
func TestPullRefuses(t *testing.T) {
	here := openStore(t)
	here.Overlay = overlayOf("a")
	build(t, here, fromFolderRecipe(tinySource(t)))
	repository, _ := registryWith(t, nil)
	pushed, err := here.Push(t.Context(), tiny, repository, nil)
	ok(t, err)
	place, err := name.NewTag(repository + ":" + tag(tiny, overlay.Digest()))
	ok(t, err)
	digest, err := name.ParseReference(pushed)
	ok(t, err)
	good, err := remote.Image(digest)
	ok(t, err)
	for name, test := range map[string]struct {
		files func(map[string]string) // of the layer
		link  [2]string
		want  string
	}{
		"a changed program": {func(f map[string]string) { f["bin/tiny"] += "x" }, [2]string{}, "its program has the SHA-256"},
		"another asset":     {func(f map[string]string) { f["assets/crds/things.yaml"] = "kind: Other\n" }, [2]string{}, "what stands beside its program has the digest h1:"},
		"an asset more":     {func(f map[string]string) { f["assets/crds/more.yaml"] = "" }, [2]string{}, "what stands beside its program has the digest h1:"},
		"no program":        {func(f map[string]string) { delete(f, "bin/tiny") }, [2]string{}, "its program: "},
		"another target": {func(f map[string]string) {
			f[manifestFile] = strings.Replace(f[manifestFile], `"v1.0.0"`, `"v9.0.0"`, 1)
		}, [2]string{}, `it is "tiny@v9.0.0"`},
		"another clock": {func(f map[string]string) {
			f[manifestFile] = strings.Replace(f[manifestFile], overlay.Digest(), "0badc10c", 1)
		}, [2]string{}, "another clock (0badc10c"},
		"no manifest":            {func(f map[string]string) { delete(f, manifestFile) }, [2]string{}, "it is no build that nodestorm has pushed"},
		"a manifest of junk":     {func(f map[string]string) { f[manifestFile] = "{" }, [2]string{}, "its manifest.json: "},
		"a path that leads out":  {func(f map[string]string) { f["bin/../../escaped"] = "x" }, [2]string{}, "outside"},
		"another file":           {func(f map[string]string) { f["etc/passwd"] = "x" }, [2]string{}, `"etc", which no build has`},
		"a link that leads out":  {func(map[string]string) {}, [2]string{"bin/out", "../../../etc/passwd"}, "no file beside it"},
		"a link to the root":     {func(map[string]string) {}, [2]string{"bin/out", "/etc/passwd"}, "no file beside it"},
		"a file twice":           {func(f map[string]string) { f["./bin/tiny"] = "x" }, [2]string{}, "exists"},
		"a program that is none": {func(f map[string]string) { f["bin/tiny"] = "#!/bin/sh" }, [2]string{}, "its program has the SHA-256"},
	} {
		files := filesOf(t, good)
		test.files(files)
		ok(t, remote.Write(place, withFiles(t, good, files, test.link)))
		there := openStore(t)
		_, err := there.Pull(t.Context(), tiny, repository, nil)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		wantEmpty(t, there)
	}
	// The digest still means what was pushed.
	there := openStore(t)
	if _, err := there.Pull(t.Context(), tiny, pushed, nil); err != nil {
		t.Error(err)
	}
	// A nodestorm with another clock says so of what it has.
	got, err := there.Get(tiny)
	ok(t, err)
	path := filepath.Join(got.Dir, manifestFile)
	text, err := os.ReadFile(path)
	ok(t, err)
	ok(t, os.WriteFile(path, []byte(strings.Replace(string(text), overlay.Digest(), "0badc10c", 1)), 0o600))
	if _, err = there.Get(tiny); !errors.As(err, new(*StaleError)) {
		t.Errorf("a pulled build of another clock: %v", err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(there.dir), "escaped")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something got out: %v", err)
	}
}

// filesOf are the regular files of an image's only layer.
func filesOf(t *testing.T, im v1.Image) map[string]string {
	t.Helper()
	layers, err := im.Layers()
	ok(t, err)
	text, err := layers[0].Uncompressed()
	ok(t, err)
	files := map[string]string{}
	in := tar.NewReader(text)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		ok(t, err)
		if h.Typeflag == tar.TypeReg {
			b, err := io.ReadAll(in)
			ok(t, err)
			files[h.Name] = string(b)
		}
	}
}

// withFiles is the image with another layer in place of its own.
func withFiles(t *testing.T, im v1.Image, files map[string]string, link [2]string) v1.Image {
	t.Helper()
	var text bytes.Buffer
	w := tar.NewWriter(&text)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		ok(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(files[name]))}))
		_, err := io.WriteString(w, files[name])
		ok(t, err)
	}
	if link[0] != "" {
		ok(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: link[0], Linkname: link[1]}))
	}
	ok(t, w.Close())
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil })
	ok(t, err)
	config, err := im.ConfigFile()
	ok(t, err)
	config = config.DeepCopy()
	config.RootFS.DiffIDs = nil
	bare, err := mutate.ConfigFile(empty.Image, config)
	ok(t, err)
	changed, err := mutate.AppendLayers(bare, layer)
	ok(t, err)
	return changed
}
