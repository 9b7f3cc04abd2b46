package repository

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// trap gives a repository each kind of setting by which git runs a program of the repository's choice, and hooks. The programs
// note that they ran.
func (s story) trap() (ran func() []string) {
	notes := s.t.TempDir()
	program := func(name string) string {
		path := filepath.Join(notes, name+".sh")
		ok(s.t, os.WriteFile(path, []byte("#!/bin/sh\ntouch "+filepath.Join(notes, name)+"\n"), 0o755))
		return path
	}
	git := filepath.Join(s.dir, ".git")
	ok(s.t, os.WriteFile(filepath.Join(git, "more"), []byte("[filter \"included\"]\n\tclean = "+program("included")+"\n"), 0o600))
	for _, hook := range []string{"post-index-change", "post-checkout", "reference-transaction", "pre-auto-gc"} {
		ok(s.t, os.MkdirAll(filepath.Join(git, "hooks"), 0o755))
		ok(s.t, os.Rename(program(hook), filepath.Join(git, "hooks", hook)))
	}
	settings := [][]string{
		{"core.repositoryformatversion", "1"}, {"include.path", "more"},
		{"core.sshCommand", program("ssh")}, {"core.pager", program("pager")}, {"core.editor", program("editor")},
		{"core.askPass", program("askpass")}, {"core.alternateRefsCommand", program("alternates")},
		{"core.hooksPath", filepath.Join(git, "hooks")},
		{"filter.here.clean", program("clean")}, {"filter.here.smudge", program("smudge")}, {"filter.here.required", "true"},
		{"filter.long.process", program("process")}, {"filter.long.required", "true"},
		{"diff.here.textconv", program("textconv")}, {"diff.here.command", program("command")}, {"diff.external", program("diff")},
		{"gpg.program", program("gpg")}, {"log.showSignature", "true"}, {"status.submoduleSummary", "true"},
		{"pager.status", program("pagerstatus")}, {"pager.log", program("pagerlog")}, {"pager.config", program("pagerconfig")},
		{"remote.origin.url", "file://" + s.dir}, {"remote.origin.promisor", "true"}, {"remote.origin.uploadpack", program("uploadpack")},
		{"extensions.partialClone", "origin"}, {"core.fsmonitor", program("fsmonitor")},
	}
	text := ""
	for _, set := range settings {
		at := strings.LastIndex(set[0], ".")
		section, name := set[0][:at], set[0][at+1:]
		if kind, of, has := strings.Cut(section, "."); has {
			section = kind + ` "` + of + `"`
		}
		text += "[" + section + "]\n\t" + name + " = " + set[1] + "\n"
	}
	config, err := os.ReadFile(filepath.Join(git, "config"))
	ok(s.t, err)
	ok(s.t, os.WriteFile(filepath.Join(git, "config"), append(config, text...), 0o600))
	ok(s.t, os.WriteFile(filepath.Join(git, "info", "attributes"), []byte("*.go filter=here diff=here\n*.md filter=included\n*.mod filter=long\n"), 0o600))
	return func() (names []string) {
		found, err := filepath.Glob(filepath.Join(notes, "*"))
		ok(s.t, err)
		for _, name := range found {
			if !strings.HasSuffix(name, ".sh") {
				names = append(names, filepath.Base(name))
			}
		}
		return names
	}
}

// again writes each file of the work tree anew, so that git has to look into it.
func (s story) again() {
	for _, file := range strings.Fields(s.git("ls-files")) {
		path := filepath.Join(s.dir, file)
		if isFolder(path) { // a submodule
			continue
		}
		text, err := os.ReadFile(path)
		ok(s.t, err)
		ok(s.t, os.Remove(path))
		ok(s.t, os.WriteFile(path, text, 0o644))
	}
}

// What a repository's own configuration, attributes and hooks have git run is not run, whatever is asked of the repository, and
// nothing of it is written.
func TestNothingOfItsOwnRuns(t *testing.T) {
	inner := newStory(t)
	s := newStory(t)
	s.commit("a module", "go.mod", "module a\n")
	s.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.dir, "sub/inner")
	s.commit("a submodule", "sub/c.go", "package a\n")
	lost := s.git("hash-object", "-w", "--stdin")
	s.git("tag", "lost", lost)
	head := s.git("rev-parse", "HEAD")
	ok(t, os.Remove(filepath.Join(s.dir, ".git", "objects", lost[:2], lost[2:])))
	sub := story{t, filepath.Join(s.dir, "sub", "inner")}
	s.again()
	sub.again()
	ok(t, os.Rename(filepath.Join(sub.dir, ".git"), filepath.Join(t.TempDir(), ".git")))
	ok(t, os.Rename(filepath.Join(s.dir, ".git", "modules", "sub", "inner"), filepath.Join(sub.dir, ".git")))
	s.git("config", "--file", filepath.Join(sub.dir, ".git", "config"), "--unset", "core.worktree")
	ran, ranBelow := s.trap(), sub.trap()
	hooks := filepath.Join(t.TempDir(), "gitconfig") // the user's own are for the user's own work
	ok(t, os.WriteFile(hooks, []byte("[core]\n\thooksPath = "+filepath.Join(s.dir, ".git", "hooks")+"\n\tfsmonitor = true\n"), 0o600))
	t.Setenv("GIT_CONFIG_GLOBAL", hooks)
	before := tree(t, s.dir)

	for folder, dirty := range map[string]bool{s.dir: false, filepath.Join(s.dir, "sub"): false, sub.dir: false} {
		if _, now := State(t.Context(), folder); now != dirty {
			t.Errorf("%s: differs %v, want %v", folder, now, dirty)
		}
	}
	files, err := Files(t.Context(), filepath.Join(s.dir, "sub"))
	if err != nil || !slices.Equal(files, []string{"a.go", "c.go", "inner"}) {
		t.Errorf("files: %q, %v", files, err)
	}
	r, err := Open(t.Context(), s.dir, "")
	ok(t, err)
	if commit, err := r.Commit(t.Context(), "HEAD"); err != nil || commit != head || r.Dirty(t.Context()) {
		t.Errorf("HEAD is %s, %v; dirty %v", commit, err, r.Dirty(t.Context()))
	}
	if _, err := r.Commit(t.Context(), "lost"); err == nil {
		t.Error("an object that is not there was found")
	}
	if _, err := r.Tags(t.Context()); err == nil {
		t.Error("a tag of an object that is not there was read")
	}
	_, err = r.CommitsBetween(t.Context(), "sub-1.0.0", "main", "sub", false)
	ok(t, err)
	_, err = r.Message(t.Context(), head)
	ok(t, err)
	if !r.HasFile(t.Context(), head, "sub/a.go") || !r.Contains(t.Context(), head, "sub-1.0.0") || r.HasFile(t.Context(), head, "none") {
		t.Error("what a commit has")
	}
	ok(t, r.Checkout(t.Context(), head, filepath.Join(t.TempDir(), "checkout")))

	if after := tree(t, s.dir); !slices.Equal(before, after) {
		t.Error("the repository was written")
	}
	if names := slices.Concat(ran(), ranBelow()); len(names) > 0 {
		t.Errorf("git ran %q of the repository's", names)
	}
}

// What differs from the commit is seen, also where the index says that it is not to be looked at; what only was copied
// is the same.
func TestState(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(s story)
		dirty  bool
	}{
		"nothing":         {func(story) {}, false},
		"written anew":    {func(s story) { s.again() }, false},
		"changed":         {func(s story) { write(s, "sub/a.go", "package a // 2wo\n") }, true},
		"added":           {func(s story) { write(s, "sub/a.go", "package a // 2wo\n"); s.git("add", ".") }, true},
		"a new file":      {func(s story) { write(s, "sub/new.go", "package a\n") }, true},
		"an ignored file": {func(s story) { write(s, "sub/new.o", ""); write(s, ".git/info/exclude", "*.o\n") }, false},
		"gone":            {func(s story) { ok(s.t, os.Remove(filepath.Join(s.dir, "sub/a.go"))) }, true},
		"an assumed file": {func(s story) {
			s.git("update-index", "--assume-unchanged", "sub/a.go")
			write(s, "sub/a.go", "package b // 2wo\n")
		}, true},
		"a skipped file": {func(s story) {
			s.git("update-index", "--skip-worktree", "sub/a.go")
			write(s, "sub/a.go", "package b // 2wo\n")
		}, true},
		"no new file shown": {func(s story) {
			s.git("config", "status.showUntrackedFiles", "no")
			write(s, "sub/new.go", "package a\n")
		}, true},
		"a sparse checkout": {func(s story) { s.git("sparse-checkout", "set", "--cone", "--sparse-index", "sub") }, false},
		"a sparse one, changed": {func(s story) {
			s.git("sparse-checkout", "set", "--cone", "--sparse-index", "sub")
			write(s, "sub/a.go", "package a // 2wo\n")
		}, true},
		"modes that do not count": {func(s story) {
			s.git("config", "core.fileMode", "false")
			ok(s.t, os.Chmod(filepath.Join(s.dir, "sub/a.go"), 0o755))
		}, false},
		"modes":         {func(s story) { ok(s.t, os.Chmod(filepath.Join(s.dir, "sub/a.go"), 0o755)) }, true},
		"a split index": {func(s story) { s.git("update-index", "--split-index"); s.again() }, false},
		"a split index, changed": {func(s story) {
			s.git("update-index", "--split-index")
			write(s, "sub/a.go", "package a // 2wo\n")
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			s.commit("beside", "beside/b.go", "package b\n")
			tc.change(s)
			before := tree(t, s.dir)
			commit, dirty := State(t.Context(), s.dir)
			if commit != s.git("rev-parse", "HEAD") || dirty != tc.dirty {
				t.Errorf("at %q, differs %v; want %v", commit, dirty, tc.dirty)
			}
			if !slices.Equal(before, tree(t, s.dir)) {
				t.Error("the repository was written")
			}
			if _, dirty := State(t.Context(), filepath.Join(s.dir, "beside")); dirty {
				t.Error("another folder differs, too")
			}
		})
	}
}

func write(s story, file, text string) {
	s.t.Helper()
	ok(s.t, os.WriteFile(filepath.Join(s.dir, file), []byte(text), 0o644))
}

// A second work tree of a repository, one in a submodule, and what is none.
func TestStateElsewhere(t *testing.T) {
	s := newStory(t)
	second := story{t, filepath.Join(t.TempDir(), "second")}
	s.git("worktree", "add", "-q", "--detach", second.dir, "sub-1.0.0")
	one := s.git("rev-parse", "sub-1.0.0")
	if commit, dirty := State(t.Context(), filepath.Join(second.dir, "sub")); commit != one || dirty {
		t.Errorf("a second work tree is at %q, differs %v", commit, dirty)
	}
	r, err := Open(t.Context(), second.dir, "")
	ok(t, err)
	for ref, want := range map[string]string{"HEAD": one, "main": s.git("rev-parse", "main"), "main~2": one} {
		if commit, err := r.Commit(t.Context(), ref); err != nil || commit != want {
			t.Errorf("%s is %q, %v; want %q", ref, commit, err, want)
		}
	}
	write(second, "sub/a.go", "package b\n")
	if _, dirty := State(t.Context(), second.dir); !dirty {
		t.Error("a changed second work tree does not differ")
	}
	if _, dirty := State(t.Context(), s.dir); dirty {
		t.Error("the first differs with the second")
	}

	inner := newStory(t)
	s.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.dir, "below")
	s.git("commit", "-q", "-m", "a submodule")
	if _, dirty := State(t.Context(), s.dir); dirty {
		t.Error("a submodule as committed differs")
	}
	write(story{t, filepath.Join(s.dir, "below")}, "new.go", "package b\n")
	if _, dirty := State(t.Context(), s.dir); !dirty {
		t.Error("a new file in a submodule is not seen")
	}

	for name, dir := range map[string]string{"no repository": t.TempDir(), "none": "/none"} {
		if commit, dirty := State(t.Context(), dir); commit != "" || dirty {
			t.Errorf("%s: %q, %v", name, commit, dirty)
		}
	}
	empty := story{t, t.TempDir()}
	empty.git("init", "-q")
	if commit, dirty := State(t.Context(), empty.dir); commit != "" || dirty {
		t.Errorf("without a commit: %q, %v", commit, dirty)
	}
	if commit, dirty := State(t.Context(), s.bare()); commit == "" || !dirty {
		t.Errorf("bare: %q, %v", commit, dirty)
	}
	if _, err := Files(t.Context(), s.bare()); err == nil {
		t.Error("a bare repository has files")
	}
}

// Variables of a git that started us are not taken for the user's.
func TestEnvironment(t *testing.T) {
	t.Setenv("GIT_DIR", "/none")
	t.Setenv("GIT_INDEX_FILE", "/none")
	t.Setenv("GIT_LITERAL_PATHSPECS", "1")
	t.Setenv("GIT_SSL_CAINFO", "/kept")
	env := environment(os.Environ())
	has := func(prefix string) bool {
		return slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, prefix) })
	}
	if has("GIT_DIR=") || has("GIT_INDEX_FILE=") || has("GIT_LITERAL") || !has("GIT_SSL_CAINFO=/kept") || !has("GIT_ALLOW_PROTOCOL=none") || !has("PATH=") {
		t.Errorf("%q", env)
	}
}
