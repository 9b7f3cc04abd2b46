package envtestfolder_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "sigs.k8s.io/controller-runtime/pkg/envtest"

	"nodestorm/harness/cmd/nodestorm/envtestfolder"
)

// The folder that envtest makes is gone where the user has no folder for caches, unless something is in it.
func TestRemove(t *testing.T) {
	for name, test := range map[string]struct {
		cached, used, stays bool
	}{"no caches": {}, "no caches, in use": {used: true, stays: true}, "caches": {cached: true, stays: true}} {
		t.Run(name, func(t *testing.T) {
			home, temporary := t.TempDir(), t.TempDir()
			t.Setenv("XDG_CACHE_HOME", home)
			t.Setenv("TMPDIR", temporary)
			folder := filepath.Join(temporary, "kubebuilder-envtest")
			make := []string{folder}
			if test.cached {
				make = append(make, filepath.Join(home, "kubebuilder-envtest"))
			}
			if test.used {
				make = append(make, filepath.Join(folder, "8080"))
			}
			for _, dir := range make {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			envtestfolder.Remove()
			if _, err := os.Stat(folder); (err == nil) != test.stays {
				t.Errorf("stays: %v, want %v", err == nil, test.stays)
			}
		})
	}
}

// A program with envtest in it, as this test is, says which folders it cannot write to, where envtest alone would panic.
func TestNoFolder(t *testing.T) {
	for name, test := range map[string]struct {
		caches, temporary string
		want              int
	}{
		"none":           {"/proc/none", "/proc/none", 2},
		"caches alone":   {t.TempDir(), "/proc/none", 0},
		"temporary one":  {"/proc/none", t.TempDir(), 0},
		"no home at all": {"", t.TempDir(), 0},
		"nothing":        {"", "/proc/none", 2},
	} {
		t.Run(name, func(t *testing.T) {
			command := exec.Command(os.Args[0], "-test.run=^$")
			command.Env = []string{"TMPDIR=" + test.temporary}
			if test.caches != "" {
				command.Env = append(command.Env, "XDG_CACHE_HOME="+test.caches)
			}
			out, _ := command.CombinedOutput()
			if got := command.ProcessState.ExitCode(); got != test.want {
				t.Errorf("exit status %d, want %d:\n%s", got, test.want, out)
			}
			if text := string(out); test.want != 0 && (strings.Contains(text, "panic") || !strings.Contains(text, "TMPDIR=FOLDER")) {
				t.Errorf("it says:\n%s", text)
			}
		})
	}
}
