package nodestormtest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// project is a module of its own with a test, and run runs that test.
type project struct {
	t   *testing.T
	dir string
}

func (p project) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

// require makes the project's go.mod require this module.
func (p project) require() {
	p.t.Helper()
	here, err := os.Getwd()
	if err != nil {
		p.t.Fatal(err)
	}
	p.command("go", "mod", "edit", "-require=nodestorm/features/nodestormtest@v0.0.0", "-replace=nodestorm/features/nodestormtest="+here)
}

func (p project) command(name string, args ...string) {
	p.t.Helper()
	c := exec.CommandContext(p.t.Context(), name, args...)
	c.Dir = p.dir
	text, err := c.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, text)
	}
}

func (p project) test(env ...string) (passed bool, text string) {
	p.t.Helper()
	c := exec.CommandContext(p.t.Context(), "go", "test", "-v", "-count=1", "-run", "TestFeature", ".")
	// Runs of a test that fails stay, here below what is removed.
	c.Dir, c.Env = p.dir, append(os.Environ(), append(env, "TMPDIR="+p.t.TempDir())...)
	out, err := c.CombinedOutput()
	return err == nil, string(out)
}

const testFile = `package project

import (
	"testing"

	"nodestorm/features/nodestormtest"
)

func TestFeature(t *testing.T) {
	nodestormtest.Run(t, %q, %s)
}
`

// fake is a nodestorm that answers run with the JSON and the status of files beside it, and notes how it is called.
const fake = `#!/bin/sh
here=$(dirname "$0")
echo "$@" >>"$here/calls"
case "$1" in
target) exit "$(cat "$here/build")" ;;
run) cat "$here/rows"; exit "$(cat "$here/status")" ;;
report) echo "$2/report.html" ;;
esac
`

// A test passes if all runs are as expected, and says of each other one what it was.
func TestOutcomes(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles tests; run without -short")
	}
	p := project{t, t.TempDir()}
	p.write("go.mod", "module example.com/project\n\ngo 1.24.0\n")
	p.require()
	p.write("project_test.go", fmt.Sprintf(testFile, "a.feature", `nodestormtest.Build("./cmd/karpenter", nodestormtest.With("--provider", "instances")), nodestormtest.Args("--clock", "auto")`))
	fakes := project{t, t.TempDir()}
	fakes.write("nodestorm", fake)
	command := "NODESTORM=" + filepath.Join(fakes.dir, "nodestorm")
	const good = `[{"id":"a","target":"karpenter@tree","verdict":"healthy","outcome":"expected"}]`
	for name, test := range map[string]struct {
		build, status, rows string
		passes              bool
		want                []string
	}{
		"as expected":  {"0", "0", good, true, []string{"--- PASS: TestFeature/a"}},
		"failed":       {"0", "1", `[{"id":"a","target":"karpenter@t","verdict":"failed","outcome":"not as expected","reason":"two Nodes","run":"/runs/a"}]`, false, []string{"a on karpenter@t: failed, want healthy: two Nodes", "history and logs: /runs/a", "page: /runs/a/report.html"}},
		"inconclusive": {"0", "3", `[{"id":"a","verdict":"inconclusive","outcome":"inconclusive","reason":"distorted"}]`, false, []string{"inconclusive, want healthy: distorted"}},
		"a record":     {"0", "1", `[{"id":"a","expected":"reproduced","verdict":"healthy","outcome":"regression"}]`, false, []string{"healthy, want reproduced"}},
		"not built":    {"2", "0", good, false, []string{"the target was not built (exit status 2): nodestorm target build karpenter@tree-"}},
		"no scenario":  {"0", "2", "[]", false, []string{"nothing was played (exit status 2): nodestorm run a.feature --target karpenter@tree-"}},
		"no JSON":      {"0", "0", "all is well", false, []string{"nothing was played (exit status 0)"}},
		"only status":  {"0", "1", good, false, []string{"exit status 1 of nodestorm run"}},
	} {
		t.Run(name, func(t *testing.T) {
			fakes.write("build", test.build)
			fakes.write("status", test.status)
			fakes.write("rows", test.rows)
			fakes.write("calls", "")
			passed, text := p.test(command)
			if passed != test.passes {
				t.Errorf("passed: %v\n%s", passed, text)
			}
			for _, want := range test.want {
				if !strings.Contains(text, want) {
					t.Errorf("it does not say %q:\n%s", want, text)
				}
			}
			calls, err := os.ReadFile(filepath.Join(fakes.dir, "calls"))
			if want := "--source " + p.dir + " --package ./cmd/karpenter --provider instances\n"; err != nil || !strings.Contains(string(calls), want) {
				t.Errorf("nodestorm was called %q, %v; want %q", calls, err, want)
			}
			if test.build == "0" && !strings.Contains(string(calls), "--output json --clock auto\n") {
				t.Errorf("nodestorm was called %q", calls)
			}
		})
	}
	if passed, text := p.test("NODESTORM=/none/nodestorm"); passed || !strings.Contains(text, "no nodestorm command") || !strings.Contains(text, "make build") {
		t.Errorf("without a command: %v, %s", passed, text)
	}
	p.write("project_test.go", fmt.Sprintf(testFile, "a.feature", `nodestormtest.Release("karpenter@v1.7.0"), nodestormtest.SkipWithout()`))
	if passed, text := p.test("NODESTORM=/none/nodestorm"); !passed || !strings.Contains(text, "--- SKIP: TestFeature") {
		t.Errorf("without a command: %v, %s", passed, text)
	}
}

const feature = `Feature: Scaling up
  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And Karpenter with a NodePool "default"

  Scenario: One pod, one machine
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m

  Scenario: A pod that fits no machine
    When a pod "huge" that requests 9000 CPU is created
    Then the pod "huge" is Running within 1m
`

// TestOnAWorkingTree plays a feature in Karpenter's own tree, as its maintainers would: one scenario passes, and one cannot.
func TestOnAWorkingTree(t *testing.T) {
	command, err := filepath.Abs("../../bin/nodestorm")
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		t.Skip("it builds Karpenter; run without -short")
	}
	if _, err := os.Stat(command); err != nil {
		t.Skip("bin/nodestorm is not there; make build makes it")
	}
	p := project{t, filepath.Join(t.TempDir(), "karpenter")}
	var module struct{ Dir string }
	text, err := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "sigs.k8s.io/karpenter@v1.7.0").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &module); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(p.dir, os.DirFS(module.Dir)); err != nil {
		t.Fatal(err)
	}
	p.command("chmod", "-R", "u+w", ".")
	p.require()
	p.write("up.feature", feature)
	p.write("project_test.go", fmt.Sprintf(testFile, "up.feature", `nodestormtest.Build("./kwok", nodestormtest.As("karpenter"))`))
	passed, said := p.test("NODESTORM="+command, "NODESTORM_OUT="+t.TempDir())
	t.Cleanup(func() { // what was built of a tree that is gone
		for _, field := range strings.Fields(said) {
			if strings.HasPrefix(field, "karpenter@tree-") {
				_ = exec.Command(command, "target", "rm", strings.TrimRight(field, ":,;")).Run()
				return
			}
		}
	})
	if passed || strings.Count(said, "    --- PASS: ") != 1 || strings.Count(said, "    --- FAIL: ") != 1 {
		t.Errorf("passed: %v\n%s", passed, said)
	}
	if !strings.Contains(said, "failed, want healthy") || !strings.Contains(said, "report.html") {
		t.Errorf("it does not say what failed, or where the page is:\n%s", said)
	}
}
