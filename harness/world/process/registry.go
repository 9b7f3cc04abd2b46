package process

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
)

// registry is the folder in which every temporary folder is noted, whatever TMPDIR it
// is in, as a link to it.
func registry() (string, error) {
	state, err := State()
	return filepath.Join(state, "folders"), err
}

// State is the folder for what outlives a command: $XDG_STATE_HOME/nodestorm.
func State() (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) { // as its specification has it
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "nodestorm"), nil
}

// entry is where the folder dir is noted.
func entry(registry, dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(registry, hex.EncodeToString(sum[:8]))
}

// registerFolder notes the folder dir, and returns where, "" if it cannot: a user without a home
// has worlds all the same, and Sweep looks into TMPDIR as well.
func registerFolder(dir string) string {
	folders, err := registry()
	if err != nil || os.MkdirAll(folders, 0o700) != nil {
		return ""
	}
	path := entry(folders, dir)
	if err := os.Symlink(dir, path); err != nil && !errors.Is(err, os.ErrExist) {
		return ""
	}
	return path
}

// noted are the folders that are noted and there.
func noted() (folders []string) {
	dir, err := registry()
	if err != nil {
		return nil
	}
	links, _ := os.ReadDir(dir) // none is there
	for _, link := range links {
		path := filepath.Join(dir, link.Name())
		folder, err := os.Readlink(path)
		if err != nil || entry(dir, folder) != path {
			continue // not ours
		}
		if _, err := os.Lstat(folder); errors.Is(err, os.ErrNotExist) {
			_ = os.Remove(path)
			continue
		}
		folders = append(folders, folder)
	}
	return folders
}

// notedDir makes dir one of ours, that Sweep removes when we have ended without doing so,
// and returns where it is noted.
func notedDir(dir string) (string, error) {
	return registerFolder(dir), os.WriteFile(filepath.Join(dir, ownerFile), []byte(Self()+" "+machine()+"\n"), 0o600)
}

// Scratch makes an empty temporary folder for what must not outlive us. remove removes
// it; Sweep does when we are killed.
func Scratch(prefix string) (dir string, remove func() error, err error) {
	parent, err := os.MkdirTemp("", prefix)
	if err != nil {
		return "", nil, err
	}
	noted, err := notedDir(parent)
	remove = func() error {
		err := os.RemoveAll(parent)
		if noted != "" {
			_ = os.Remove(noted) // a later Sweep does
		}
		return err
	}
	dir = filepath.Join(parent, "files")
	if err = errors.Join(err, os.Mkdir(dir, 0o700)); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return dir, remove, nil
}
