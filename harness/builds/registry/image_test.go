package registry

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func TestFromEverywhere(t *testing.T) {
	im := imageOf(t, v1.Config{Entrypoint: []string{"/autoscaler", "--v=4"}},
		[]tar.Header{{Name: "etc/", Typeflag: tar.TypeDir}, {Name: "etc/motd"}},
		[]tar.Header{{Name: "autoscaler", Mode: 0o755}})
	digest, err := im.Digest()
	ok(t, err)
	id, err := im.ConfigName()
	ok(t, err)

	host := strings.TrimPrefix(serve(t), "http://")
	ref, err := name.ParseReference(host + "/autoscaling/autoscaler:v1")
	ok(t, err)
	ok(t, remote.Write(ref, im))
	archive := filepath.Join(t.TempDir(), "saved.tar")
	ok(t, tarball.WriteToFile(archive, ref, im))
	zipped := archive + ".gz"
	b, err := os.ReadFile(archive)
	ok(t, err)
	ok(t, os.WriteFile(zipped, gzipped(t, b), 0o644))

	for from, want := range map[string]string{
		layoutOf(t, im): digest.String(),
		ref.String():    digest.String(),
		host + "/autoscaling/autoscaler@" + digest.String(): digest.String(),
		archive: id.String(),
		zipped:  id.String(),
	} {
		var layers []int
		got, err := Open(t.Context(), from, "amd64", t.TempDir(), func(done, total int) { layers = append(layers, done, total) })
		if err != nil {
			t.Errorf("%s: %v", from, err)
			continue
		}
		if got.Digest() != want {
			t.Errorf("%s: digest %s, want %s", from, got.Digest(), want)
		}
		program, err := got.Program()
		if err != nil || program != "/autoscaler" {
			t.Errorf("%s: program %q, %v", from, program, err)
		}
		if text := read(t, got, program); text != "layer 1: autoscaler" {
			t.Errorf("%s: the program is %q", from, text)
		}
		if Local(from) && (len(layers) != 4 || layers[2] != 1 || layers[3] != 2) || len(layers) < 4 {
			t.Errorf("%s: progress %v", from, layers)
		}
	}
}

// Several platforms: ours is taken, what a builder adds is passed over.
func TestIndex(t *testing.T) {
	index := v1.ImageIndex(empty.Index)
	for _, p := range []v1.Platform{{OS: "linux", Architecture: "arm64"}, {OS: "linux", Architecture: "amd64"}, {OS: "windows", Architecture: "amd64"}, {OS: "unknown", Architecture: "unknown"}} {
		im := imageOf(t, v1.Config{Entrypoint: []string{"/autoscaler"}}, []tar.Header{{Name: "autoscaler", PAXRecords: map[string]string{"TEST.for": p.String()}}})
		config, err := im.ConfigFile()
		ok(t, err)
		config.OS, config.Architecture = p.OS, p.Architecture
		im, err = mutate.ConfigFile(im, config)
		ok(t, err)
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: im, Descriptor: v1.Descriptor{Platform: &p}})
	}
	ref, err := name.ParseReference(strings.TrimPrefix(serve(t), "http://") + "/autoscaler:v1")
	ok(t, err)
	ok(t, remote.WriteIndex(ref, index))
	dir := t.TempDir()
	nested := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: index})
	_, err = layout.Write(dir, nested)
	ok(t, err)

	for _, from := range []string{ref.String(), dir} {
		for _, arch := range []string{"amd64", "arm64"} {
			got, err := Open(t.Context(), from, arch, t.TempDir(), nil)
			ok(t, err)
			if c, err := got.layers[0].DiffID(); err != nil || c.Hex == "" {
				t.Error(err)
			}
			read(t, got, "/autoscaler")
		}
		wants(t, from, "s390x", "", "no image for linux/s390x, only for linux/arm64, linux/amd64, windows/amd64")
	}
}

func TestProgram(t *testing.T) {
	tree := []tar.Header{
		{Name: "usr/local/bin/autoscaler", Mode: 0o755},
		{Name: "opt/autoscaler", Mode: 0o755},
		{Name: "bin/busybox", Mode: 0o755},
	}
	for _, c := range []struct {
		config     v1.Config
		want, fail string
	}{
		{config: v1.Config{Entrypoint: []string{"/opt/autoscaler"}}, want: "/opt/autoscaler"},
		{config: v1.Config{Cmd: []string{"/opt/../opt/autoscaler", "-v"}}, want: "/opt/autoscaler"},
		{config: v1.Config{Entrypoint: []string{"./autoscaler"}, WorkingDir: "/opt"}, want: "/opt/autoscaler"},
		{config: v1.Config{Entrypoint: []string{"autoscaler"}}, want: "/usr/local/bin/autoscaler"},
		{config: v1.Config{Entrypoint: []string{"autoscaler"}, Env: []string{"A=b", "PATH=/nowhere:/opt"}}, want: "/opt/autoscaler"},
		{config: v1.Config{Entrypoint: []string{"autoscaler"}, Env: []string{"PATH=/nowhere"}}, fail: "entrypoint autoscaler is in none of /nowhere; --path can name /opt/autoscaler, /usr/local/bin/autoscaler"},
		{config: v1.Config{Entrypoint: []string{"ghost"}}, fail: "name the program with --path"},
		{config: v1.Config{}, fail: "neither entrypoint nor command"},
		{config: v1.Config{Entrypoint: []string{"/bin/sh", "-c"}, Cmd: []string{"exec /x"}}, fail: `it starts with "/bin/sh -c exec /x"`},
	} {
		im, err := Open(t.Context(), layoutOf(t, imageOf(t, c.config, tree)), "amd64", t.TempDir(), nil)
		ok(t, err)
		got, err := im.Program()
		if c.fail != "" {
			wantError(t, err, "image ", c.fail)
		} else if err != nil || got != c.want {
			t.Errorf("%+v: %q, %v, want %q", c.config, got, err, c.want)
		}
	}
}

func TestRefuses(t *testing.T) {
	good := imageOf(t, v1.Config{Entrypoint: []string{"/autoscaler"}}, []tar.Header{{Name: "autoscaler"}})
	write := func(name string, b []byte) string {
		file := filepath.Join(t.TempDir(), name)
		ok(t, os.WriteFile(file, b, 0o644))
		return file
	}
	// damage changes a layout: blob is the folder of its blobs.
	damage := func(im v1.Image, change func(dir, blobs string)) string {
		dir := layoutOf(t, im)
		change(dir, filepath.Join(dir, "blobs", "sha256"))
		return dir
	}
	layer := func(im v1.Image) string {
		layers, err := im.Layers()
		ok(t, err)
		h, err := layers[0].Digest()
		ok(t, err)
		return h.Hex
	}
	config, err := good.ConfigName()
	ok(t, err)
	manifest, err := good.Digest()
	ok(t, err)
	other := gzipped(t, tarOf(t, "other", []tar.Header{{Name: "autoscaler"}}))

	windows, err := good.ConfigFile()
	ok(t, err)
	windows = windows.DeepCopy()
	windows.OS = "windows"
	ofWindows, err := mutate.ConfigFile(good, windows)
	ok(t, err)
	foreign, err := mutate.Append(good, mutate.Addendum{Layer: layerOf(t, tarOf(t, "", nil)), URLs: []string{"https://elsewhere.example/layer"}})
	ok(t, err)
	fewer := windows.DeepCopy()
	fewer.OS, fewer.RootFS.DiffIDs = "linux", nil
	withoutIDs, err := mutate.ConfigFile(good, fewer)
	ok(t, err)
	two, err := random.Index(10, 1, 2)
	ok(t, err)
	twoImages := t.TempDir()
	_, err = layout.Write(twoImages, two)
	ok(t, err)
	saved := func(changes func(name string, b []byte) (string, []byte)) []byte { return resaved(t, good, changes) }

	for name, c := range map[string]struct{ from, want string }{
		"nothing":         {"/nowhere/at/all", "there is no such file or folder"},
		"no reference":    {"Not:A:Reference", "no such file or folder, and it is no reference"},
		"a folder":        {t.TempDir(), "no OCI layout: the folder has no index.json"},
		"an empty file":   {write("x", nil), "no archive of docker save: it has no manifest.json"},
		"a text":          {write("x", bytes.Repeat([]byte("text "), 500)), "no archive of docker save: reading its tar"},
		"half a gzip":     {write("x", gzipped(t, saved(nil))[:200]), "unexpected EOF"},
		"half a tar":      {write("x", saved(nil)[:1000]), "it has no manifest.json"},
		"another tar":     {write("x", tarOf(t, "", []tar.Header{{Name: "index.json"}})), "unpack an archive of another kind"},
		"a device":        {"/dev/null", "is a device"},
		"two images":      {twoImages, "2 images for linux/amd64; export the one"},
		"another system":  {layoutOf(t, ofWindows), "it is for windows/amd64, and this machine is linux/amd64"},
		"a foreign layer": {layoutOf(t, foreign), "not part of it, but elsewhere"},
		"unknown layers":  {layoutOf(t, withoutIDs), "its manifest has 1 layers and its configuration 0"},
		"no layer":        {damage(good, func(_, blobs string) { ok(t, os.Remove(filepath.Join(blobs, layer(good)))) }), "layer 1 of 1 (sha256:"},
		"another layer":   {damage(good, func(_, blobs string) { ok(t, os.WriteFile(filepath.Join(blobs, layer(good)), other, 0o644)) }), "its content has the digest sha256:"},
		"half a layer":    {damage(good, func(_, blobs string) { ok(t, os.Truncate(filepath.Join(blobs, layer(good)), 60)) }), "unexpected EOF"},
		"a layer of nonsense": {damage(good, func(_, blobs string) {
			ok(t, os.WriteFile(filepath.Join(blobs, layer(good)), bytes.Repeat([]byte("nonsense"), 200), 0o644))
		}), "reading its tar"},
		"no configuration": {damage(good, func(_, blobs string) { ok(t, os.Remove(filepath.Join(blobs, config.Hex))) }), "no such file"},
		"another configuration": {damage(good, func(_, blobs string) {
			ok(t, os.WriteFile(filepath.Join(blobs, config.Hex), []byte(`{"os":"linux","architecture":"amd64"}`), 0o644))
		}), "its digest is sha256:"},
		"another manifest": {damage(good, func(_, blobs string) { ok(t, os.WriteFile(filepath.Join(blobs, manifest.Hex), []byte(`{}`), 0o644)) }), "its digest is sha256:"},
		"a huge index":     {damage(good, func(dir, _ string) { ok(t, os.Truncate(filepath.Join(dir, "index.json"), maxDocument+1)) }), "more than 8 MiB"},
		"a linked index": {damage(good, func(dir, _ string) {
			ok(t, os.Rename(filepath.Join(dir, "index.json"), filepath.Join(dir, "x")))
			ok(t, os.Symlink("x", filepath.Join(dir, "index.json")))
		}), "is a link"},
		"a linked layer": {damage(good, func(dir, blobs string) {
			file := filepath.Join(blobs, layer(good))
			ok(t, os.Rename(file, filepath.Join(dir, "x")))
			ok(t, os.Symlink(filepath.Join(dir, "x"), file))
		}), "is a symlink"},
		"an index of nonsense": {damage(good, func(dir, _ string) { ok(t, os.WriteFile(filepath.Join(dir, "index.json"), []byte("{"), 0o644)) }), "reading its index"},
		"a saved huge configuration": {write("x", saved(func(name string, b []byte) (string, []byte) {
			if name == config.String() {
				b = make([]byte, maxDocument+1)
			}
			return name, b
		})), "no regular file of at most 8388608 bytes"},
		"a saved layer that is gone": {write("x", saved(func(name string, b []byte) (string, []byte) {
			if strings.HasSuffix(name, ".gz") {
				name = "gone"
			}
			return name, b
		})), "not found in tar"},
		"another saved layer": {write("x", saved(func(name string, b []byte) (string, []byte) {
			if strings.HasSuffix(name, ".gz") {
				b = other
			}
			return name, b
		})), "its content has the digest sha256:"},
		"a registry that shouts": {strings.TrimPrefix(shouting(t), "http://") + "/autoscaler:v1", "NO! REALLY NO!"},
		"no such tag":            {strings.TrimPrefix(serve(t), "http://") + "/autoscaler:v9", "NAME_UNKNOWN"},
	} {
		t.Run(name, func(t *testing.T) { wants(t, c.from, "amd64", "", c.want) })
	}
	wants(t, layoutOf(t, good), "arm64", "", "it is for linux/amd64, and this machine is linux/arm64")
	wants(t, layoutOf(t, good), "amd64", "/ghost", "it has no /ghost; name the program with --path")
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Open(ctx, layoutOf(t, imageOf(t, v1.Config{}, []tar.Header{{Name: "x"}})), "amd64", t.TempDir(), nil)
	wantError(t, err, context.Canceled.Error())
}

// A layer that unpacks to more than it may is given up at the limit.
func TestBomb(t *testing.T) {
	tree, left := newTree(), int64(1<<20)
	bomb := layerOf(t, tarOf(t, strings.Repeat("0", 4<<20), []tar.Header{{Name: "bomb"}}))
	id, err := bomb.DiffID()
	ok(t, err)
	_, err = readLayer(t.Context(), tree, bomb, id, left)
	wantError(t, err, errTooLarge.Error())
	if n, err := readLayer(t.Context(), tree, bomb, id, 5<<20); err != nil || n <= 4<<20 {
		t.Errorf("below the limit: %d, %v", n, err)
	}
}

// shouting is a registry whose errors are many lines.
func shouting(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v2/" {
			return
		}
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "\x1b[31mNO!\nREALLY\x00NO!\n"+strings.Repeat("NO! ", 1000))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func serve(t *testing.T) string {
	s := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(s.Close)
	return s.URL
}

// imageOf is an image for linux/amd64 with a layer for each list of files. What
// is in a file is "layer N: NAME".
func imageOf(t *testing.T, config v1.Config, layers ...[]tar.Header) v1.Image {
	t.Helper()
	im, err := mutate.AppendLayers(empty.Image)
	ok(t, err)
	for i, files := range layers {
		im, err = mutate.AppendLayers(im, layerOf(t, tarOf(t, "layer "+string(rune('0'+i))+": ", files)))
		ok(t, err)
	}
	file, err := im.ConfigFile()
	ok(t, err)
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Config = "linux", "amd64", config
	im, err = mutate.ConfigFile(im, file)
	ok(t, err)
	return im
}

func layerOf(t *testing.T, content []byte) v1.Layer {
	t.Helper()
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil })
	ok(t, err)
	return layer
}

func tarOf(t *testing.T, prefix string, files []tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range files {
		text := ""
		if h.Typeflag == 0 {
			text, h.Typeflag = prefix+h.Name, tar.TypeReg
		}
		h.Size = int64(len(text))
		ok(t, w.WriteHeader(&h))
		_, err := io.WriteString(w, text)
		ok(t, err)
	}
	ok(t, w.Close())
	return b.Bytes()
}

// resaved is what docker save writes of an image, with each file changed.
func resaved(t *testing.T, im v1.Image, change func(string, []byte) (string, []byte)) []byte {
	t.Helper()
	var in, out bytes.Buffer
	ref, err := name.ParseReference("example.com/x:y")
	ok(t, err)
	ok(t, tarball.Write(ref, im, &in))
	r, w := tar.NewReader(&in), tar.NewWriter(&out)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		ok(t, err)
		b, err := io.ReadAll(r)
		ok(t, err)
		if change != nil {
			h.Name, b = change(h.Name, b)
		}
		h.Size = int64(len(b))
		ok(t, w.WriteHeader(h))
		_, err = w.Write(b)
		ok(t, err)
	}
	ok(t, w.Close())
	return out.Bytes()
}

func layoutOf(t *testing.T, im v1.Image) string {
	t.Helper()
	dir := t.TempDir()
	p, err := layout.Write(dir, empty.Index)
	ok(t, err)
	ok(t, p.AppendImage(im))
	return dir
}

func gzipped(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(b)
	ok(t, err)
	ok(t, w.Close())
	return out.Bytes()
}

func read(t *testing.T, im *Image, program string) string {
	t.Helper()
	var b strings.Builder
	ok(t, im.Copy(t.Context(), program, &b))
	return b.String()
}

// wants makes sure that the program at path, or the image's own if that is
// empty, cannot be had, and that one line says why.
func wants(t *testing.T, from, arch, path, why string) {
	t.Helper()
	im, err := Open(t.Context(), from, arch, t.TempDir(), nil)
	if err == nil && path == "" {
		path, err = im.Program()
	}
	if err == nil {
		err = im.Copy(t.Context(), path, io.Discard)
	}
	wantError(t, err, "image "+from, why)
}

func wantError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one about %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
	if strings.ContainsAny(err.Error(), "\n\x00\x1b") || len(err.Error()) > 1000 {
		t.Errorf("error of more than a line of text: %q", err)
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
