package repository

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// story is a made-up repository: one, two on main with tags, and a branch from one.
type story struct {
	t   *testing.T
	dir string
}

func newStory(t *testing.T) story {
	s := story{t, t.TempDir()}
	s.git("init", "-q", "-b", "main")
	s.commit("one", "sub/a.go", "package a\n")
	s.git("tag", "sub-1.0.0")
	s.git("branch", "release-1")
	s.commit("words", "README.md", "words\n")
	s.commit("two", "sub/a.go", "package a // two\n")
	s.git("tag", "-a", "-m", "annotated", "sub-1.1.0")
	return s
}

func (s story) git(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", s.dir, "-c", "user.name=A", "-c", "user.email=a@example.com"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s story) commit(subject, file, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, file)
	ok(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
	ok(s.t, os.WriteFile(path, []byte(text), 0o644))
	s.git("add", ".")
	s.git("commit", "-q", "-m", subject)
}

// bare is a bare copy.
func (s story) bare() string {
	to := filepath.Join(s.t.TempDir(), "bare")
	s.git("clone", "-q", "--bare", s.dir, to)
	return to
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A repository says the same as a folder, below one, bare, and by its URL.
func TestOpen(t *testing.T) {
	s := newStory(t)
	head := s.git("rev-parse", "HEAD")
	mirrors := t.TempDir()
	for name, prefix := range map[string]string{s.dir: "", filepath.Join(s.dir, "sub"): "sub", s.bare(): "", "file://" + s.dir: ""} {
		r, err := Open(t.Context(), name, mirrors)
		ok(t, err)
		if r.Prefix != prefix || r.Name != name || r.Remote() != strings.HasPrefix(name, "file:") {
			t.Errorf("%s: %+v", name, r)
		}
		for _, ref := range []string{"main", "sub-1.1.0", head, head[:10]} {
			if commit, err := r.Commit(t.Context(), ref); err != nil || commit != head {
				t.Errorf("%s at %s: %q, %v", name, ref, commit, err)
			}
		}
		tags, err := r.Tags(t.Context())
		if err != nil || len(tags) != 2 || tags["sub-1.1.0"] != head {
			t.Errorf("%s: %v, %v", name, tags, err)
		}
		into := filepath.Join(t.TempDir(), "checkout")
		ok(t, r.Checkout(t.Context(), s.git("rev-parse", "sub-1.0.0"), into))
		if text, err := os.ReadFile(filepath.Join(into, "sub", "a.go")); err != nil || string(text) != "package a\n" {
			t.Errorf("%s: checked out %q, %v", name, text, err)
		}
	}
	// A mirror notices what is new, and what was moved.
	s.commit("three", "sub/a.go", "package a // three\n")
	s.git("tag", "-f", "sub-1.1.0")
	r, err := Open(t.Context(), "file://"+s.dir, mirrors)
	ok(t, err)
	if commit, err := r.Commit(t.Context(), "sub-1.1.0"); err != nil || commit == head {
		t.Errorf("a tag that was moved is still %s, %v", commit, err)
	}
}

// The user's repository is as it was, its hooks do not run, and what it has not
// committed does not count.
func TestCheckoutLeavesNothing(t *testing.T) {
	s := newStory(t)
	ran := filepath.Join(t.TempDir(), "ran")
	for _, hook := range []string{"post-checkout", "post-index-change", "reference-transaction", "fsmonitor"} {
		ok(t, os.WriteFile(filepath.Join(s.dir, ".git", "hooks", hook), []byte("#!/bin/sh\ntouch "+ran+"\n"), 0o755))
	}
	s.git("config", "core.fsmonitor", filepath.Join(s.dir, ".git", "hooks", "fsmonitor"))
	_ = os.Remove(ran) // that was git's own doing
	ok(t, os.WriteFile(filepath.Join(s.dir, "sub", "a.go"), []byte("changed"), 0o644))
	before := tree(t, s.dir)
	r, err := Open(t.Context(), s.dir, "")
	ok(t, err)
	if !r.Dirty(t.Context()) {
		t.Error("changes in no commit are not noticed")
	}
	commit, err := r.Commit(t.Context(), "main")
	ok(t, err)
	into := filepath.Join(t.TempDir(), "checkout")
	ok(t, r.Checkout(t.Context(), commit, into))
	if text, _ := os.ReadFile(filepath.Join(into, "sub", "a.go")); string(text) != "package a // two\n" {
		t.Errorf("checked out %q", text)
	}
	if after := tree(t, s.dir); !slices.Equal(before, after) {
		t.Errorf("the repository was\n%v\nand is\n%v", before, after)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a hook ran")
	}
}

// tree is all files below a folder, and what is in them.
func tree(t *testing.T, dir string) (files []string) {
	ok(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			text, err := os.ReadFile(path)
			files = append(files, path+": "+string(text))
			return err
		}
		return err
	}))
	return files
}

func TestBetween(t *testing.T) {
	s := newStory(t)
	r, err := Open(t.Context(), s.dir, "")
	ok(t, err)
	one, two := s.git("rev-parse", "sub-1.0.0"), s.git("rev-parse", "sub-1.1.0^{}")
	places, err := r.CommitsBetween(t.Context(), one, two, "sub", false)
	ok(t, err)
	if len(places) != 1 || places[0].Commit != two {
		t.Errorf("between are %v, want %s alone: README.md shapes no program", places, two)
	}
	s.git("checkout", "-q", "release-1")
	s.commit("backport", "sub/b.go", "package a\n")
	base, err := r.MergeBase(t.Context(), "release-1", "main")
	if err != nil || base != one {
		t.Errorf("the histories part at %q, %v", base, err)
	}
	m, err := r.Message(t.Context(), "release-1")
	if err != nil || m.Subject != "backport" || m.Author != "A" {
		t.Errorf("%+v, %v", m, err)
	}
}

// What cannot be read is an error of one sentence, without secrets.
func TestRefused(t *testing.T) {
	s := newStory(t)
	empty := story{t, t.TempDir()}
	empty.git("init", "-q")
	for _, tc := range []struct{ name, ref, want string }{
		{"", "main", "names no repository"},
		{"--upload-pack=touch x", "main", "names no repository"},
		{"/none", "main", "/none is no folder, and no URL"},
		{t.TempDir(), "main", "cannot be read as a git repository: not a git repository"},
		{"ext::sh -c true", "main", "no repository that can be read: want a folder, or a URL"},
		{"s3://bucket/x", "main", "no repository that can be read"},
		{"file:///none", "main", "fetching file:///none: "},
		{"https://user:hidden@127.0.0.1:1/x.git", "main", "fetching https://127.0.0.1:1/x.git: "},
		{s.dir, "-main", `"-main" is no ref`},
		{s.dir, "", `"" is no ref`},
		{s.dir, "main..release-1", "is no ref"},
		{s.dir, "1.1.0", `has no ref "1.1.0", did you mean "sub-1.1.0"?`},
		{s.dir, "mian", `has no ref "mian", did you mean "main"?`},
		{s.dir, "main:sub/a.go", "has no ref"},
		{empty.dir, "main", `has no ref "main": it has none at all`},
	} {
		r, err := Open(t.Context(), tc.name, t.TempDir())
		if err == nil {
			_, err = r.Commit(t.Context(), tc.ref)
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hidden") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s at %q: %v, want %q", tc.name, tc.ref, err, tc.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, s.dir, ""); err == nil {
		t.Error("it goes on after the end")
	}
}

// What a checkout borrows is what its repository has: objects of others, what stands in
// for an object that is not there, a history that ends early, a commit of no branch.
func TestCheckoutBorrows(t *testing.T) {
	s := newStory(t)
	s.git("checkout", "-q", "--detach")
	s.commit("of a tag alone", "sub/b.go", "package a // b\n")
	s.git("tag", "sub-1.2.0")
	gone := s.git("rev-parse", "HEAD:README.md")
	none := s.git("hash-object", "-w", "/dev/null")
	s.git("checkout", "-q", "main")
	shared := filepath.Join(t.TempDir(), "shared")
	s.git("clone", "-q", "--bare", "--shared", s.dir, shared)
	shallow := filepath.Join(t.TempDir(), "shallow")
	s.git("clone", "-q", "--depth=1", "--branch=sub-1.2.0", "file://"+s.dir, shallow)
	cut, err := Open(t.Context(), shallow, "")
	ok(t, err)
	if _, err := cut.Commit(t.Context(), "sub-1.0.0"); err == nil || !strings.Contains(err.Error(), "; it is a shallow clone, of which git -C "+shallow+" fetch --unshallow --tags gets the rest") {
		t.Errorf("a shallow clone: %v", err)
	}
	checkout := func(dir string) error {
		r, err := Open(t.Context(), dir, "")
		ok(t, err)
		commit, err := r.Commit(t.Context(), "sub-1.2.0")
		ok(t, err)
		into := filepath.Join(t.TempDir(), "checkout")
		if err := r.Checkout(t.Context(), commit, into); err != nil {
			return err
		}
		if text, err := os.ReadFile(filepath.Join(into, "sub", "b.go")); err != nil || string(text) != "package a // b\n" {
			t.Errorf("%s: checked out %q, %v", dir, text, err)
		}
		return nil
	}
	ok(t, checkout(shared))
	ok(t, checkout(shallow))
	ok(t, os.Remove(filepath.Join(s.dir, ".git", "objects", gone[:2], gone[2:])))
	if err := checkout(shared); err == nil || !strings.Contains(err.Error(), gone) || strings.Contains(err.Error(), "partial clone") {
		t.Errorf("without %s: %v", gone, err)
	}
	partial := story{t, shared}
	partial.git("config", "remote.origin.promisor", "true")
	if err := checkout(shared); err == nil || !strings.Contains(err.Error(), "it is a partial clone, of which nothing is fetched here: get what is missing with git") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a partial clone: %v", err)
	}
	partial.git("update-ref", "refs/replace/"+gone, none)
	ok(t, checkout(shared))
}
