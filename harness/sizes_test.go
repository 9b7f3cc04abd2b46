package harness_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// What the rooms may hold, tests and generated files left out. What outgrows it has a second job, which wants a
// package of its own. Functions and lines are measured by golangci-lint.
const (
	mostFolders   = 12   // directly in harness
	mostLines     = 3500 // of a package
	largeLines    = 3000 // more than that is large
	mostLarge     = 3    // packages
	mostFileLines = 400
)

// TestSizes keeps the rooms as few and as small as ARCHITECTURE.md has them.
func TestSizes(t *testing.T) {
	files, err := linesOf(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	if files["harness/world/world.go"] == 0 || files["sim/fault/fault.go"] == 0 {
		t.Fatalf("files of this module are missing among the %d that were counted", len(files))
	}
	for _, wrong := range tooLarge(files) {
		t.Error(wrong)
	}
}

func TestTooLarge(t *testing.T) {
	files := func(more ...any) map[string]int {
		all := map[string]int{}
		for i := 0; i < len(more); i += 2 {
			all[more[i].(string)] = more[i+1].(int)
		}
		return all
	}
	package3001 := func(name string) map[string]int {
		all := map[string]int{}
		for i := range 10 {
			all[fmt.Sprintf("%s/%d.go", name, i)] = 300
		}
		all[name+"/more.go"] = 1
		return all
	}
	four, twelve := map[string]int{}, map[string]int{}
	for i := range 4 {
		maps.Copy(four, package3001(fmt.Sprintf("sim/p%d", i)))
	}
	for i := range mostFolders {
		twelve[fmt.Sprintf("harness/room%d/doc.go", i)] = 1
	}
	for _, test := range []struct {
		files map[string]int
		want  string // part of the only one; empty for none
	}{
		{files("sim/a/a.go", 400), ""},
		{files("sim/a/a.go", 401), "sim/a/a.go has 401 lines"},
		{package3001("sim/a"), ""},
		{four, "4 packages have more than 3000 lines"},
		{twelve, ""},
	} {
		wrong := tooLarge(test.files)
		if len(wrong) == 0 && test.want == "" {
			continue
		}
		if len(wrong) != 1 || test.want == "" || !strings.Contains(wrong[0], test.want) {
			t.Errorf("%q, want %q", wrong, test.want)
		}
	}
	twelve["harness/one/more/doc.go"] = 1
	if wrong := tooLarge(twelve); len(wrong) != 1 || !strings.Contains(wrong[0], "13 folders") {
		t.Errorf("of thirteen folders: %q", wrong)
	}
	large := package3001("sim/a")
	for i := range 2 {
		large[fmt.Sprintf("sim/a/large%d.go", i)] = 250
	}
	if wrong := tooLarge(large); len(wrong) != 1 || !strings.Contains(wrong[0], "package sim/a has 3501 lines") {
		t.Errorf("of a large package: %q", wrong)
	}
}

// linesOf counts the lines of each Go file by its path, without tests, generated files and testdata.
func linesOf(module fs.FS) (map[string]int, error) {
	lines := map[string]int{}
	return lines, fs.WalkDir(module, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || p == "reports/out" || p != "." && d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir(), path.Ext(p) != ".go", strings.HasSuffix(p, "_test.go"), strings.HasSuffix(p, ".pb.go"):
			return nil
		}
		text, err := fs.ReadFile(module, p)
		lines[p] = bytes.Count(text, []byte("\n"))
		return err
	})
}

func tooLarge(files map[string]int) (all []string) {
	packages, folders, large := map[string]int{}, map[string]bool{}, []string{}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		packages[path.Dir(p)] += files[p]
		if parts := strings.Split(p, "/"); parts[0] == "harness" && len(parts) > 2 {
			folders[parts[1]] = true
		}
		if files[p] > mostFileLines {
			all = append(all, fmt.Sprintf("%s has %d lines, and a file may have %d", p, files[p], mostFileLines))
		}
	}
	for _, p := range slices.Sorted(maps.Keys(packages)) {
		if packages[p] > mostLines {
			all = append(all, fmt.Sprintf("package %s has %d lines, and one may have %d", p, packages[p], mostLines))
		}
		if packages[p] > largeLines {
			large = append(large, p)
		}
	}
	if len(large) > mostLarge {
		all = append(all, fmt.Sprintf("%d packages have more than %d lines, and %d may: %s", len(large), largeLines, mostLarge, strings.Join(large, ", ")))
	}
	if len(folders) > mostFolders {
		all = append(all, fmt.Sprintf("harness has %d folders, and may have %d", len(folders), mostFolders))
	}
	return all
}
