package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

var tiny = Ref{Name: "tiny", Version: "v1.0.0"}

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
	proxy := t.TempDir()
	at := filepath.Join(proxy, "example.com", "tiny", "@v")
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	ok(t, err)
	write(t, filepath.Join(at, "v1.0.0.mod"), string(mod))
	write(t, filepath.Join(at, "v1.0.0.info"), `{"Version":"v1.0.0"}`)
	f, err := os.Create(filepath.Join(at, "v1.0.0.zip"))
	ok(t, err)
	defer f.Close()
	ok(t, zip.CreateFromDir(f, module.Version{Path: "example.com/tiny", Version: "v1.0.0"}, dir))
	t.Setenv("GOPROXY", "file://"+proxy)
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-modcacherw")
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

func build(t *testing.T, s *Store, r Recipe) Target {
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
