package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

const root = "../../.."

// The list fits the code: each text is there once, each test is there, no two mutants
// have one name. Whether the tests notice is for the command to say.
func TestListFits(t *testing.T) {
	mutants, err := read()
	if err != nil {
		t.Fatal(err)
	}
	if len(mutants) < 30 {
		t.Errorf("%d mutants, want 30 at least", len(mutants))
	}
	names := map[string]bool{}
	for _, m := range mutants {
		if names[m.Name] {
			t.Errorf("two mutants are called %q", m.Name)
		}
		names[m.Name] = true
		if _, err := m.mutate(root); err != nil {
			t.Error(err)
		}
		if !hasTest(t, filepath.Join(root, m.pkg()), m.Test) {
			t.Errorf("mutant %q: %s has no test %s", m.Name, m.pkg(), m.Test)
		}
	}
}

func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	is := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(name) + `\(`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if is.Match(text) {
			return true
		}
	}
	return false
}

// A mutant that is noticed, one that is not, and one that does not compile are told apart.
func TestNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs go test; run without -short")
	}
	mutants, err := read()
	if err != nil {
		t.Fatal(err)
	}
	m := mutants[0]
	if noticed, err := m.noticed(t.Context(), absolute(t)); err != nil || !noticed {
		t.Errorf("%s: noticed %v, %v", m.Name, noticed, err)
	}
	m.With = m.Replace
	if noticed, err := m.noticed(t.Context(), absolute(t)); err != nil || noticed {
		t.Errorf("nothing is broken, and noticed is %v, %v", noticed, err)
	}
	m.With = "no Go at all"
	if _, err := m.noticed(t.Context(), absolute(t)); err == nil {
		t.Error("a mutant that does not compile counts as noticed")
	}
}

func absolute(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
