package target

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func TestAddImage(t *testing.T) {
	s := openStore(t)
	ctx := context.Background()
	program, err := os.ReadFile(build(t, s, fromFolderRecipe(tinySource(t))).Binary())
	ok(t, err)
	ok(t, s.Remove(ctx, tiny))
	dir := imageWith(t, map[string][]byte{"app/tiny": program, "app/script": []byte("#!/bin/sh\n")}, "/app/tiny", "--flag")

	var last Update
	got, err := s.AddImage(ctx, Recipe{Ref: tiny}, dir, "", false, func(u Update) { last = u })
	ok(t, err)
	if out := output(t, got.Binary()); out != "tiny v1.0.0" {
		t.Errorf("it prints %q", out)
	}
	if src := got.Source; src.Kind != FromImage || src.Image != dir || src.File != "/app/tiny" || !strings.HasPrefix(src.Digest, "sha256:") ||
		src.Module != "example.com/tiny" || got.GoVersion != runtime.Version() || got.Virtual() {
		t.Errorf("manifest: %+v", got.Manifest)
	}
	if last.Stage != Unpacking || last.Total != 1 || last.Package != dir {
		t.Errorf("last update: %+v", last)
	}
	if again, err := s.AddImage(ctx, Recipe{Ref: tiny}, dir, "/app/../app/tiny", false, nil); err != nil || again.SHA256 != got.SHA256 {
		t.Errorf("by its path: %v, %v", again, err)
	}
	ok(t, os.Truncate(got.Binary(), 10))
	_, err = s.Get(tiny)
	wantError(t, err, "damaged", "nodestorm target rm")
	ok(t, s.Remove(ctx, tiny))

	for path, want := range map[string]string{
		"/app/script": "/app/script is no Linux program",
		"/app":        "it has no /app",
		"/app/ghost":  "it has no /app/ghost",
	} {
		_, err := s.AddImage(ctx, Recipe{Ref: tiny}, dir, path, false, nil)
		wantError(t, err, "adding tiny@v1.0.0", want)
	}
	_, err = s.AddImage(ctx, Recipe{Ref: tiny}, filepath.Join(dir, "nowhere"), "", false, nil)
	wantError(t, err, "adding tiny@v1.0.0", "no such file")
	wantEmpty(t, s)
}

// imageWith is the OCI layout of an image for this machine with these files.
func imageWith(t *testing.T, files map[string][]byte, entrypoint ...string) string {
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
	config.OS, config.Architecture, config.Config = "linux", runtime.GOARCH, v1.Config{Entrypoint: entrypoint}
	im, err = mutate.ConfigFile(im, config)
	ok(t, err)
	dir := t.TempDir()
	p, err := layout.Write(dir, empty.Index)
	ok(t, err)
	ok(t, p.AppendImage(im))
	return dir
}
