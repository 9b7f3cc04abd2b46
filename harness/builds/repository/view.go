package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// place is where git has what of a repository. It is found out without running anything but git: what only asks for places and
// settings looks at no file of the work tree, at no index, and for no object.
type place struct {
	top, prefix string   // of the work tree, and the folder below it that was asked for, slashed; a bare repository has none
	own, shared string   // git's folder of this work tree, and of all work trees of the repository
	objects     string   // how they are named: sha1 or sha256
	refs        string   // how refs are kept: empty for files
	files       []string // how files of the work tree are compared: settings without programs
}

// discover finds the repository that a folder is in. Git refuses one that is another user's.
func discover(ctx context.Context, dir string) (*place, error) {
	said, err := run(ctx, dir, nil, nil, "rev-parse", "--path-format=absolute", "--show-object-format", "--is-bare-repository",
		"--is-inside-git-dir", "--git-dir", "--git-common-dir")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(said, "\n")
	if len(lines) != 5 {
		return nil, fmt.Errorf("git rev-parse said %q", said)
	}
	p := &place{objects: lines[0], own: lines[3], shared: lines[4]}
	if lines[1] == "false" && lines[2] == "false" {
		if said, err = run(ctx, dir, nil, nil, "rev-parse", "--show-toplevel", "--show-prefix"); err != nil {
			return nil, err
		}
		p.top, p.prefix, _ = strings.Cut(said, "\n")
		p.prefix = strings.TrimSuffix(p.prefix, "/")
	}
	set, err := run(ctx, dir, nil, nil, "config", "-z", "--get-regexp",
		`^(core\.(filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol|excludesfile)|extensions\.refstorage)$`)
	if err != nil {
		return p, ctx.Err() // there are none
	}
	for _, setting := range strings.Split(strings.TrimSuffix(set, "\x00"), "\x00") {
		name, value, given := strings.Cut(setting, "\n")
		switch {
		case name == "extensions.refstorage":
			p.refs = value
		case given:
			p.files = append(p.files, name+"="+value)
		default:
			p.files = append(p.files, name)
		}
	}
	return p, nil
}

// view is a repository as git sees it with a configuration of ours in place of its own: a temporary folder for git's, with
// links to objects and refs, and copies of what else there is. Of all that a repository's own configuration can have git run,
// filters, hooks, monitors, helpers, nothing is there to be turned off, and what git writes, an index, is not the repository's.
type view struct {
	*place
	dir string
}

// open makes a view, which is to be closed.
func (p *place) open() (_ view, err error) {
	dir, err := os.MkdirTemp("", "nodestorm-git-")
	if err != nil {
		return view{}, err
	}
	v := view{p, dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, v.close())
		}
	}()
	shared := filepath.Join(dir, "shared")
	for _, folder := range []string{filepath.Join(dir, "info"), filepath.Join(shared, "info"), filepath.Join(shared, "objects", "info")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return view{}, err
		}
	}
	// mutant: a repository's own configuration is read
	config := "[core]\n\trepositoryformatversion = 1\n\tbare = true\n\tsparseCheckout = true\n" +
		"[extensions]\n\tobjectFormat = " + p.objects + "\n"
	if p.refs != "" {
		config += "\trefStorage = " + p.refs + "\n"
	}
	for file, text := range map[string]string{
		"commondir": "shared\n", "shared/config": config, "shared/objects/info/alternates": filepath.Join(p.shared, "objects") + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			return view{}, err
		}
	}
	return v, errors.Join(
		link(p.own, dir, "refs", "reftable", "logs"), link(p.shared, shared, "refs", "packed-refs", "reftable", "logs"),
		copied(p.own, dir, "*HEAD", "index", "sharedindex.*", "info/sparse-checkout"),
		copied(p.shared, shared, "shallow", "info/exclude", "info/attributes", "info/grafts"),
	)
}

// link puts links to those of some entries that a folder has into another.
func link(from, to string, names ...string) error {
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(from, name)); err != nil {
			continue
		}
		if err := os.Symlink(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

// copied copies those of some files that a folder has into another, with their times: by that of an index git knows which files
// may have changed since in the same instant.
func copied(from, to string, patterns ...string) error {
	for _, pattern := range patterns {
		files, err := fs.Glob(os.DirFS(from), pattern)
		if err != nil {
			return err
		}
		for _, file := range files {
			info, err := os.Stat(filepath.Join(from, file))
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			text, err := os.ReadFile(filepath.Join(from, file))
			if err != nil {
				return err
			}
			to := filepath.Join(to, file)
			if err := errors.Join(os.WriteFile(to, text, 0o600), os.Chtimes(to, info.ModTime(), info.ModTime())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v view) close() error { return os.RemoveAll(v.dir) }

// git runs git on the repository alone, without its work tree.
func (v view) git(ctx context.Context, args ...string) (string, error) {
	return run(ctx, v.dir, nil, []string{"GIT_DIR=" + v.dir}, args...)
}

// inTree runs git in a folder of the work tree.
func (v view) inTree(ctx context.Context, dir string, args ...string) (string, error) {
	return run(ctx, dir, v.files, []string{"GIT_DIR=" + v.dir, "GIT_WORK_TREE=" + v.top}, args...)
}

// git is one call in a view of its own.
func (p *place) git(ctx context.Context, args ...string) (said string, err error) {
	v, err := p.open()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	return v.git(ctx, args...)
}
