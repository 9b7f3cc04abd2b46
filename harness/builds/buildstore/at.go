package buildstore

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/gotool"
	"nodestorm/harness/builds/repository"
	"nodestorm/sim/strict"
)

// Repository opens the git repository that a recipe's Dir names; the mirrors of those
// elsewhere are in the store.
func (s *Store) Repository(ctx context.Context, name string) (*repository.Repository, error) {
	return repository.Open(ctx, name, filepath.Join(s.dir, "mirrors"))
}

// checkout puts what the recipe is At into tmp, which outlives no build, and returns
// the folder of it that the recipe's Dir named.
func (s *Store) checkout(ctx context.Context, r Recipe, tmp string, report reporter) (dir string, from *repository.Repository, err error) {
	report.send(Update{Stage: Checkout, Package: repository.Redacted(r.Dir) + " " + r.At})
	repo, err := s.Repository(ctx, r.Dir)
	if err != nil {
		return "", nil, err
	}
	commit, err := repo.Commit(ctx, r.At)
	if err != nil {
		return "", nil, err
	}
	top := filepath.Join(tmp, "src")
	if err := repo.Checkout(ctx, commit, top); err != nil {
		return "", nil, err
	}
	return filepath.Join(top, filepath.FromSlash(repo.Prefix)), repo, nil
}

// fromRepository is a checkout of the recipe's ref, as fromFolder has one.
func (s *Store) fromRepository(ctx context.Context, r Recipe, tmp string, report reporter) (fetched, error) {
	dir, repo, err := s.checkout(ctx, r, tmp, report)
	if err != nil {
		return fetched{}, err
	}
	r.Dir = dir
	src, err := fromFolder(r)
	if err != nil {
		return fetched{}, err
	}
	src.Dir, src.Ref = repo.Name, r.At
	return src, nil
}

// placeless is a source without where it was: what is in it says what it is.
func placeless(s builds.Source) builds.Source {
	if s.Kind == builds.FromFolder {
		s.Dir, s.Ref = "", ""
		if s.Workspace != "" {
			s.Workspace = filepath.Base(s.Workspace)
		}
	}
	return s
}

// moved reports whether the ref of a source names another commit by now. What is
// elsewhere is not asked.
func moved(ctx context.Context, s builds.Source) bool {
	if !exists(s.Dir) {
		return false
	}
	repo, err := repository.Open(ctx, s.Dir, "")
	if err != nil {
		return false
	}
	commit, err := repo.Commit(ctx, s.Ref)
	return err == nil && commit != s.Commit
}

// OfCommit is an intact build of a commit that the store has under any version, for the
// recipe's name, provider, package and tags.
func (s *Store) OfCommit(r Recipe, commit string) (builds.Target, bool) {
	for _, ref := range s.Refs() {
		if ref.Name != r.Name {
			continue
		}
		keys, err := s.keys(ref)
		if err != nil {
			continue
		}
		for _, key := range keys {
			var m builds.Manifest
			b, err := strict.ReadFile(filepath.Join(s.refDir(ref), key, manifestFile), maxText)
			if err != nil || json.Unmarshal(b, &m) != nil {
				continue
			}
			src := m.Source
			if src.Kind != builds.FromFolder || src.Commit != commit || src.Dirty || m.Provider != r.Provider || m.Race != r.Race ||
				src.Package != r.mainPackage() || !slices.Equal(src.Tags, r.Tags) {
				continue
			}
			if t, err := s.load(ref, key); err == nil {
				return t, true
			}
		}
	}
	return builds.Target{}, false
}

// Versions are the releases of a module that the go command finds, oldest first.
func Versions(ctx context.Context, module string) ([]string, error) {
	tmp, err := os.MkdirTemp("", "nodestorm-versions-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	out, err := gotool.New(tmp, tmp, io.Discard, alone).Run(ctx, nil, "list", "-m", "-versions", "-json", "--", module)
	if err != nil {
		return nil, fmt.Errorf("listing the releases of %s: %w", module, err)
	}
	var m struct{ Versions []string }
	if err := json.Unmarshal(out, &m); err != nil {
		return nil, fmt.Errorf("listing the releases of %s: %w", module, err)
	}
	return slices.DeleteFunc(m.Versions, func(v string) bool { return !builds.IsRelease(v) }), nil
}
