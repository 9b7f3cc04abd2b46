package buildstore

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"nodestorm/harness/builds"
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
	if src := got.Source; src.Kind != builds.FromImage || src.Image != dir || src.File != "/app/tiny" || !strings.HasPrefix(src.Digest, "sha256:") ||
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
		"/app/script": "/app/script is not a Linux program",
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
	dir := t.TempDir()
	p, err := layout.Write(dir, empty.Index)
	ok(t, err)
	ok(t, p.AppendImage(imageOf(t, runtime.GOARCH, files, entrypoint...)))
	return dir
}
