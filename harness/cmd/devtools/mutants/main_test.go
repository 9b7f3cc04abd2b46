package main

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// The list fits the code: each mutant has one mark, a test, and a way to be that leaves the
// file one of Go, and each mark has a mutant. Whether the tests notice is for the command to say.
func TestListFits(t *testing.T) {
	mutants, err := read()
	if err != nil {
		t.Fatal(err)
	}
	c := scanned(t)
	listed := map[string]bool{}
	for _, m := range mutants {
		if listed[m.Name] {
			t.Errorf("two mutants are called %q", m.Name)
		}
		listed[m.Name] = true
		at, err := c.of(m)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, _, err := c.test(m); err != nil {
			t.Error(err)
		}
		text, err := m.mutate(c.root, at)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), at.file, text, parser.SkipObjectResolution); err != nil {
			t.Errorf("with mutant %q: %v", m.Name, err)
		}
	}
	for name, places := range c.marks {
		if !listed[name] {
			t.Errorf("mutant %q is marked at %v, and mutants.yaml has none of this name", name, places)
		}
	}
	if len(mutants) < 30 {
		t.Errorf("%d mutants, want 30 at least", len(mutants))
	}
}

func scanned(t *testing.T) *checkout {
	t.Helper()
	root, err := checkoutRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := scan(root)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const broken = `package p

func f(a, b int) (n int) {
	if a > b &&
		b > 0 {
		n = a
	} else if n = b; n > 1 {
		g(n)
	}
	switch {
	case a == 1:
		return a + 1
	}
	return n
}
`

func TestApply(t *testing.T) {
	for _, test := range []struct {
		name      string
		m         mutant
		line      int
		was, with string // empty: it is refused
	}{
		{"never", mutant{Condition: "never"}, 4, "if a > b &&\n\t\tb > 0 {", "if false && (a > b &&\n\t\tb > 0) {"},
		{"always", mutant{Condition: "always"}, 7, "n > 1 {", "true || (n > 1) {"},
		{"negated", mutant{Condition: "negated"}, 11, "case a == 1:", "case !(a == 1):"},
		{"what is returned", mutant{Condition: "negated"}, 14, "return n", "return !(n)"},
		{"no such word", mutant{Condition: "false"}, 4, "", ""},
		{"no condition", mutant{Condition: "never"}, 8, "", ""},
		{"removed", mutant{Remove: true}, 8, "g(n)", ""},
		{"a case is no statement to remove", mutant{Remove: true}, 11, "", ""},
		{"no statement", mutant{Remove: true}, 5, "", ""},
		{"instead", mutant{Instead: "return 0"}, 12, "return a + 1", "return 0"},
		{"replaced", mutant{Replace: map[string]string{"b > 0": "b > 1"}}, 5, "b > 0", "b > 1"},
		{"replaced on another line", mutant{Replace: map[string]string{"b > 0": "b > 1"}}, 4, "", ""},
		{"replaced of two", mutant{Replace: map[string]string{"n": "a"}}, 7, "", ""},
		{"two ways", mutant{Remove: true, Instead: "n = 1"}, 8, "", ""},
		{"no way", mutant{}, 8, "", ""},
	} {
		got, err := test.m.apply([]byte(broken), test.line)
		if want := strings.Replace(broken, test.was, test.with, 1); test.was == "" && err == nil || test.was != "" && (err != nil || string(got) != want) {
			t.Errorf("%s: %v\n%s", test.name, err, got)
		}
	}
}

func TestMarks(t *testing.T) {
	c := &checkout{marks: map[string][]mark{}, tests: map[string][]string{}}
	for file, text := range map[string]string{
		"a/x/x.go":      "package x\n\nfunc f() {\n\t// why\n\t// mutant: one\n\t// mutant: two's\n\tg()\n}\n\nconst s = `\n# mutant: shell\nrm\n`\n",
		"a/x/x_test.go": "package x\n\nfunc TestHere(t *testing.T) {}\nfunc TestBoth(t *testing.T) {}\n",
		"b/x/x_test.go": "package x\n\nfunc TestBoth(t *testing.T) {}\nfunc TestThere(t *testing.T) {}\n",
	} {
		if err := c.read(file, text); err != nil {
			t.Fatal(err)
		}
	}
	for name, line := range map[string]int{"one": 7, "two's": 7, "shell": 12} {
		if want := []mark{{"a/x/x.go", line}}; !slices.Equal(c.marks[name], want) {
			t.Errorf("%s is at %v, want %v", name, c.marks[name], want)
		}
	}
	for test, want := range map[string]string{
		"TestHere": "a/x", "TestBoth": "a/x", "TestThere": "", "x.TestThere": "b/x", "b/x.TestBoth": "b/x", "x.TestBoth": "", "TestNone": "", "y.TestBoth": "",
	} {
		folder, _, err := c.test(mutant{Name: "one", Test: test})
		if folder != want || (err == nil) != (want != "") {
			t.Errorf("%s is in %q, %v, want %q", test, folder, err, want)
		}
	}
	if _, err := c.of(mutant{Name: "three"}); err == nil {
		t.Error("a mutant without a mark has a place")
	}
	if err := c.read("y.go", "package y\n// mutant: last\n"); err == nil {
		t.Error("there is nothing below a mark, and it is taken")
	}
}

// A mutant that is noticed, one that is not, and one that does not compile have different results.
func TestNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs go test; run without -short")
	}
	mutants, err := read()
	if err != nil {
		t.Fatal(err)
	}
	m, c := mutants[0], scanned(t)
	if noticed, err := m.noticed(t.Context(), c); err != nil || !noticed {
		t.Errorf("%s: noticed %v, %v", m.Name, noticed, err)
	}
	m.Condition, m.Replace = "", map[string]string{"return": "return "}
	if noticed, err := m.noticed(t.Context(), c); err != nil || noticed {
		t.Errorf("nothing is broken, and noticed is %v, %v", noticed, err)
	}
	m.Replace, m.Instead = nil, "no Go at all"
	if _, err := m.noticed(t.Context(), c); err == nil {
		t.Error("a mutant that does not compile counts as noticed")
	}
}
