package buildstore

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/builds/tree"
)

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// What the source folder of a build holds by now is noticed, with git and without,
// where it can shape a build.
func TestSourceChanged(t *testing.T) {
	for _, kept := range []string{"by git", "without git"} {
		t.Run(kept, func(t *testing.T) {
			dir := t.TempDir()
			source := filepath.Join(dir, "tiny")
			ok(t, os.CopyFS(source, os.DirFS(tinySource(t))))
			write(t, filepath.Join(source, "go.mod"), "module example.com/tiny\n\ngo 1.24\n\nreplace example.com/beside => ../beside\n")
			write(t, filepath.Join(dir, "beside", "go.mod"), "module example.com/beside\n")
			write(t, filepath.Join(dir, "beside", "beside.go"), "package beside\n")
			if kept == "by git" {
				gitIn(t, dir, "init", "-q")
				gitIn(t, dir, "add", ".")
				gitIn(t, dir, "commit", "-q", "-m", "first")
			}
			s := openStore(t)
			built := build(t, s, fromFolderRecipe(source))
			if !strings.HasPrefix(built.Source.Sum, "h1:") || built.Source.Dirty || (built.Source.Commit == "") != (kept == "without git") {
				t.Fatalf("source: %+v", built.Source)
			}
			changed := func(what string, want bool) {
				t.Helper()
				if got, err := SourceChanged(t.Context(), built); err != nil || got != want {
					t.Errorf("%s: changed %v, %v; want %v", what, got, err, want)
				}
			}
			changed("as built", false)
			for file, want := range map[string]bool{
				"tiny/cmd/main.go": true, "tiny/crds/things.yaml": true, "tiny/go.mod": true, "tiny/new.go": true, "beside/beside.go": true,
				"tiny/cmd/main_test.go": false, "tiny/.idea/settings": false, "beside/testdata/golden": false,
			} {
				path := filepath.Join(dir, filepath.FromSlash(file))
				before, err := os.ReadFile(path)
				write(t, path, string(before)+"\n")
				changed(file, want)
				if err == nil {
					write(t, path, string(before))
				} else {
					ok(t, os.Remove(path))
				}
				changed(file+" as before", false)
			}
			if kept == "by git" { // a commit is no change of what is built; a file beside is none of the commit
				write(t, filepath.Join(dir, "beside", "beside.go"), "package beside // changed\n")
				if now := build(t, s, fromFolderRecipe(source)); !now.Source.Dirty || now.Source.Sum == built.Source.Sum {
					t.Errorf("a changed folder beside: %+v", now.Source)
				}
				gitIn(t, dir, "checkout", "-q", ".")
				gitIn(t, dir, "commit", "-q", "--allow-empty", "-m", "second")
				changed("an empty commit", false)
				built.Source.Sum = "" // as entries of before have it
				changed("of another commit, without a hash", true)
			}
			write(t, filepath.Join(source, "version", "version.go"), "package version\n\nconst TinyVersion = \"2.0.0\"\n")
			changed("another release", false)
			ok(t, os.RemoveAll(source))
			changed("gone", false)
		})
	}
}

func TestAddedFileChanged(t *testing.T) {
	program, err := os.Executable()
	ok(t, err)
	file := filepath.Join(t.TempDir(), "tiny")
	ok(t, tree.CopyFile(file, program))
	added, err := openStore(t).Add(t.Context(), Recipe{Ref: tiny}, file)
	ok(t, err)
	for n, want := range []bool{false, true} {
		if got, err := SourceChanged(t.Context(), added); err != nil || got != want {
			t.Errorf("%d: changed %v, %v; want %v", n, got, err, want)
		}
		write(t, file, "other")
	}
	ok(t, os.Remove(file))
	if got, err := SourceChanged(t.Context(), added); err != nil || got {
		t.Errorf("gone: changed %v, %v", got, err)
	}
}

// A build of a folder runs nothing that the folder's repository has git run, and leaves its index as it is.
func TestBuildRunsNothingOfTheRepository(t *testing.T) {
	dir := tinySource(t)
	commit := commitAll(t, dir, "tiny-v1.0.0")
	ran := filepath.Join(t.TempDir(), "ran")
	git := filepath.Join(dir, ".git")
	for _, program := range []string{"hooks/post-index-change", "program"} {
		ok(t, os.MkdirAll(filepath.Join(git, "hooks"), 0o755))
		ok(t, os.WriteFile(filepath.Join(git, program), []byte("#!/bin/sh\necho \"$0\" >> "+ran+"\n"), 0o755))
	}
	write(t, filepath.Join(git, "info", "attributes"), "*.go filter=here\n")
	config, err := os.ReadFile(filepath.Join(git, "config"))
	ok(t, err)
	write(t, filepath.Join(git, "config"), string(config)+"[core]\n\tfsmonitor = "+git+"/program\n[filter \"here\"]\n\tclean = "+git+"/program\n")
	index, err := os.ReadFile(filepath.Join(git, "index"))
	ok(t, err)
	ok(t, os.Remove(filepath.Join(dir, "cmd", "main.go")))
	write(t, filepath.Join(dir, "cmd", "main.go"), tinyMain)

	built := build(t, openStore(t), fromFolderRecipe(dir))
	if built.Source.Commit != commit || built.Source.Dirty {
		t.Errorf("the source is %+v", built.Source)
	}
	if changed, err := SourceChanged(t.Context(), built); err != nil || changed {
		t.Errorf("changed %v, %v", changed, err)
	}
	if after, err := os.ReadFile(filepath.Join(git, "index")); err != nil || string(after) != string(index) {
		t.Errorf("the index was written, %v", err)
	}
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("git ran\n%s", text)
	}
}
