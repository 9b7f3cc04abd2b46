package buildstore

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"nodestorm/harness/builds"
)

var tiny = builds.Ref{Name: "tiny", Version: "v1.0.0"}

const tinyMain = `package main

import "fmt"

var version = "none"

func main() { fmt.Print("tiny ", version) }
`

// tinySource is a folder with the smallest module that has all that a recipe
// speaks of: a main package below the root, a variable for the linker, assets.
// Its main package is in no build cache yet.
func tinySource(t *testing.T) string {
	dir := t.TempDir()
	touchSource(t, dir)
	for name, content := range map[string]string{
		"go.mod":           "module example.com/tiny\n\ngo 1.24\n",
		"cmd/main.go":      tinyMain,
		"crds/things.yaml": "kind: Thing\n",
	} {
		write(t, filepath.Join(dir, name), content)
	}
	return dir
}

// touchSource makes sure that the main package has to be compiled.
func touchSource(t *testing.T, dir string) {
	write(t, filepath.Join(dir, "cmd", "new.go"), fmt.Sprintf("package main\n\nconst now = %d\n", time.Now().UnixNano()))
}

func fromFolderRecipe(dir string) Recipe {
	return Recipe{Ref: tiny, Dir: dir, Package: "./cmd", LDFlags: "-X main.version=" + tiny.Version, Assets: []string{"crds"}}
}

// serveModule makes the go command find the module in dir as version v1.0.0 of
// example.com/tiny, and nothing else.
func serveModule(t *testing.T, dir string) {
	newProxy(t).serve("example.com/tiny", "v1.0.0", dir)
}

// proxy is a module proxy in a folder.
type proxy struct {
	t   *testing.T
	dir string
}

// newProxy makes the go command ask it, and no other.
func newProxy(t *testing.T) proxy {
	p := proxy{t, t.TempDir()}
	t.Setenv("GOPROXY", "file://"+p.dir)
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-modcacherw")
	return p
}

// serve puts a module's version into it, which further queries find too.
func (p proxy) serve(path, version, dir string, queries ...string) {
	at := filepath.Join(p.dir, filepath.FromSlash(path), "@v")
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	ok(p.t, err)
	write(p.t, filepath.Join(at, version+".mod"), string(mod))
	for _, query := range append(queries, version) {
		write(p.t, filepath.Join(at, query+".info"), fmt.Sprintf(`{"Version":%q}`, version))
	}
	f, err := os.Create(filepath.Join(at, version+".zip"))
	ok(p.t, err)
	defer f.Close()
	ok(p.t, zip.CreateFromDir(f, module.Version{Path: path, Version: version}, dir))
}

// refuse makes the go command ask a proxy that has nothing.
func refuse(t *testing.T) {
	nothing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(nothing.Close)
	t.Setenv("GOPROXY", nothing.URL)
}

// openStore is an empty store whose clock overlay replaces nothing, so that
// builds are quick.
func openStore(t *testing.T) *Store {
	s, err := Open(t.TempDir())
	ok(t, err)
	s.Overlay = overlayOf("clock-1")
	return s
}

func overlayOf(hash string) OverlayFunc {
	return func(_, _, dir string) (string, string, error) {
		path := filepath.Join(dir, "overlay.json")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", "", err
		}
		return path, hash, os.WriteFile(path, []byte(`{"Replace":{}}`), 0o644)
	}
}

func build(t *testing.T, s *Store, r Recipe) builds.Target {
	t.Helper()
	got, err := s.Build(context.Background(), r, nil)
	ok(t, err)
	return got
}

func output(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command(path).Output()
	ok(t, err)
	return string(out)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	ok(t, os.MkdirAll(filepath.Dir(path), 0o755))
	ok(t, os.WriteFile(path, []byte(content), 0o644))
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantError makes sure that err says each of the words.
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
}

// wantEmpty makes sure that the store has no entry, and nothing half-written.
func wantEmpty(t *testing.T, s *Store) {
	t.Helper()
	for _, pattern := range []string{"targets/*/*/*", "tmp/*"} {
		if left, _ := filepath.Glob(filepath.Join(s.Dir(), pattern)); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	if _, err := s.Get(tiny); !errors.As(err, new(*NotFoundError)) {
		t.Errorf("Get = %v, want not found", err)
	}
}

// The command that gets a build again has words that a stranger's manifest may have said, as words.
func TestRebuildIsOneCommand(t *testing.T) {
	const hostile = "/x;touch${IFS}OWNED $(touch OWNED) 'a'"
	for _, src := range []builds.Source{
		{Kind: builds.FromFolder, Dir: hostile, Package: hostile, Ref: hostile, Tags: []string{hostile}}, {Kind: builds.FromBinary, File: hostile},
		{Kind: builds.FromImage, Image: hostile, File: hostile}, {Kind: builds.FromModule, Image: hostile},
	} {
		command := Rebuild(builds.Target{Manifest: builds.Manifest{Ref: builds.Ref{Name: "x", Version: "v1", Provider: "kwok"}, Source: src}})
		cmd := exec.Command("sh", "-c", `nodestorm() { printf '%s\n' "$@"; }; `+command)
		cmd.Dir = t.TempDir()
		out, err := cmd.CombinedOutput()
		made, _ := os.ReadDir(cmd.Dir)
		if err != nil || len(made) > 0 || !slices.Contains(strings.Split(string(out), "\n"), hostile) {
			t.Errorf("%s: %s, %v; it has made %v", command, out, err, made)
		}
	}
}
