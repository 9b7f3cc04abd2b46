package target

import (
	"context"
	"path/filepath"

	"nodestorm/harness/repository"
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
func (s Source) placeless() Source {
	if s.Kind == FromFolder {
		s.Dir, s.Ref = "", ""
		if s.Workspace != "" {
			s.Workspace = filepath.Base(s.Workspace)
		}
	}
	return s
}

// moved tells whether the ref of a source names another commit by now. What is
// elsewhere is not asked.
func (s Source) moved(ctx context.Context) bool {
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
