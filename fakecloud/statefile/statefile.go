// Package statefile keeps the state of a cloud in a file.
package statefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"nodestorm/fakecloud"
	"nodestorm/sim/strict"
)

// maxState is more than a project of a hundred thousand servers needs, in bytes.
const maxState = 256 << 20

// Read reads what Save wrote, for fakecloud.Config.State. Nil means that there is no such file yet.
func Read(file string) ([]byte, error) {
	text, err := strict.ReadFile(file, maxState)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil && len(text) == 0:
		err = fmt.Errorf("%s: the file is empty", file)
	case errors.As(err, new(*strict.LargeError)):
		err = fmt.Errorf("%w: want the state of a project", err)
	}
	return text, err
}

// Save writes what a cloud's Save returns, whole or not at all.
func Save(c *fakecloud.Cloud, file string) (err error) {
	text, err := c.Save()
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*") // for the user only
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp.Name())
		}
	}()
	_, err = tmp.Write(append(text, '\n'))
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}
