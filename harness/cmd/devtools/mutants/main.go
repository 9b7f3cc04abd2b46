// Command mutants breaks nodestorm in the ways that mutants.yaml lists, one at a time,
// and runs the test that must notice:
//
//	go run ./mutants [WORD…]
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

	"nodestorm/harness/builds/repository"
	"nodestorm/sim/strict"
)

//go:embed mutants.yaml
var list []byte

// mutant is one way to break the project. In the code, a comment above the line that is broken
// has its name: // mutant: NAME. One of condition, remove, instead and replace says how.
type mutant struct {
	// Name says what is wrong with the code then.
	Name string `json:"name"`
	// Condition is what becomes of the one that an if, a for or a case on the line asks, or
	// that is returned or assigned there: it is never or always so, or it is negated.
	Condition string `json:"condition,omitempty"`
	// Remove leaves out the statement that begins on the line.
	Remove bool `json:"remove,omitempty"`
	// Instead stands in place of that statement.
	Instead string `json:"instead,omitempty"`
	// Replace has texts that the line has exactly once, and what stands there instead.
	Replace map[string]string `json:"replace,omitempty"`
	// Test is the one that must fail, in the package of the marked file. Before a dot there
	// is the folder of another package, or the end of its path: sim/checker.TestFind.
	Test string `json:"test"`
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
	root, err := checkoutRoot(ctx)
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
	c, err := scan(root)
	if err != nil {
		return 0, err
	}
	sound := map[string]bool{} // tests that pass without a mutant
	for i, m := range mutants {
		began := time.Now()
		pkg, test, err := c.test(m)
		if err != nil {
			return missed, err
		}
		if !sound[pkg+" "+test] {
			if failed, output, err := run(ctx, root, "", pkg, test); err != nil {
				return missed, err
			} else if failed {
				return missed, fmt.Errorf("%s of %s fails without any mutant:\n%s", test, pkg, output)
			}
			sound[pkg+" "+test] = true
		}
		noticed, err := m.noticed(ctx, c)
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

// noticed reports whether the test fails with the mutant. A mutant that does not compile
// is an error.
func (m mutant) noticed(ctx context.Context, c *checkout) (bool, error) {
	pkg, test, err := c.test(m)
	if err != nil {
		return false, err
	}
	at, err := c.of(m)
	if err != nil {
		return false, err
	}
	text, err := m.mutate(c.root, at)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "nodestorm-mutant-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	broken, overlay := filepath.Join(dir, filepath.Base(at.file)), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(c.root, at.file): broken}})
	if err != nil {
		return false, err
	}
	if err := errors.Join(os.WriteFile(broken, text, 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		return false, err
	}
	failed, output, err := run(ctx, c.root, overlay, pkg, test)
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

// checkoutRoot is the root of the checkout that this runs in.
func checkoutRoot(ctx context.Context) (string, error) {
	around, err := repository.Open(ctx, ".", "")
	if err != nil {
		return "", fmt.Errorf("run it in a checkout of nodestorm: %w", err)
	}
	return around.Top(), nil
}
