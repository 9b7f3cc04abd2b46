package clock

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"nodestorm/sim/time/clock/overlay"
)

// programs is where the programs of testdata are, built with the overlay once
// for all tests.
var programs = sync.OnceValues(func() (dir string, err error) {
	goroot, err := goEnv("GOROOT")
	if err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp("", "nodestorm-clock-test-"); err != nil {
		return "", err
	}
	overlay, _, err := overlay.Write(goroot, runtime.GOARCH, filepath.Join(dir, "overlay"))
	if err != nil {
		return dir, err
	}
	// The check would forbid actor to name a function of package runtime.
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-checklinkname=0", "-overlay", overlay, "-o", dir, "./testdata/actor", "./testdata/pinger")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("building testdata with the overlay: %w\n%s", err, out)
	}
	return dir, nil
})

var (
	built bool
	plain string // folder of programs without it, "" if there are none
)

func TestMain(m *testing.M) {
	code := m.Run()
	if built {
		if dir, _ := programs(); dir != "" {
			_ = os.RemoveAll(dir)
		}
	}
	if plain != "" {
		_ = os.RemoveAll(plain)
	}
	os.Exit(code)
}

// program is the path of a program of testdata.
func program(t *testing.T, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skipf("building testdata/%s with an edited standard library takes half a minute, once: not with -short", name)
	}
	if !overlay.Supported(runtime.GOOS, runtime.GOARCH) {
		t.Skipf("virtual time needs linux on amd64 or arm64; this is %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	built = true
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

func goEnv(name string) (string, error) {
	out, err := exec.Command("go", "env", name).Output()
	return strings.TrimSpace(string(out)), err
}
