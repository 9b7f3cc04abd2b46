package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The folder that envtest makes is gone where the user has no folder for caches, unless something is in it.
func TestRemoveEnvtestFolder(t *testing.T) {
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
			removeEnvtestFolder()
			if _, err := os.Stat(folder); (err == nil) != test.stays {
				t.Errorf("stays: %v, want %v", err == nil, test.stays)
			}
		})
	}
}
