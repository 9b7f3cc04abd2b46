package repository

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
)

// State is the commit of the checkout that holds dir, and whether anything below dir differs from it, in submodules too. No git,
// or no checkout: no commit.
func State(ctx context.Context, dir string) (commit string, dirty bool) {
	p, err := discover(ctx, dir)
	if err != nil {
		return "", false
	}
	commit, err = p.git(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return "", false
	}
	return commit, p.top == "" || p.differs(ctx, dir)
}

// differs reports whether anything below a folder of the work tree differs from its commit, or may.
func (p *place) differs(ctx context.Context, dir string) bool {
	dirty, err := p.changed(ctx, dir)
	return dirty || err != nil
}

func (p *place) changed(ctx context.Context, dir string) (dirty bool, err error) {
	v, err := p.open()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	// What the index says is unchanged is looked at, too. Its status is that something is.
	// mutant: what an index calls unchanged is unchanged
	_, _ = v.inTree(ctx, dir, "update-index", "-q", "--really-refresh")
	status, err := v.inTree(ctx, dir, "status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=dirty", "--", ".")
	if err != nil || status != "" {
		return true, err
	}
	// Git would look into submodules with git, and with their configuration.
	listed, err := v.inTree(ctx, dir, "ls-files", "-z", "--stage", "--", ".")
	if err != nil {
		return false, err
	}
	for _, entry := range strings.Split(listed, "\x00") {
		about, path, _ := strings.Cut(entry, "\t")
		if !strings.HasPrefix(about, "160000 ") {
			continue
		}
		sub := filepath.Join(dir, filepath.FromSlash(path))
		inner, err := discover(ctx, sub)
		if err == nil && inner.top != p.top && inner.differs(ctx, sub) { // one that is not checked out is an empty folder
			return true, nil
		}
	}
	return false, nil
}

// Files are the files below dir that git knows or would add, slashed.
func Files(ctx context.Context, dir string) (files []string, err error) {
	p, err := discover(ctx, dir)
	if err != nil {
		return nil, err
	}
	if p.top == "" {
		return nil, errors.New("it is a bare repository")
	}
	v, err := p.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	listed, err := v.inTree(ctx, dir, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", ".")
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(listed, "\x00"), "\x00"), nil
}
