package buildstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/sumdb/dirhash"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/repository"
	"nodestorm/harness/builds/tree"
	"nodestorm/sim/strict"
)

// state is what a source folder holds: its commit, whether anything differs from
// that, and a hash of the files that can shape a build, in go.sum's notation.
type state struct {
	commit string // empty without git
	dirty  bool
	sum    string
}

// stateOf looks at a source folder's whole module, and at the folders that its
// go.mod and its workspace put in place of other modules.
func stateOf(ctx context.Context, src builds.Source) (now state, err error) {
	_, module, err := sourceIn(src.Dir, "")
	if err != nil {
		return state{}, err
	}
	folders, err := foldersOf(module, src.Workspace)
	if err != nil {
		return state{}, err
	}
	at := map[string]string{} // by the name in the hash
	for i, folder := range folders {
		commit, dirty := repository.State(ctx, folder)
		if i == 0 {
			now.commit = commit
		}
		now.dirty = now.dirty || dirty
		files, err := sourceFiles(ctx, folder)
		if err != nil {
			return state{}, fmt.Errorf("hashing %s: %w", folder, err)
		}
		for _, file := range files {
			at[path.Join(fmt.Sprint(i), file)] = filepath.Join(folder, filepath.FromSlash(file))
		}
	}
	if src.Workspace != "" {
		at["go.work"] = src.Workspace
	}
	names := make([]string, 0, len(at))
	for name := range at {
		names = append(names, name)
	}
	now.sum, err = dirhash.Hash1(names, func(name string) (io.ReadCloser, error) { return strict.Open(ctx, at[name]) })
	if err != nil {
		return state{}, fmt.Errorf("hashing %s: %w", module, err)
	}
	return now, ctx.Err() // git that was interrupted knows no commit
}

// foldersOf are the module's own folder and those that go.mod and go.work name.
func foldersOf(module, workspace string) ([]string, error) {
	folders := []string{module}
	add := func(base, dir string) {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(base, dir)
		}
		within := func(folder string) bool {
			rel, err := filepath.Rel(folder, dir)
			return err == nil && filepath.IsLocal(rel)
		}
		if info, err := os.Stat(dir); err == nil && info.IsDir() && !slices.ContainsFunc(folders, within) {
			folders = append(folders, filepath.Clean(dir))
		}
	}
	replaced := func(base string, list []*modfile.Replace) {
		for _, r := range list {
			if modfile.IsDirectoryPath(r.New.Path) {
				add(base, r.New.Path)
			}
		}
	}
	if workspace != "" {
		text, err := strict.ReadFile(workspace, maxText)
		if err != nil {
			return nil, err
		}
		work, err := modfile.ParseWork(workspace, text, nil)
		if err != nil {
			return nil, err
		}
		for _, use := range work.Use {
			add(filepath.Dir(workspace), use.Path)
		}
		replaced(filepath.Dir(workspace), work.Replace)
	}
	for _, folder := range slices.Clone(folders) {
		text, err := strict.ReadFile(filepath.Join(folder, "go.mod"), maxText)
		if err != nil {
			return nil, err
		}
		mod, err := modfile.Parse("go.mod", text, nil)
		if err != nil {
			return nil, err
		}
		replaced(folder, mod.Replace)
	}
	return folders, nil
}

// sourceFiles are the files below dir that a build can see, slashed: those that git
// knows or would add, or else all but what the go command passes over.
func sourceFiles(ctx context.Context, dir string) (files []string, err error) {
	found, err := repository.Files(ctx, dir)
	if err != nil {
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				if path != dir && passedOver(d.Name()) {
					return filepath.SkipDir
				}
				return nil
			}
			rel, err := filepath.Rel(dir, path)
			found = append(found, filepath.ToSlash(rel))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for _, file := range found {
		folders := strings.Split(path.Dir(file), "/")
		if strings.HasSuffix(file, "_test.go") || path.Dir(file) != "." && slices.ContainsFunc(folders, passedOver) {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(file)))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // deleted, or a link to nothing
			continue
		}
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() {
			files = append(files, file)
		}
	}
	return files, nil
}

// passedOver reports whether the go command looks for no packages in a folder of that name.
func passedOver(folder string) bool {
	return strings.HasPrefix(folder, ".") || strings.HasPrefix(folder, "_") || folder == "testdata"
}

// SourceChanged reports whether what t was made of holds something else by now: its
// source folder, or the file that was added. What is gone, or holds another release,
// says nothing of t any more.
func SourceChanged(ctx context.Context, t builds.Target) (bool, error) {
	src := t.Source
	switch src.Kind {
	case builds.FromBinary:
		sum, _, err := tree.SHA256(src.File)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil && sum != t.SHA256, err
	case builds.FromFolder:
	default:
		return false, nil
	}
	if src.Ref != "" {
		return moved(ctx, src), nil
	}
	_, module, err := sourceIn(src.Dir, "")
	if err != nil || checkVersion(t.Ref, module) != nil {
		return false, nil
	}
	now, err := stateOf(ctx, src)
	if err != nil {
		return false, err
	}
	if src.Sum == "" { // of before it was kept: for a changed or unknown commit there is nothing to compare
		return src.Commit != "" && now.commit != src.Commit, nil
	}
	return now.sum != src.Sum, nil
}

// Rebuild is the command that builds or adds t again from where it came from.
func Rebuild(t builds.Target) string { return buildCommand(t.Ref, t.Source) }
