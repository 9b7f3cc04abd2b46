// Command mutants breaks nodestorm in the ways that mutants.yaml lists, one at a time,
// and runs the test that must notice:
//
//	go run ./harness/cmd/mutants [WORD…]
//
// With words, only mutants whose name has one of them are tried. Nothing in the checkout
// is changed: go test builds each mutant with -overlay. Exit status: 0 all were noticed,
// 1 some were not, 2 the list does not fit the code.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"nodestorm/sim/strict"
)

//go:embed mutants.yaml
var list []byte

// mutant is one way to break the project.
type mutant struct {
	// Name says what is wrong with the code then.
	Name string `json:"name"`
	// File is relative to the module's root. Replace is a text that it has exactly
	// once, With what stands there instead.
	File    string `json:"file"`
	Replace string `json:"replace"`
	With    string `json:"with"`
	// Test is the one that must fail, in Package, which is relative to the module's
	// root; empty means the file's own.
	Test    string `json:"test"`
	Package string `json:"package,omitempty"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	missed, err := try(ctx, os.Args[1:])
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	case missed > 0:
		os.Exit(1)
	}
}

// read returns the mutants of the list.
func read() ([]mutant, error) {
	var file struct {
		Mutants []mutant `json:"mutants"`
	}
	if err := strict.Unmarshal(list, &file); err != nil {
		return nil, fmt.Errorf("mutants.yaml: %w", err)
	}
	return file.Mutants, nil
}

// try runs the mutants whose name has one of the words, and returns how many no test
// noticed.
func try(ctx context.Context, words []string) (missed int, err error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return 0, err
	}
	mutants, err := read()
	if err != nil {
		return 0, err
	}
	mutants = slices.DeleteFunc(mutants, func(m mutant) bool {
		return len(words) > 0 && !slices.ContainsFunc(words, func(word string) bool { return strings.Contains(m.Name, word) })
	})
	if len(mutants) == 0 {
		return 0, fmt.Errorf("no mutant has %q in its name", words)
	}
	sound := map[string]bool{} // tests that pass without a mutant
	for i, m := range mutants {
		began := time.Now()
		pkg, test := m.pkg(), m.Test
		if !sound[pkg+" "+test] {
			if failed, output, err := run(ctx, root, "", pkg, test); err != nil {
				return missed, err
			} else if failed {
				return missed, fmt.Errorf("%s of %s fails without any mutant:\n%s", test, pkg, output)
			}
			sound[pkg+" "+test] = true
		}
		noticed, err := m.noticed(ctx, root)
		if err != nil {
			return missed, err
		}
		word := "noticed"
		if !noticed {
			word = "MISSED "
			missed++
		}
		fmt.Printf("[%d/%d] %s %s (%s %s, %s)\n", i+1, len(mutants), word, m.Name, pkg, test, time.Since(began).Round(100*time.Millisecond))
	}
	fmt.Printf("%d of %d mutants noticed\n", len(mutants)-missed, len(mutants))
	return missed, nil
}

func (m mutant) pkg() string {
	if m.Package != "" {
		return "./" + m.Package
	}
	return "./" + filepath.Dir(m.File)
}

// mutate returns the file's text with the mutant in it.
func (m mutant) mutate(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		return nil, fmt.Errorf("mutant %q: %w", m.Name, err)
	}
	if n := bytes.Count(text, []byte(m.Replace)); n != 1 {
		return nil, fmt.Errorf("mutant %q: %s has its text %d times, want once: %s", m.Name, m.File, n, m.Replace)
	}
	return bytes.Replace(text, []byte(m.Replace), []byte(m.With), 1), nil
}

// noticed reports whether the test fails with the mutant. A mutant that does not compile
// is an error.
func (m mutant) noticed(ctx context.Context, root string) (bool, error) {
	text, err := m.mutate(root)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "nodestorm-mutant-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	broken, overlay := filepath.Join(dir, filepath.Base(m.File)), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, m.File): broken}})
	if err != nil {
		return false, err
	}
	if err := errors.Join(os.WriteFile(broken, text, 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		return false, err
	}
	failed, output, err := run(ctx, root, overlay, m.pkg(), m.Test)
	if err != nil {
		return false, fmt.Errorf("mutant %q: %w", m.Name, err)
	}
	if failed && !failure.MatchString(output) {
		return false, fmt.Errorf("mutant %q: no test failed, something else did:\n%s", m.Name, output)
	}
	return failed, nil
}

// failure is what go test prints of a test that failed, panicked or went on for too long.
var failure = regexp.MustCompile(`(?m)^(\s*--- FAIL: |panic: |fatal error: )`)

// run runs one test of a package. An error means that it could not be run.
func run(ctx context.Context, root, overlay, pkg, test string) (failed bool, output string, err error) {
	args := []string{"test", "-v", "-count=1", "-timeout=5m", "-run", "^" + test + "$"}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, ".")...)
	cmd.Dir = filepath.Join(root, pkg) // which may be of a nested module
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	text, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return false, "", context.Cause(ctx)
	}
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return true, string(text), nil
	}
	switch {
	case err == nil && bytes.Contains(text, []byte("no tests to run")):
		return false, "", fmt.Errorf("%s has no test %s", pkg, test)
	case err == nil && bytes.Contains(text, []byte("--- SKIP: "+test+" ")):
		return false, "", fmt.Errorf("%s of %s was skipped, so nothing can be noticed:\n%s", test, pkg, text)
	}
	return false, string(text), err
}

// moduleRoot is the folder of the main module.
func moduleRoot(ctx context.Context) (string, error) {
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	root := filepath.Dir(strings.TrimSpace(string(mod)))
	if err != nil || root == "." {
		return "", errors.Join(errors.New("no go.mod here or above: run it in a checkout of nodestorm"), err)
	}
	return root, nil
}
