package buildstore

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"nodestorm/harness/builds"
)

// All that stands beside a program is as it was when the program came, or the build is damaged.
func TestWhatStandsBeside(t *testing.T) {
	s := openStore(t)
	r := fromFolderRecipe(tinySource(t))
	r.Faces = []string{"face"}
	good := build(t, s, r)
	if good.Assets == "" {
		t.Fatal("what stands beside the program has no digest")
	}
	things, face := good.Asset("crds/things.yaml"), filepath.Join(good.Bin(), "face")
	for name, damage := range map[string]func() error{
		"another text":          func() error { return os.WriteFile(things, []byte("kind: Thing2\n"), 0o644) },
		"a file less":           func() error { return os.Remove(things) },
		"a file more":           func() error { return os.WriteFile(good.Asset("crds/more.yaml"), nil, 0o644) },
		"a program more":        func() error { return os.WriteFile(filepath.Join(good.Bin(), "kubectl"), nil, 0o755) },
		"another name":          func() error { return os.Rename(things, good.Asset("crds/other.yaml")) },
		"a face that is a file": func() error { return errors.Join(os.Remove(face), os.WriteFile(face, []byte("tiny"), 0o755)) },
		"another link":          func() error { return errors.Join(os.Remove(face), os.Symlink("/bin/true", face)) },
		"a link for a file":     func() error { return errors.Join(os.Remove(things), os.Symlink("/etc/hostname", things)) },
	} {
		t.Run(name, func(t *testing.T) {
			ok(t, damage())
			_, err := s.Get(tiny)
			wantError(t, err, "tiny@v1.0.0 is damaged in the store", "what stands beside its program", "nodestorm target rm tiny@v1.0.0")
			if err := Verify(good); !errors.As(err, new(*CorruptError)) {
				t.Errorf("in use: %v", err)
			}
			ok(t, s.Remove(t.Context(), tiny))
			if again := build(t, s, r); again.Assets != good.Assets {
				t.Errorf("built again: %s, and was %s", again.Assets, good.Assets)
			}
			ok(t, Verify(good))
		})
	}
}

// A build from before there was such a digest is none to rely on. It is mended without compiling, with what its source
// has. One that has nothing but its program is as good as ever.
func TestBuildsOfBefore(t *testing.T) {
	source := tinySource(t)
	serveModule(t, source)
	s := openStore(t)
	r := Recipe{Ref: tiny, Module: "example.com/tiny", Package: "./cmd", Assets: []string{"crds"}}
	made := build(t, s, r)
	before := func(of builds.Target) {
		t.Helper()
		of.Manifest.Assets = ""
		text, err := json.Marshal(of.Manifest)
		ok(t, err)
		ok(t, os.WriteFile(filepath.Join(of.Dir, manifestFile), text, 0o600))
	}
	before(made)
	write(t, made.Asset("crds/things.yaml"), "kind: Changed\n")
	_, err := s.Get(tiny)
	stale := (*StaleError)(nil)
	if !errors.As(err, &stale) || !stale.Unsealed {
		t.Fatalf("Get = %v", err)
	}
	wantError(t, err, "tiny@v1.0.0 was built before what stands beside its program had a digest", "without compiling it", "nodestorm target build tiny@v1.0.0")
	write(t, filepath.Join(made.Dir, "bin", "mark"), "") // goes with the entry that is replaced
	t.Setenv("GOFLAGS", "-buildvcs=false")               // of which the build of before knew nothing
	var stages []Stage
	mended, err := s.Build(t.Context(), r, func(u Update) { stages = append(stages, u.Stage) })
	ok(t, err)
	for _, stage := range stages {
		if stage == Compiling || stage == Linking {
			t.Errorf("it is compiled: %v", stages)
		}
	}
	text, err := os.ReadFile(mended.Asset("crds/things.yaml"))
	if err != nil || string(text) != "kind: Thing\n" || mended.Assets != made.Assets || mended.SHA256 != made.SHA256 || mended.Dir != made.Dir {
		t.Errorf("mended: %q, %v, %+v", text, err, mended.Manifest)
	}
	if got, err := s.Get(tiny); err != nil || got.Assets != made.Assets {
		t.Errorf("Get = %+v, %v", got, err)
	}

	ok(t, s.Remove(t.Context(), tiny))
	r.Assets, r.Faces = nil, []string{"face"} // links to the program that has a digest
	bare := build(t, s, r)
	before(bare)
	if got, err := s.Get(tiny); err != nil || got.Assets != bare.Assets || got.Assets == "" {
		t.Errorf("Get = %+v, %v", got, err)
	}
	write(t, bare.Asset("crds/things.yaml"), "")
	if _, err := s.Get(tiny); !errors.As(err, &stale) {
		t.Errorf("Get = %v", err)
	}
}
