package buildstore

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/builds"
)

// A build for one cloud stands beside those for others.
func TestProviders(t *testing.T) {
	s := openStore(t)
	dir := tinySource(t)
	for _, tag := range []string{"here", "there"} {
		write(t, filepath.Join(dir, "cmd", tag+".go"), "//go:build "+tag+"\n\npackage main\n\nfunc init() { version = \""+tag+"\" }\n")
	}
	for _, tag := range []string{"here", "there"} {
		r := fromFolderRecipe(dir)
		r.LDFlags, r.Provider, r.Tags = "", tag, []string{tag}
		build(t, s, r)
	}
	for provider, want := range map[string]string{"here": "tiny here", "there": "tiny there", "": "tiny there"} {
		ref := tiny
		ref.Provider = provider
		got, err := s.Get(ref)
		ok(t, err)
		if out := output(t, got.Binary()); out != want {
			t.Errorf("for %q: %q, want %q", provider, out, want)
		}
	}
	elsewhere := tiny
	elsewhere.Provider = "elsewhere"
	_, err := s.Get(elsewhere)
	wantError(t, err, "tiny@v1.0.0 for elsewhere is not in the store, only for here, there", "nodestorm target build tiny@v1.0.0 --source DIR --tags elsewhere")

	// One that serves all clouds serves each.
	all := build(t, s, fromFolderRecipe(dir))
	if got, err := s.Get(elsewhere); err != nil || got.Dir != all.Dir {
		t.Errorf("for all: %s, %v", got.Dir, err)
	}
}

func TestPruneByProvider(t *testing.T) {
	s := openStore(t)
	for provider, count := range map[string]int{"here": keep + 2, "there": 1, "": 2} {
		for i := range count {
			dir := filepath.Join(s.refDir(tiny), keyOf(provider, provider, i))
			write(t, filepath.Join(dir, manifestFile), "{}")
		}
	}
	tmp := t.TempDir()
	ok(t, s.prune(tiny, tmp))
	keys, err := s.keys(tiny)
	if gone, _ := os.ReadDir(tmp); err != nil || len(keys) != keep+1+2 || len(gone) != 2 {
		t.Errorf("%d stay, %d go, %v", len(keys), len(gone), err)
	}
}

func TestCheckout(t *testing.T) {
	s := openStore(t)
	program := tinySource(t)
	write(t, filepath.Join(program, "version", "version.go"), "package version\n\n// Version is this release's.\nconst TinyVersion = \"1.0.0\"\n")
	write(t, filepath.Join(program, "cmd", "cloud.go"), "// Some licence.\n\n//go:build (linux && cloud) || !other\n\npackage main\n")
	repository := t.TempDir()
	ok(t, os.Rename(program, filepath.Join(repository, "tiny")))

	// A repository that holds the program in a folder of its name will do.
	r := fromFolderRecipe(repository)
	r.Tags = []string{"cloud"}
	got := build(t, s, r)
	if src := got.Source; src.Dir != filepath.Join(repository, "tiny") || src.Workspace != "" {
		t.Errorf("source: %+v", src)
	}
	// So will one with a go.work, and the manifest says so.
	workspace := filepath.Join(repository, "go.work")
	write(t, workspace, "go 1.24\n\nuse ./tiny\n")
	if got := build(t, s, r); got.Source.Workspace != workspace {
		t.Errorf("workspace: %+v", got.Source)
	}
	ok(t, s.Remove(context.Background(), tiny))

	for name, c := range map[string]struct {
		change func(*Recipe)
		want   []string
	}{
		"nothing there":   {func(r *Recipe) { r.Dir = t.TempDir() }, []string{"no checkout of a Go program", "no go.mod in it, in its folder tiny, or above it"}},
		"a file":          {func(r *Recipe) { r.Dir = workspace }, []string{"is not a folder"}},
		"another release": {func(r *Recipe) { r.Version = "v1.0.1" }, []string{"its version/version.go says 1.0.0: build it as tiny@1.0.0", "tiny@v1.0.1-mine"}},
		"unknown tag":     {func(r *Recipe) { r.Tags = []string{"cloud", "clowd"} }, []string{`has the build tag "clowd"; the tags there are cloud, linux, other`}},
		"a path":          {func(r *Recipe) { r.Provider = "../x" }, []string{`"../x" names no provider`}},
	} {
		r := r
		c.change(&r)
		_, err := s.Build(context.Background(), r, nil)
		wantError(t, err, c.want...)
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: several lines: %v", name, err)
		}
		wantEmpty(t, s)
	}
	for _, own := range []string{"main", "v1.0.0-mine", "1.0"} {
		r := r
		r.Version = own
		if err := checkVersion(r.Ref, filepath.Join(repository, "tiny")); err != nil {
			t.Errorf("%s: %v", own, err)
		}
	}
}

// A source that says which Kubernetes it needs does not say by that which release it is.
func TestStatedVersion(t *testing.T) {
	for text, want := range map[string]string{
		`const ClusterAutoscalerVersion = "1.36.1"`:                                                         "1.36.1",
		`const MinimumKubernetesVersion = "v1.20.0"`:                                                        "",
		"const (\n\tVersion = \"v1.12.0\"\n\tMinVersion = \"v1.1.0\"\n\tKubernetesVersion = \"v1.36.3\"\n)": "v1.12.0",
		"var gitMajor string":  "",
		"const Version = 1 + ": "",
	} {
		file := filepath.Join(t.TempDir(), "version.go")
		write(t, file, "package version\n\n"+text+"\n")
		if got := statedVersion(file); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A module can have another in one of its folders; both come from one commit.
func TestNestedModule(t *testing.T) {
	const commit, version = "0123456789ab", "v0.0.0-20260102030405-0123456789ab"
	inner, outer := t.TempDir(), tinySource(t)
	write(t, filepath.Join(inner, "go.mod"), "module example.com/tiny/apis\n\ngo 1.24\n")
	write(t, filepath.Join(inner, "apis.go"), "package apis\n\nconst Version = \"nested\"\n")
	write(t, filepath.Join(outer, "go.mod"), "module example.com/tiny\n\ngo 1.24\n\nrequire example.com/tiny/apis v0.0.0\n\nreplace example.com/tiny/apis => ./apis\n")
	write(t, filepath.Join(outer, "cmd", "nested.go"), "package main\n\nimport \"example.com/tiny/apis\"\n\nfunc init() { version = apis.Version }\n")
	proxy := newProxy(t)
	proxy.serve("example.com/tiny", version, outer, "tiny-1.0.0")
	proxy.serve("example.com/tiny/apis", version, inner, commit)

	s := openStore(t)
	got := build(t, s, Recipe{Ref: tiny, Module: "example.com/tiny", Query: "tiny-1.0.0", Package: "./cmd"})
	if out := output(t, got.Binary()); out != "tiny nested" {
		t.Errorf("it prints %q", out)
	}
	if src := got.Source; src.Kind != builds.FromModule || src.Version != version || len(strings.Fields(src.Sum)) != 2 {
		t.Errorf("source: %+v", src)
	}
}

// A proxy need not have all that a source needs.
func TestModulesMissing(t *testing.T) {
	newProxy(t)
	s := openStore(t)
	r := fromFolderRecipe(tinySource(t))
	write(t, filepath.Join(r.Dir, "go.mod"), "module example.com/tiny\n\ngo 1.24\n\nrequire example.com/other v1.2.3\n")
	sum := "h1:" + base64.StdEncoding.EncodeToString(make([]byte, 32)) + "\n"
	write(t, filepath.Join(r.Dir, "go.sum"), "example.com/other v1.2.3 "+sum+"example.com/other v1.2.3/go.mod "+sum)
	write(t, filepath.Join(r.Dir, "cmd", "other.go"), "package main\n\nimport _ \"example.com/other\"\n")
	refuse(t)
	_, err := s.Build(context.Background(), r, nil)
	wantError(t, err, "the module proxy does not serve example.com/other@v1.2.3", "go.work")

	_, err = s.Build(context.Background(), Recipe{Ref: tiny, Module: "example.com/nowhere"}, nil)
	wantError(t, err, "downloading example.com/nowhere@v1.0.0: the module proxy does not serve it (404 Not Found)", "other ways in are --source DIR", "--image")
	for _, line := range strings.Split(err.Error(), "\n")[1:] {
		t.Errorf("a further line: %s", line)
	}
	wantEmpty(t, s)
}

// Of a release that there is not the nearest ones are named, and not what a server said.
func TestNearestReleases(t *testing.T) {
	newProxy(t)
	serves := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/example.com/tiny/@v/list") {
			fmt.Fprintln(w, "v1.6.4\nv1.0.0\nv1.10.0\nv1.9.0\nv1.7.0")
			return
		}
		switch filepath.Base(r.URL.Path) { // the newest is asked what its author takes back
		case "v1.10.0.info":
			fmt.Fprintln(w, `{"Version":"v1.10.0"}`)
		case "v1.10.0.mod":
			fmt.Fprintln(w, "module example.com/tiny")
		default:
			http.Error(w, "no", http.StatusForbidden)
		}
	}))
	t.Cleanup(serves.Close)
	t.Setenv("GOPROXY", serves.URL)
	s := openStore(t)
	_, err := s.Build(context.Background(), Recipe{Ref: builds.Ref{Name: "tiny", Version: "v1.7.9"}, Module: "example.com/tiny"}, nil)
	wantError(t, err, "there is no example.com/tiny@v1.7.9 that the module proxy serves; the nearest: v1.6.4, v1.7.0, v1.9.0, v1.10.0")
	if strings.Contains(err.Error(), "403") {
		t.Error(err)
	}
	_, err = s.Build(context.Background(), Recipe{Ref: builds.Ref{Name: "tiny", Version: "v1.7.9"}, Module: "example.com/tiny", Query: "a-branch"}, nil)
	wantError(t, err, "the module proxy does not serve it (403 Forbidden)")
}
