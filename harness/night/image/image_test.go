package image_test

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"nodestorm/harness/builds"
	"nodestorm/harness/night/image"
)

// What is in the image, who runs in it, and that it is the same wherever and whenever it is made.
func TestMake(t *testing.T) {
	program := staticProgram(t)
	spec := image.Spec{Program: program, Commit: "c0ffee", Builds: []builds.Target{entry(t, "/a/go")}}
	im := made(t, spec)

	config, err := im.ConfigFile()
	ok(t, err)
	if config.Config.User != "65532:65532" || strings.Join(config.Config.Entrypoint, " ") != "/usr/local/bin/nodestorm" || config.Config.WorkingDir != "/tmp" {
		t.Errorf("it runs %q as %q in %q", config.Config.Entrypoint, config.Config.User, config.Config.WorkingDir)
	}
	if env := strings.Join(config.Config.Env, " "); !strings.Contains(env, "NODESTORM_CACHE=/store") || !strings.Contains(env, "HOME=/tmp") {
		t.Errorf("environment %q", env)
	}
	if config.Config.Labels["org.opencontainers.image.revision"] != "c0ffee" || config.Config.Labels[image.Label] == "" {
		t.Errorf("labels %v", config.Config.Labels)
	}

	files := map[string]*tar.Header{}
	read := tar.NewReader(mutate.Extract(im))
	for {
		h, err := read.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		ok(t, err)
		files[strings.TrimSuffix(h.Name, "/")] = h
		if h.Uid != 0 || h.Gid != 0 || h.Mode&0o022 != 0 && strings.Trim(h.Name, "/") != "tmp" {
			t.Errorf("%s is of user %d with mode %o: who runs in it could change it", h.Name, h.Uid, h.Mode)
		}
		if strings.HasSuffix(h.Name, "manifest.json") {
			text, err := io.ReadAll(read)
			ok(t, err)
			if strings.Contains(string(text), "/a/go") {
				t.Errorf("the manifest has the path of the toolchain: %s", text)
			}
		}
	}
	info, err := os.Stat(program)
	ok(t, err)
	if own := files["usr/local/bin/nodestorm"]; own == nil || own.Size != info.Size() || own.Mode != 0o755 {
		t.Errorf("the program: %+v", own)
	}
	if tmp := files["tmp"]; tmp == nil || tmp.Mode != 0o1777 {
		t.Errorf("/tmp: %+v", tmp)
	}
	if build := files["store/targets/tiny/v1/key/bin/tiny"]; build == nil || build.Mode != 0o755 {
		t.Errorf("the build: %+v", build)
	}
	for _, dir := range []string{"store", "store/targets", "store/targets/tiny/v1/key"} {
		if files[dir] == nil {
			t.Errorf("%s is not in the image, so unpacking has to make it", dir)
		}
	}

	spec.Builds = []builds.Target{entry(t, "/another/go")}
	again := made(t, spec)
	first, err := im.Digest()
	ok(t, err)
	if second, err := again.Digest(); err != nil || second != first {
		t.Errorf("made twice it is %s and %s, %v", first, second, err)
	}
	spec.Builds = nil
	if other, err := made(t, spec).Digest(); err != nil || other == first {
		t.Errorf("without the build it is the same: %s, %v", other, err)
	}
}

func TestSave(t *testing.T) {
	im := made(t, image.Spec{Program: staticProgram(t)})
	file := filepath.Join(t.TempDir(), "image.tar")
	size, err := image.Save(im, image.Name, file)
	ok(t, err)
	if info, err := os.Stat(file); err != nil || info.Size() != size {
		t.Errorf("%d bytes are reported, %v", size, err)
	}
	tag, err := name.NewTag(image.Name)
	ok(t, err)
	saved, err := tarball.ImageFromPath(file, &tag)
	ok(t, err)
	wanted, err := im.ConfigName()
	ok(t, err)
	if config, err := saved.ConfigName(); err != nil || config != wanted {
		t.Errorf("saved is %s, not %s: %v", config, wanted, err)
	}
	if _, err := image.Save(im, "No Tag", file); err == nil || !strings.Contains(err.Error(), "No Tag") {
		t.Errorf("a name that is none: %v", err)
	}
}

// A program that needs a loader would not start in the image.
func TestNotStatic(t *testing.T) {
	sh, err := filepath.EvalSymlinks("/bin/sh")
	ok(t, err)
	if _, err := image.Make(t.Context(), image.Spec{Program: sh}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "CGO_ENABLED=0") {
		t.Errorf("a shell with libraries: %v", err)
	}
	text := filepath.Join(t.TempDir(), "text")
	ok(t, os.WriteFile(text, []byte("#!/bin/sh\n"), 0o700))
	if _, err := image.Make(t.Context(), image.Spec{Program: text}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not a Linux program") {
		t.Errorf("a script: %v", err)
	}
}

func made(t *testing.T, spec image.Spec) v1.Image {
	t.Helper()
	im, err := image.Make(t.Context(), spec, t.TempDir())
	ok(t, err)
	return im
}

// staticProgram is one that needs nothing.
func staticProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	ok(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o600))
	cmd := exec.Command("go", "build", "-o", "program", "main.go")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "program")
}

// entry is one of a store: a build by the toolchain at goroot.
func entry(t *testing.T, goroot string) builds.Target {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "key")
	ok(t, os.MkdirAll(filepath.Join(dir, "bin"), 0o700))
	ok(t, os.WriteFile(filepath.Join(dir, "bin", "tiny"), []byte("tiny"), 0o700))
	ok(t, os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(goroot), 0o600))
	return builds.Target{Dir: dir, Manifest: builds.Manifest{Ref: builds.Ref{Name: "tiny", Version: "v1"}, GOROOT: goroot, OverlayHash: "x", BuiltAt: time.Now()}}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
