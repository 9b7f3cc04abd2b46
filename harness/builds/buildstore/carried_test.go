package buildstore

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/builds"
)

// A release for the cloud of instances is got by the same command where there is no checkout to build it from.
func TestCommandWithoutCheckout(t *testing.T) {
	t.Setenv(EnvRoot, t.TempDir())
	err := &NotFoundError{Ref: builds.Ref{Name: "karpenter", Version: "v1.0.6", Provider: builds.Instances}}
	if got, want := err.Command(), "nodestorm target build karpenter@v1.0.6 --provider instances"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// What a nodestorm carries that runs outside of a checkout is the source that a checkout has.
func TestCarried(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "carried"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := carriedIn(os.DirFS(dir), os.ErrNotExist); err != os.ErrNotExist { //nolint:errorlint // it is this one
		t.Errorf("with nothing in it: %v", err)
	}
	packed := filepath.Join(dir, "carried", "karpenter.zip")
	if out, err := exec.CommandContext(t.Context(), "make", "-s", "-C", root, "carried", "CARRIED="+packed).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	source, err := carriedIn(os.DirFS(dir), os.ErrNotExist)
	if err != nil {
		t.Fatal(err)
	}
	there, err := adapterSource()
	if err != nil {
		t.Fatal(err)
	}
	names, err := (&graft{source: source}).files()
	sum, wrong := (&graft{source: source}).sum()
	want, broken := (&graft{source: there}).sum()
	switch {
	case err != nil || wrong != nil || broken != nil:
		t.Fatal(err, wrong, broken)
	case sum != want:
		t.Errorf("it carries %s, and the checkout has %s; uncommitted changes are not carried", strings.Join(names, ", "), want)
	}
}
