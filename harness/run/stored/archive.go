package stored

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"nodestorm/harness/run"
	"nodestorm/reports/bundle"
	"nodestorm/reports/redact"
	"nodestorm/sim/strict"
)

// Called is what a run in dir is called in the name of a file.
func Called(dir string) string {
	r, err := run.Load(dir)
	if err != nil || filepath.Base(r.ID) != r.ID { // a stranger's may have a path
		return filepath.Base(dir)
	}
	return r.ID + "-" + filepath.Base(dir)
}

// Pack packs runs into one archive to give away, and returns how many credentials were removed.
func (r *Reporter) Pack(ctx context.Context, found []Run, to string, scratch Scratch) (removed int, err error) {
	staging, remove, err := scratch()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	redactor := redact.ForHere()
	for n, f := range found {
		dir := filepath.Join(staging, fmt.Sprintf("%03d-%s", n+1, filepath.Base(f.Dir)))
		if err := copyRun(ctx, redactor, f.Dir, dir); err != nil {
			return 0, err
		}
		if run.Sound(ctx, f.Dir) { // of another one the digests stay those that differ
			if err := run.Reseal(ctx, dir); err != nil {
				return 0, err
			}
		}
		if err := r.Page(ctx, filepath.Join(dir, run.ReportFile), dir); err != nil {
			return 0, err
		}
	}
	name := strings.TrimSuffix(filepath.Base(to), ArchiveSuffix)
	return redactor.Count, r.File(ctx, to, func(w io.Writer) error { return bundle.Pack(ctx, w, staging, name) })
}

// copyRun copies what belongs to a run, without credentials. Links and what else
// lies in the folder are left out.
func copyRun(ctx context.Context, redactor *redact.Redactor, from, to string) error {
	paths := []string{run.File, run.HistoryFile, run.JUnitFile, run.CucumberFile}
	root, err := os.OpenRoot(from) // no link leads out of it
	if err != nil {
		return err
	}
	defer root.Close()
	logs, _ := fs.Glob(root.FS(), run.LogFolder+"/*.log") // the pattern is ours
	for _, path := range logs {
		paths = append(paths, filepath.FromSlash(path))
	}
	// Most runs have no such folder, and one that leads elsewhere is none.
	_ = fs.WalkDir(root.FS(), run.ScenarioFolder, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			paths = append(paths, filepath.FromSlash(name))
		}
		return err
	})
	for _, path := range paths {
		if err := os.MkdirAll(filepath.Join(to, filepath.Dir(path)), 0o755); err != nil {
			return err
		}
		if err := copyRedacted(ctx, redactor, root, path, filepath.Join(to, path)); err != nil {
			return fmt.Errorf("copying %s: %w", path, err)
		}
	}
	return nil
}

func copyRedacted(ctx context.Context, redactor *redact.Redactor, root *os.Root, from, to string) error {
	info, err := root.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil
	}
	if err != nil {
		return err
	}
	in, err := root.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(redactor.Copy(out, strict.While(ctx, in)), out.Close(), os.Chtimes(to, info.ModTime(), info.ModTime()))
}
