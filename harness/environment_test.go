package harness_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestEnvironment keeps the variables that the code reads in the page about them, and no others.
func TestEnvironment(t *testing.T) {
	const name = "docs/reference/environment.md"
	page, err := os.ReadFile("../" + name)
	if err != nil {
		t.Fatal(err)
	}
	variable := regexp.MustCompile(`\bNODESTORM_[A-Z_]*[A-Z]\b`)
	said, used := map[string]string{}, map[string]bool{}
	err = fs.WalkDir(os.DirFS(".."), ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(file) != ".go" && file != "Makefile" || file == "harness/environment_test.go" {
			return err
		}
		text, err := fs.ReadFile(os.DirFS(".."), file)
		for _, found := range variable.FindAllString(string(text), -1) {
			said[found] = file
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range variable.FindAllString(string(page), -1) {
		used[found] = true
		if said[found] == "" {
			t.Errorf("%s has %s, and no code does", name, found)
		}
	}
	// What tests give to processes of their own says nothing to people.
	own := regexp.MustCompile(`^NODESTORM_(TEST.*|OTHER|POISON)$`)
	for found, file := range said {
		if !used[found] && !own.MatchString(found) {
			t.Errorf("%s has %s, and %s does not say what it is for", file, found, name)
		}
	}
	if len(used) < 10 || !strings.Contains(string(page), "`history.ndjson`") {
		t.Errorf("%s has %d variables", name, len(used))
	}
}
