package nights

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nodestorm/harness/run/stored"
	"nodestorm/reports/matrix"
	"nodestorm/reports/table"
)

// Gather is what was run in a night: all runs below the paths, or what matrices say
// where there are none. Links are relative to out. unread is why not all could be read.
func Gather(ctx context.Context, paths []string, r *stored.Reporter, scratch stored.Scratch, out string) (
	_ *matrix.Matrix, unread, err error,
) {
	night := &matrix.Matrix{}
	var elsewhere []matrix.Cell
	for _, path := range paths {
		found, done, err := stored.Find(ctx, []string{path}, scratch)
		defer done()
		matrices, none := matricesBelow(ctx, path)
		if err != nil && (none != nil || len(matrices) == 0) {
			return nil, nil, cmp.Or(none, err)
		}
		cells, cannot := r.Cells(ctx, found, out)
		if ctx.Err() != nil {
			return nil, nil, cannot
		}
		unread = cmp.Or(unread, cannot)
		night.Cells = append(night.Cells, cells...)
		for _, m := range matrices {
			night.Skipped = append(night.Skipped, m.Skipped...)
			elsewhere = append(elsewhere, m.Cells...)
		}
	}
	addElsewhere(night, elsewhere)
	for _, c := range night.Cells {
		if c.Started.After(night.Made) {
			night.Made = c.Started
		}
	}
	if len(night.Cells) == 0 && len(night.Skipped) == 0 {
		return nil, nil, fmt.Errorf("%s: there are no runs, and no %s", strings.Join(paths, ", "), stored.MatrixFile)
	}
	if night.Made.IsZero() {
		night.Made = time.Now()
	}
	leaveTwice(night)
	return night, unread, nil
}

// addElsewhere adds cells of runs that are not at hand, and so is where the links lead.
func addElsewhere(night *matrix.Matrix, cells []matrix.Cell) {
	runs := night.Cells
	for _, c := range cells {
		if !slices.ContainsFunc(runs, func(r matrix.Cell) bool { return isRunOf(r, c) }) {
			c.Run = ""
			night.Cells = append(night.Cells, c)
		}
	}
}

// isRunOf reports whether both are of one run: of one digest, or of one time where there is none.
func isRunOf(r, c matrix.Cell) bool {
	if r.Scenario != c.Scenario || r.Target != c.Target {
		return false
	}
	if c.Digest != "" {
		return r.Digest == c.Digest
	}
	return r.Started.Equal(c.Started)
}

// leaveTwice takes out what is there twice, and what was skipped and has run elsewhere.
func leaveTwice(night *matrix.Matrix) {
	type key struct{ scenario, target, digest string }
	seen := map[key]bool{}
	once := func(k key) bool { was := seen[k]; seen[k] = true; return was }
	night.Cells = slices.DeleteFunc(night.Cells, func(c matrix.Cell) bool {
		return c.Digest != "" && once(key{c.Scenario, c.Target, c.Digest})
	})
	night.Skipped = slices.DeleteFunc(night.Skipped, func(s matrix.Skip) bool {
		ran := slices.ContainsFunc(night.Cells, func(c matrix.Cell) bool { return c.Scenario == s.Scenario && c.Target == s.Target })
		return ran || once(key{s.Scenario, s.Target, table.Skipped})
	})
}

// matricesBelow reads the matrices that verify and merge have left.
func matricesBelow(ctx context.Context, path string) (found []*matrix.Matrix, err error) {
	err = filepath.WalkDir(path, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != stored.MatrixFile {
			return err
		}
		m, err := stored.ReadMatrix(ctx, file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		found = append(found, m)
		return nil
	})
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%s is not there; name a folder with runs, or with a matrix.json", path)
	}
	return found, err
}
