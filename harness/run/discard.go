package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// DiscardedSuffix ends the names of the folders of runs that do not count.
const DiscardedSuffix = ".discarded"

// Discard moves the folder of a run that does not count out of the way of the run that is played
// in its place, which gets the name, and notes in it which one that is. It returns where the run
// is now. A run that did not come to its end can be discarded as well.
func Discard(dir string) (moved string, err error) {
	r, err := Load(dir)
	if err != nil {
		return "", fmt.Errorf("discarding a run: %w", err)
	}
	if len(r.doubts) > 0 {
		r.Seal = nil // what is wrong with it stays wrong
	}
	r.Discarded = filepath.Base(dir)
	if err := r.Save(dir); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		moved = dir + DiscardedSuffix
		if n > 1 {
			moved += fmt.Sprintf(".%d", n)
		}
		// A rename would replace a folder that is empty, and fails for any other.
		if _, err = os.Lstat(moved); err == nil {
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("discarding a run: %w", err)
		}
		return moved, os.Rename(dir, moved)
	}
}
