package replay

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/run"
)

// The program of a test is of the checkout that it is run in. One that knows its commit
// is distinguished from a checkout that has changed since, and one that does not is of none.
func TestSelf(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	self := func(what string, wantProgram, wantFeatures run.Code) {
		t.Helper()
		if program, features := Self(t.Context(), dir, dir); program != wantProgram || features != wantFeatures {
			t.Errorf("%s: program %+v, features %+v; want %+v, %+v", what, program, features, wantProgram, wantFeatures)
		}
	}
	self("no checkout", run.Code{}, run.Code{})
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first")
	head := git("rev-parse", "HEAD")
	self("clean", run.Code{Commit: head}, run.Code{Commit: head})
	if err := os.WriteFile(filepath.Join(dir, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	self("dirty", run.Code{Commit: head, Dirty: true}, run.Code{Commit: head, Dirty: true})
	t.Cleanup(func() { built, ofTest = "", true })
	ofTest = false
	self("built without a commit", run.Code{}, run.Code{Commit: head, Dirty: true})
	built = "796b28ee0123456789abcdef0123456789abcdef+dirty"
	self("built before", run.Code{Commit: "796b28ee0123456789abcdef0123456789abcdef", Dirty: true}, run.Code{Commit: head, Dirty: true})
	built = head
	self("changed since", run.Code{Commit: head}, run.Code{Commit: head, Dirty: true})
	if sum := run.Program(); len(sum) != 64 {
		t.Errorf("the program's digest is %q", sum)
	}
}
