// Package stored finds stored runs, and makes of them what people read: pages, tables of many,
// archives to give away, counts over all of them. It starts nothing.
package stored

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"nodestorm/harness/run"
	"nodestorm/reports/bundle"
	"nodestorm/sim/strict"
)

// ArchiveSuffix ends the names of bundles.
const ArchiveSuffix = ".tar.gz"

// Run is the folder of a run, what the user calls it, and where its page goes by default.
type Run struct{ Dir, Name, Page string }

// ErrorText is an error about the run, as the user calls it.
func (r Run) ErrorText(err error) string { return strings.ReplaceAll(err.Error(), r.Dir, r.Name) }

// Scratch makes a temporary folder, which remove removes.
type Scratch func() (dir string, remove func() error, err error)

// Find finds the runs that args name: folders of runs, folders above some, and bundles, which are
// unpacked. done removes what was unpacked; it is never nil.
func Find(ctx context.Context, args []string, scratch Scratch) (found []Run, done func(), err error) {
	var unpacked []func() error
	done = func() {
		for _, remove := range unpacked {
			_ = remove()
		}
	}
	for _, arg := range args {
		dir, prefix := arg, ""
		if info, err := os.Stat(arg); err == nil && info.Mode().IsRegular() {
			var remove func() error
			if dir, remove, err = scratch(); err != nil {
				return nil, done, err
			}
			unpacked = append(unpacked, remove)
			if err := unpack(ctx, arg, dir); errors.Is(err, syscall.ENOSPC) {
				return nil, done, fmt.Errorf("%s: %w", arg, err)
			} else if err != nil {
				return nil, done, fmt.Errorf("%s: %w; name the folder of a run, one above it, or an archive of nodestorm bundle", arg, err)
			}
			prefix = strings.TrimSuffix(arg, ArchiveSuffix) + "-"
		}
		if irregular := (*strict.IrregularError)(nil); errors.As(strict.Regular(arg), &irregular) && !irregular.Mode.IsDir() {
			return nil, done, irregular
		}
		below, err := FindRuns(dir)
		if err != nil {
			if _, statErr := os.Stat(filepath.Join(dir, run.HistoryFile)); statErr != nil {
				return nil, done, err
			}
			below = []string{dir} // its run.json is lost
		}
		for _, dir := range below {
			name, page := dir, filepath.Join(dir, run.ReportFile)
			if prefix != "" {
				name, page = arg+": "+filepath.Base(dir), prefix+filepath.Base(dir)+".html"
			}
			found = append(found, Run{dir, name, page})
		}
	}
	return found, done, nil
}

func unpack(ctx context.Context, path, dir string) error {
	file, err := strict.Open(ctx, path)
	if err != nil {
		return err
	}
	defer file.Close()
	return bundle.Unpack(ctx, file, dir)
}

// FindRuns finds the folders with a run.json at or below dir. A run that was discarded is there only if
// dir is its folder, or if there is no other.
func FindRuns(dir string) (dirs []string, err error) {
	var discarded []string
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != run.File || d.IsDir() {
			return err
		}
		// mutant: runs that were discarded count
		if r, err := run.Load(filepath.Dir(path)); err == nil && r.Discarded != "" {
			discarded = append(discarded, filepath.Dir(path))
			return nil
		}
		dirs = append(dirs, filepath.Dir(path))
		return nil
	})
	if len(dirs) == 0 {
		dirs = discarded
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%s is not there; name the folder of a run, or one above it", dir)
	case err == nil && len(dirs) == 0:
		err = fmt.Errorf("%s: there is no %s in it or below; name the folder of a run, or one above it", dir, run.File)
	}
	return dirs, err
}
