// Package envtestfolder keeps envtest's own start from ending ours. The package of envtest makes a folder for the ports of
// control planes when it is linked, which nodestorm starts itself, and panics if it can make it in none of two places.
//
// Go initializes packages by their import path as soon as what they import is ready. So this one, which imports little and
// has the earlier path, checks both places before envtest does.
package envtestfolder

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const name = "kubebuilder-envtest"

func init() {
	if status := check(os.Stderr); status != 0 {
		os.Exit(status)
	}
}

// check makes the folder where envtest would. It returns the exit status of the program if that is not possible, which is that of
// a wrong use (2, as package exit has it: which is not imported, so that little is linked before this), and otherwise 0.
func check(stderr io.Writer) int {
	caches, err := os.UserCacheDir()
	if err == nil {
		err = os.MkdirAll(filepath.Join(caches, name), 0o750)
	}
	if err == nil {
		return 0
	}
	temporary := os.MkdirAll(filepath.Join(os.TempDir(), name), 0o750)
	// mutant: envtest may panic
	if temporary == nil {
		return 0
	}
	_, _ = fmt.Fprintf(stderr, "nodestorm: it can write neither to the user's caches (%v) nor to the folder for temporary files (%v); "+
		"name a folder that it can write to: TMPDIR=FOLDER\n", err, temporary)
	return 2
}

// Remove removes the folder from where temporary files are, where it was made because the user has no folder for caches.
func Remove() {
	if caches, err := os.UserCacheDir(); err == nil {
		if _, err := os.Stat(filepath.Join(caches, name)); err == nil {
			return // it is there
		}
	}
	_ = os.Remove(filepath.Join(os.TempDir(), name)) // an error if there is none, or others have something in it
}
