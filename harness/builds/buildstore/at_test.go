package buildstore

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/builds"
)

// commitAll makes a repository of a folder, or one more commit, and returns it.
func commitAll(t *testing.T, dir, tag string) string {
	t.Helper()
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("commit", "-q", "-m", tag)
	git("tag", tag)
	return git("rev-parse", "HEAD")
}

// A ref is built whatever is checked out, is the entry that its checkout has, and says
// where it came from. Nothing is left of the checkout.
func TestBuildRef(t *testing.T) {
	dir := tinySource(t)
	first := commitAll(t, dir, "tiny-v1.0.0")
	s := openStore(t)
	checkedOut := build(t, s, fromFolderRecipe(dir))
	write(t, filepath.Join(dir, "cmd", "main.go"), strings.Replace(tinyMain, "tiny ", "second ", 1))
	second := commitAll(t, dir, "tiny-v1.1.0")
	write(t, filepath.Join(dir, "cmd", "main.go"), "not Go")

	bare := filepath.Join(t.TempDir(), "bare")
	if out, err := exec.Command("git", "clone", "-q", "--bare", dir, bare).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, tc := range []struct{ source, ref, commit, prints string }{
		{dir, "tiny-v1.0.0", first, "tiny v1.0.0"},
		{bare, "tiny-v1.1.0", second, "second v1.0.0"},
		{bare, first[:12], first, "tiny v1.0.0"},
		{"file://" + bare, "main", second, "second v1.0.0"},
	} {
		r := fromFolderRecipe(tc.source)
		r.At = tc.ref
		got := build(t, s, r)
		if src := got.Source; output(t, got.Binary()) != tc.prints || src.Commit != tc.commit || src.Ref != tc.ref || src.Dir != tc.source || src.Dirty {
			t.Errorf("%s at %s: %+v", tc.source, tc.ref, src)
		}
		if tc.commit == first && got.Dir != checkedOut.Dir {
			t.Errorf("%s at %s is %s, and its checkout was %s", tc.source, tc.ref, got.Dir, checkedOut.Dir)
		}
		stored, err := s.Get(tiny)
		if err != nil || stored.Source.Ref != tc.ref || !strings.HasSuffix(Rebuild(stored), "--source "+tc.source+" --package ./cmd --ref "+tc.ref) {
			t.Errorf("stored: %+v, %v, %s", stored.Source, err, Rebuild(stored))
		}
	}
	if left, _ := filepath.Glob(filepath.Join(s.Dir(), "tmp", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A build of a branch is stale once the branch has moved, that of a tag is not.
func TestRefMoved(t *testing.T) {
	dir := tinySource(t)
	commitAll(t, dir, "tiny-v1.0.0")
	s := openStore(t)
	changed := func(ref string) bool {
		r := fromFolderRecipe(dir)
		r.At = ref
		got := build(t, s, r)
		touchSource(t, dir)
		commitAll(t, dir, ref+"-moved")
		changed, err := SourceChanged(t.Context(), got)
		ok(t, err)
		return changed
	}
	if !changed("main") || changed("tiny-v1.0.0") {
		t.Error("want main moved, and the tag not")
	}
}

func TestBuildRefErrors(t *testing.T) {
	dir := tinySource(t)
	commitAll(t, dir, "tiny-v1.0.0")
	ok(t, os.Remove(filepath.Join(dir, "go.mod")))
	commitAll(t, dir, "tiny-v1.1.0")
	s := openStore(t)
	for _, tc := range []struct{ source, ref, want string }{
		{dir, "v1.0.0", `has no ref "v1.0.0", did you mean "tiny-v1.0.0"?`},
		{dir, "-f", `"-f" is no ref`},
		{dir, "tiny-v1.1.0", "at tiny-v1.1.0: it is no checkout of a Go program"},
		{t.TempDir(), "main", "cannot be read as a git repository"},
		{"/none", "main", "/none is no folder"},
		{dir, "tiny-v1.0.0 with a tag", "from " + dir + ` at tiny-v1.0.0: no file of its source has the build tag "clowd"`}, // and not the checkout's folder
	} {
		r := fromFolderRecipe(tc.source)
		if r.At = tc.ref; strings.HasSuffix(tc.ref, " with a tag") {
			r.At, r.Tags = strings.TrimSuffix(tc.ref, " with a tag"), []string{"clowd"}
		}
		_, err := s.Build(t.Context(), r, nil)
		wantError(t, err, tc.want)
		wantEmpty(t, s)
	}
}

func TestVersionOf(t *testing.T) {
	for ref, want := range map[string]string{
		"cluster-autoscaler-1.33.0": "1.33.0", "v1.7.0": "v1.7.0", "cmd/v1.2.3-rc.1": "v1.2.3-rc.1", "main": "main", "release/1.33": "release-1.33",
		"927d7bd9feb8219c6241ce1293a31659474c2c35": "927d7bd9feb8", "HEAD^": "",
	} {
		if got, err := builds.VersionOf(ref); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", ref, got, err, want)
		}
	}
}
