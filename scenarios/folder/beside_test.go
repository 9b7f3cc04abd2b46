package folder

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/scenarios"
)

// A file that a step names is read as features are, and is no record.
func TestFilesBesideFeatures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mine")
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	feature := func(file string) string {
		return "Feature: f\n  Scenario: " + file + "\n    Given a cluster\n    And these objects from the file \"" + file + "\"\n    Then the Node \"a\" is Ready within 1m\n"
	}
	write("sub/good.feature", feature("patch.yaml"))
	write("sub/patch.yaml", "spec: {replicas: 2}\n") // would be a record, and a bad one
	f := Read(dir)
	if len(f.Problems) > 0 {
		t.Fatalf("problems: %v", f.Problems)
	}
	c := scenarios.Empty()
	if err := c.Add(f.Own); err != nil {
		t.Fatal(err)
	}
	for what, files := range map[string]fs.FS{"folder": f.Files(), "catalogue": c.Features()} {
		if text, err := fs.ReadFile(files, "mine/sub/patch.yaml"); err != nil || string(text) != "spec: {replicas: 2}\n" {
			t.Errorf("%s: %q, %v", what, text, err)
		}
	}

	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "outside.yaml"), []byte("a: b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../outside.yaml", filepath.Join(dir, "sub", "link.yaml")); err != nil {
		t.Fatal(err)
	}
	write("sub/large.yaml", strings.Repeat("#", maxFileSize+1))
	for file, want := range map[string]string{
		"none.yaml":             "no such file",
		"../../outside.yaml":    "is not in the folder",
		"/etc/passwd":           "is not in the folder",
		"link.yaml":             "leads out of the folder",
		"large.yaml":            "more than 1 MiB",
		"../sub/../sub/lo.yaml": "no such file",
	} {
		write("sub/good.feature", feature(file))
		f := Read(dir)
		found := false
		for _, p := range f.Problems {
			found = found || strings.HasSuffix(p.File, "good.feature") && p.Line == 4 && strings.Contains(p.Text, want)
		}
		if !found {
			t.Errorf("%s: %v, want %q at line 4", file, f.Problems, want)
		}
	}
}
