package buildstore

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"nodestorm/harness/builds"
)

func TestGetNothing(t *testing.T) {
	s := openStore(t)
	for ref, command := range map[builds.Ref]string{
		{Name: "karpenter", Version: "v1.7.0"}:                               "nodestorm target build karpenter@v1.7.0",
		{Name: "karpenter", Version: "my-branch"}:                            "nodestorm target build karpenter@my-branch --source DIR",
		{Name: "cluster-autoscaler", Version: "1.32.7"}:                      "nodestorm target build cluster-autoscaler@1.32.7 --source https://github.com/kubernetes/autoscaler --ref cluster-autoscaler-1.32.7 --tags CLOUD",
		{Name: "cluster-autoscaler", Version: "1.32.7", Provider: "hetzner"}: "nodestorm target build cluster-autoscaler@1.32.7 --source https://github.com/kubernetes/autoscaler --ref cluster-autoscaler-1.32.7 --tags hetzner",
		{Name: "cluster-autoscaler", Version: "my-branch"}:                   "nodestorm target build cluster-autoscaler@my-branch --source DIR --tags CLOUD",
		{Name: "kubelet-csr-approver", Version: "v1.2.14"}:                   "nodestorm target build kubelet-csr-approver@v1.2.14 --source https://github.com/postfinance/kubelet-csr-approver --ref v1.2.14",
		{Name: "kubernetes", Version: "v1.36.3"}:                             "nodestorm target build kubernetes@v1.36.3",
	} {
		_, err := s.Get(ref)
		missing := (*NotFoundError)(nil)
		if !errors.As(err, &missing) || missing.Command() != command {
			t.Errorf("Get(%s) = %v, want the command %q", ref, err, command)
		}
		wantError(t, err, ref.String(), command)
	}
	if list, err := s.List(); err != nil || len(list) > 0 {
		t.Errorf("List = %v, %v", list, err)
	}
	if err := s.Remove(context.Background(), tiny); !errors.As(err, new(*NotFoundError)) {
		t.Errorf("Remove = %v", err)
	}
}

func TestCorruptEntry(t *testing.T) {
	serveModule(t, tinySource(t))
	s := openStore(t)
	r := Recipe{Ref: tiny, Module: "example.com/tiny", Package: "./cmd"}
	good := build(t, s, r)
	manifest := filepath.Join(good.Dir, manifestFile)
	for name, damage := range map[string]func() error{
		"binary cut off":     func() error { return os.Truncate(good.Binary(), good.Size/2) },
		"binary gone":        func() error { return os.Remove(good.Binary()) },
		"manifest cut off":   func() error { return os.Truncate(manifest, 20) },
		"manifest gone":      func() error { return os.Remove(manifest) },
		"another's manifest": func() error { return os.WriteFile(manifest, []byte(`{"name":"other","version":"v1"}`), 0o644) },
		"one byte of binary": func() error {
			f, err := os.OpenFile(good.Binary(), os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteAt([]byte{0xff}, good.Size-1)
			return errors.Join(err, f.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			ok(t, damage())
			_, err := s.Get(tiny)
			corrupt := (*CorruptError)(nil)
			if !errors.As(err, &corrupt) || corrupt.Dir != good.Dir {
				t.Fatalf("Get = %v", err)
			}
			wantError(t, err, "tiny@v1.0.0", "nodestorm target rm tiny@v1.0.0", "nodestorm target build tiny@v1.0.0")
			if list, err := s.List(); err != nil || len(list) != 1 || list[0].Ref != tiny || list[0].Err == nil {
				t.Errorf("List = %+v, %v", list, err)
			}
			if again := build(t, s, r); again.SHA256 != good.SHA256 || again.Dir != good.Dir {
				t.Errorf("built again: %+v", again)
			}
			if _, err := s.Get(tiny); err != nil {
				t.Errorf("Get after a new build: %v", err)
			}
		})
	}
	ok(t, os.Remove(manifest))
	ok(t, s.Remove(context.Background(), tiny))
	wantEmpty(t, s)
}

// A build that is linked with code of ours stands for today's only.
func TestStaleAdapter(t *testing.T) {
	serveModule(t, tinySource(t))
	s := openStore(t)
	made := build(t, s, Recipe{Ref: tiny, Module: "example.com/tiny", Package: "./cmd"})
	now, err := OnInstances(Recipe{})
	ok(t, err)
	sum, err := now.graft.sum()
	ok(t, err)
	for graft, stale := range map[string]bool{sum: false, "h1:of an older nodestorm": true} {
		made.Manifest.Source.Graft = graft
		text, err := json.Marshal(made.Manifest)
		ok(t, err)
		ok(t, os.WriteFile(filepath.Join(made.Dir, manifestFile), text, 0o600))
		_, err = s.Get(tiny)
		if stale != errors.As(err, new(*StaleError)) || stale && !strings.Contains(err.Error(), "was built with another karpenter adapter (h1:of an old") {
			t.Errorf("%s: Get = %v", graft, err)
		}
	}
}

func TestStaleEntry(t *testing.T) {
	serveModule(t, tinySource(t))
	s := openStore(t)
	r := Recipe{Ref: tiny, Module: "example.com/tiny", Package: "./cmd"}
	old := build(t, s, r)
	for name, overlay := range map[string]OverlayFunc{
		"other clock": overlayOf("clock-2"),
		"no toolchain": func(goroot, _, _ string) (string, string, error) {
			return "", "", fmt.Errorf("no Go in %s", goroot)
		},
	} {
		s.Overlay = overlay
		_, err := s.Get(tiny)
		stale := (*StaleError)(nil)
		if !errors.As(err, &stale) || stale.Command() != "nodestorm target build tiny@v1.0.0 --source DIR" {
			t.Errorf("%s: Get = %v", name, err)
		}
	}
	s.Overlay = overlayOf("clock-2")
	current := build(t, s, r)
	if got, err := s.Get(tiny); err != nil || got.Dir != current.Dir {
		t.Errorf("Get = %s, %v", got.Dir, err)
	}
	// A checkout that has the old clock still finds its own.
	s.Overlay = overlayOf("clock-1")
	if got, err := s.Get(tiny); err != nil || got.Dir != old.Dir {
		t.Errorf("Get with the old clock = %s, %v", got.Dir, err)
	}
	list, err := s.List()
	if err != nil || len(list) != 2 || list[0].Dir != current.Dir || !errors.As(list[0].Err, new(*StaleError)) || list[1].Err != nil {
		t.Errorf("List = %+v, %v", list, err)
	}
}

func TestStoreKeepsFew(t *testing.T) {
	s := openStore(t)
	dir := tinySource(t)
	r := fromFolderRecipe(dir)
	var first, last builds.Target
	for i := range keep + 1 {
		write(t, filepath.Join(dir, "crds", "things.yaml"), fmt.Sprint("kind: Thing", i))
		last = build(t, s, r)
		if i == 0 {
			first = last
		}
	}
	list, err := s.List()
	if err != nil || len(list) != keep || list[0].Dir != last.Dir {
		t.Errorf("List has %d entries, %v", len(list), err)
	}
	if _, err := os.Stat(first.Dir); !os.IsNotExist(err) {
		t.Errorf("the oldest is still there: %v", err)
	}
}

func TestAdd(t *testing.T) {
	s := openStore(t)
	ctx := context.Background()
	program := build(t, s, fromFolderRecipe(tinySource(t))).Binary()
	r := Recipe{Ref: builds.Ref{Name: "mine", Version: "test", Provider: "kwok"}, Dir: tinySource(t), Assets: []string{"crds"}}
	got, err := s.Add(ctx, r, program)
	ok(t, err)
	if out := output(t, got.Binary()); out != "tiny v1.0.0" {
		t.Errorf("it prints %q", out)
	}
	if m := got.Manifest; m.GoVersion != runtime.Version() || m.Source.Kind != builds.FromBinary || m.Source.File != program ||
		m.Source.Module != "example.com/tiny" || m.Source.Package != "example.com/tiny/cmd" || got.Virtual() {
		t.Errorf("manifest: %+v", m)
	}
	if _, err := os.Stat(got.Asset("crds/things.yaml")); err != nil {
		t.Errorf("asset: %v", err)
	}
	if stored, err := s.Get(r.Ref); err != nil || stored.Dir != got.Dir {
		t.Errorf("Get = %v, %v", stored, err)
	}
}

func TestAddRefuses(t *testing.T) {
	s := openStore(t)
	good, err := os.ReadFile(build(t, s, fromFolderRecipe(tinySource(t))).Binary())
	ok(t, err)
	ok(t, s.Remove(context.Background(), tiny))
	// e_type and e_machine are the 16-bit numbers at 16 and 18 of an ELF header.
	with := func(offset int, value uint16) string {
		b := append([]byte{}, good...)
		binary.LittleEndian.PutUint16(b[offset:], value)
		return string(b)
	}
	dir := t.TempDir()
	for name, c := range map[string]struct{ content, want string }{
		"script":        {"#!/bin/sh\nexit 0\n", "not a Linux program"},
		"empty":         {"", "not a Linux program"},
		"other machine": {with(18, uint16(elf.EM_RISCV)), "for another machine: EM_RISCV"},
		"object file":   {with(16, uint16(elf.ET_REL)), "not a program"},
	} {
		file := filepath.Join(dir, name)
		write(t, file, c.content)
		_, err := s.Add(context.Background(), Recipe{Ref: tiny}, file)
		wantError(t, err, "adding tiny@v1.0.0", file, c.want)
	}
	_, err = s.Add(context.Background(), Recipe{Ref: tiny}, filepath.Join(dir, "nowhere"))
	wantError(t, err, "nowhere", "no such file")
	wantEmpty(t, s)
}

func TestOpen(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/cache")
	t.Setenv(EnvCache, "")
	for want, env := range map[string]string{"/cache/nodestorm": "", "/elsewhere": "/elsewhere"} {
		t.Setenv(EnvCache, env)
		if s, err := Open(""); err != nil || s.Dir() != want {
			t.Errorf("Open = %v, %v, want %s", s, err, want)
		}
	}
}

// What is in the store goes with it, and nothing else that is in its folder.
func TestClear(t *testing.T) {
	s := openStore(t)
	build(t, s, fromFolderRecipe(tinySource(t)))
	mine := filepath.Join(s.Dir(), "thesis.txt")
	write(t, mine, "mine")
	ok(t, s.Clear(t.Context()))
	if left, err := filepath.Glob(filepath.Join(s.Dir(), "*")); err != nil || len(left) != 1 || left[0] != mine {
		t.Errorf("left are %q, %v", left, err)
	}
	ok(t, os.Remove(mine))
	ok(t, s.Clear(t.Context()))
	if _, err := os.Stat(s.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the empty folder is there: %v", err)
	}
	ok(t, s.Clear(t.Context()))
}
