package overlay

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// toolchain copies what the overlay reads of the real GOROOT to a folder of its own.
func toolchain(t *testing.T) string {
	t.Helper()
	goroot, err := goEnv("GOROOT")
	if err != nil {
		t.Fatal(err)
	}
	files := []string{"VERSION"}
	for _, e := range append(editsAMD64, edits...) {
		files = append(files, "src/"+e.file)
	}
	dir := t.TempDir()
	for _, name := range files {
		b, err := os.ReadFile(filepath.Join(goroot, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOverlayHash(t *testing.T) {
	goroot := toolchain(t)
	write := func(goroot, goarch string) string {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "overlay")
		path, hash, err := Write(goroot, goarch, dir)
		if err != nil {
			t.Fatal(err)
		}
		if path != filepath.Join(dir, "overlay.json") {
			t.Errorf("overlay at %s, want it in %s", path, dir)
		}
		return hash
	}
	hash := write(goroot, "amd64")
	if again := write(goroot, "amd64"); again != hash {
		t.Errorf("hash %s in one folder, %s in another", hash, again)
	}
	if other := write(toolchain(t), "amd64"); other != hash {
		t.Errorf("hash %s for one copy of the toolchain, %s for another", hash, other)
	}
	if arm := write(goroot, "arm64"); arm == hash {
		t.Error("amd64 and arm64 have the same hash")
	}
	change(t, filepath.Join(goroot, "src/runtime/sema.go"), "package runtime", "package runtime // changed")
	if changed := write(goroot, "amd64"); changed == hash {
		t.Error("another source has the same hash")
	}
}

// A release that the edits were not written for is refused though all of them fit.
func TestOverlayOfAnotherRelease(t *testing.T) {
	for _, release := range []string{"go1.25.9", "go1.27.0", "go1.27", "go1.26rc1", "go1.260.1", "devel go1.27-abc", "go1.26.8-mine", "go2.26", ""} {
		goroot, dir := toolchain(t), filepath.Join(t.TempDir(), "overlay")
		if err := os.WriteFile(filepath.Join(goroot, "VERSION"), []byte(release+"\ntime 2030-01-01T00:00:00Z\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, _, err := Write(goroot, "amd64", dir)
		if err == nil || !strings.Contains(err.Error(), "not written for "+release) || !strings.Contains(err.Error(), "use Go 1.26.x, or --clock real") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v", release, err)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%q: an overlay is there (%v)", release, err)
		}
	}
}

// A toolchain of the right release that somebody has changed is refused as well.
func TestOverlayOfAnotherToolchain(t *testing.T) {
	for _, tt := range []struct {
		what, goarch string
		spoil        func(t *testing.T, goroot string)
		want         []string // all in the error
	}{
		{"a place has changed", "arm64", func(t *testing.T, goroot string) {
			change(t, filepath.Join(goroot, "src/runtime/netpoll_epoll.go"), "linux.EpollWait(epfd,", "linux.EpollWait2(epfd,")
		}, []string{"go1.26.99", "runtime/netpoll_epoll.go", "--clock real"}},
		{"a place is there twice", "amd64", func(t *testing.T, goroot string) {
			change(t, filepath.Join(goroot, "src/runtime/timestub.go"), "sec, nsec = walltime()", "sec, nsec = walltime(); sec, nsec = walltime()")
		}, []string{"go1.26.99", "runtime/timestub.go", "2 places instead of 1"}},
		{"a file is missing", "amd64", func(t *testing.T, goroot string) {
			if err := os.Remove(filepath.Join(goroot, "src/runtime/timeasm.go")); err != nil {
				t.Fatal(err)
			}
		}, []string{"go1.26.99", "runtime/timeasm.go", "--clock real"}},
		{"an architecture that it does not know", "riscv64", func(*testing.T, string) {}, []string{"linux/riscv64", "linux/arm64", "--clock real"}},
		{"no toolchain", "amd64", func(t *testing.T, goroot string) {
			if err := os.RemoveAll(goroot); err != nil {
				t.Fatal(err)
			}
		}, []string{"the Go toolchain at /"}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			goroot, dir := toolchain(t), filepath.Join(t.TempDir(), "overlay")
			if err := os.WriteFile(filepath.Join(goroot, "VERSION"), []byte("go1.26.99\ntime 2030-01-01T00:00:00Z\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			tt.spoil(t, goroot)
			_, _, err := Write(goroot, tt.goarch, dir)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not name %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q is not one line", err)
			}
			// Nothing half-written that a build could take.
			if _, err := os.Stat(filepath.Join(dir, "overlay.json")); !os.IsNotExist(err) {
				t.Errorf("overlay.json is there (%v)", err)
			}
		})
	}
}

// Both architectures' overlays compile: the one that the tests don't run on, too.
func TestOverlayCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("compiling package runtime for linux/amd64 and linux/arm64 takes half a minute, once: not with -short")
	}
	goroot, err := goEnv("GOROOT")
	if err != nil {
		t.Fatal(err)
	}
	for _, goarch := range []string{"amd64", "arm64"} {
		overlay, _, err := Write(goroot, goarch, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "build", "-trimpath", "-overlay", overlay, "runtime", "net")
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+goarch, "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("linux/%s: %v\n%s", goarch, err, out)
		}
	}
}

func change(t *testing.T, file, old, new string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(b), old, new, 1)
	if changed == string(b) {
		t.Fatalf("%s does not hold %q", file, old)
	}
	if err := os.WriteFile(file, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
}

func goEnv(name string) (string, error) {
	out, err := exec.Command("go", "env", name).Output()
	return strings.TrimSpace(string(out)), err
}
