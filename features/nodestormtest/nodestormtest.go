// Package nodestormtest plays features of nodestorm in the tests of a Go project, against the build of its working tree:
//
//	func TestScaleUp(t *testing.T) {
//		nodestormtest.Run(t, "testdata/scale-up.feature", nodestormtest.Build("./kwok", nodestormtest.As("karpenter")))
//	}
//
// Each scenario is a subtest. It passes if its run is as expected, which of a scenario without a record is healthy; an
// inconclusive run passes nothing. Of a test that fails the runs are kept, and the failure names their pages.
//
// The package needs the nodestorm command and nothing but the standard library: the command is the one that NODESTORM
// names, or that of PATH. A test without it fails, and says how to get it; SkipWithout skips it in place of that.
package nodestormtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// EnvCommand names the nodestorm command, and EnvOut the folder in which runs are kept, whether a test fails or not.
const (
	EnvCommand = "NODESTORM"
	EnvOut     = "NODESTORM_OUT"
)

// A Target is what a feature is played on.
type Target struct {
	ref  string   // NAME@VERSION, or the NAME of a working tree
	make []string // arguments of nodestorm target build; empty of a release
}

// A BuildOption is more about a build.
type BuildOption func(*build)

type build struct {
	name string
	args []string
}

// As says what a program is to nodestorm, if the last element of its package's path does not: karpenter,
// cluster-autoscaler, cluster-api.
func As(name string) BuildOption { return func(b *build) { b.name = name } }

// With are more flags of nodestorm target build, such as --provider or --tags.
func With(flags ...string) BuildOption { return func(b *build) { b.args = append(b.args, flags...) } }

// Build is the main package, "./cmd/karpenter", of the module that the test is in, with all that is not committed. It is
// built once for each state of the tree.
func Build(mainPackage string, options ...BuildOption) Target {
	b := build{name: filepath.Base(mainPackage)}
	for _, option := range options {
		option(&b)
	}
	return Target{b.name, append([]string{"--package", mainPackage}, b.args...)}
}

// Release is a build that nodestorm knows how to get: "karpenter@v1.14.1".
func Release(ref string) Target { return Target{ref: ref} }

// An Option is more about a run.
type Option func(*config)

type config struct {
	args []string
	skip bool
}

// Args are more flags of nodestorm run, such as --catalogue, --clock or --name.
func Args(flags ...string) Option { return func(c *config) { c.args = append(c.args, flags...) } }

// SkipWithout skips the test on machines that have no nodestorm command.
func SkipWithout() Option { return func(c *config) { c.skip = true } }

// Run plays all scenarios of a feature's file, or of a documented failure's ID, on the target. It ends when the test's
// time does, half a minute before the deadline.
func Run(t *testing.T, feature string, on Target, options ...Option) {
	t.Helper()
	var c config
	for _, option := range options {
		option(&c)
	}
	n := nodestorm{t: t, command: c.command(t)}
	ref := on.ref
	if on.make != nil {
		ref = n.build(on)
	}
	n.play(feature, ref, c.args)
}

func (c config) command(t *testing.T) string {
	t.Helper()
	name := os.Getenv(EnvCommand)
	if name == "" {
		name = "nodestorm"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		text := fmt.Sprintf("no nodestorm command: %v; build it with make build in a checkout of nodestorm, and name it in %s", err, EnvCommand)
		if c.skip {
			t.Skip(text)
		}
		t.Fatal(text)
	}
	return path
}

// nodestorm is the command, for one test.
type nodestorm struct {
	t       *testing.T
	command string
}

// run runs the command and returns its exit status; what it says goes to the test's log. It ends with the test.
func (n nodestorm) run(stdout *bytes.Buffer, args ...string) (status int) {
	n.t.Helper()
	ctx := n.t.Context()
	c := exec.CommandContext(ctx, n.command, args...)
	var stderr bytes.Buffer
	c.Stdout, c.Stderr = stdout, &stderr
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) } // it ends what it started
	c.WaitDelay = time.Minute
	if deadline, is := n.t.Deadline(); is {
		timer := time.AfterFunc(time.Until(deadline)-30*time.Second, func() { _ = c.Cancel() })
		defer timer.Stop()
	}
	err := c.Run()
	if text := strings.TrimSpace(stderr.String()); text != "" {
		n.t.Log(text)
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		n.t.Fatalf("%s: %v", n.command, err)
	}
	return c.ProcessState.ExitCode()
}

// build builds the target of the working tree, whose version names the tree's folder, and returns its reference. What has not
// changed since is not built again.
func (n nodestorm) build(of Target) (ref string) {
	n.t.Helper()
	root, err := moduleRoot()
	if err != nil {
		n.t.Fatal(err)
	}
	ref = fmt.Sprintf("%s@tree-%x", of.ref, sha256.Sum256([]byte(root)))[:len(of.ref)+len("@tree-")+8]
	args := append([]string{"target", "build", ref, "--source", root}, of.make...)
	if status := n.run(new(bytes.Buffer), args...); status != 0 {
		n.t.Fatalf("the target was not built (exit status %d): nodestorm %s", status, strings.Join(args, " "))
	}
	return ref
}

// moduleRoot is the folder of the go.mod above the working directory, which is that of the test's package.
func moduleRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod in %s or above: which module is to be built?", start)
		}
	}
}

// row is what nodestorm says of a replay.
type row struct {
	ID       string `json:"id"`
	Target   string `json:"target"`
	Expected string `json:"expected"`
	Verdict  string `json:"verdict"`
	Outcome  string `json:"outcome"`
	Reason   string `json:"reason"`
	Run      string `json:"run"`
}

// play plays the feature, with a subtest for each scenario.
func (n nodestorm) play(feature, ref string, more []string) {
	n.t.Helper()
	out := n.out()
	args := append([]string{"run", feature, "--target", ref, "--out", out, "--output", "json"}, more...)
	var stdout bytes.Buffer
	status := n.run(&stdout, args...)
	var rows []row
	if err := json.Unmarshal(stdout.Bytes(), &rows); err != nil || len(rows) == 0 {
		n.t.Fatalf("nothing was played (exit status %d): nodestorm %s", status, strings.Join(args, " "))
	}
	for _, r := range rows {
		n.t.Run(r.ID, func(t *testing.T) {
			if r.Outcome != "expected" {
				t.Errorf("%s on %s: %s, want %s: %s", r.ID, r.Target, word(r.Verdict), word(r.Expected), r.Reason)
				n.page(t, r)
			}
		})
	}
	if status != 0 && !n.t.Failed() {
		n.t.Errorf("exit status %d of nodestorm %s", status, strings.Join(args, " "))
	}
}

func word(verdict string) string {
	if verdict == "" {
		return "healthy"
	}
	return verdict
}

// page writes the page of a run and names it.
func (n nodestorm) page(t *testing.T, r row) {
	t.Helper()
	if r.Run == "" {
		return
	}
	t.Logf("history and logs: %s", r.Run)
	var stdout bytes.Buffer
	if n.run(&stdout, "report", r.Run) == 0 {
		t.Logf("page: %s", strings.TrimSpace(stdout.String()))
	}
}

// out is a folder for runs, which stays if the test fails.
func (n nodestorm) out() string {
	n.t.Helper()
	if dir := os.Getenv(EnvOut); dir != "" {
		return filepath.Join(dir, filepath.FromSlash(n.t.Name()))
	}
	dir, err := os.MkdirTemp("", "nodestormtest-")
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() {
		if !n.t.Failed() {
			_ = os.RemoveAll(dir)
		}
	})
	return dir
}
