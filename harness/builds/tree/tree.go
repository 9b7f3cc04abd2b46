// Package tree copies and hashes the files and folders of the store, and has them written to the disk. It knows no
// builds.
package tree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"nodestorm/sim/strict"
)

// CopyFile copies a file; folders that it needs are made.
func CopyFile(to, from string) error {
	in, err := strict.Open(context.Background(), from)
	if err != nil {
		return err
	}
	defer in.Close()
	return writeFile(to, in, 0o644)
}

// Copy copies a file of root, or a folder with all that is in it. A link becomes what it
// leads to, so that the copy stands alone; nothing outside of root is read.
func Copy(to string, root *os.Root, from string) error {
	info, err := root.Stat(from)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return copyFile(to, root, from, info)
	}
	return fs.WalkDir(root.FS(), filepath.ToSlash(from), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(from, filepath.FromSlash(path))
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, inside), 0o755)
		}
		info, err := root.Stat(path)
		if err != nil {
			return err
		}
		return copyFile(filepath.Join(to, inside), root, path, info)
	})
}

func copyFile(to string, root *os.Root, from string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file, but %s", from, info.Mode().Type())
	}
	in, err := root.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return writeFile(to, in, 0o644|info.Mode()&0o111)
}

func writeFile(to string, in io.Reader, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// SHA256 is that of a file, in hex, and its size in bytes.
func SHA256(path string) (string, int64, error) {
	f, err := strict.Open(context.Background(), path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), size, err
}

// Sync makes sure that all below dir is on the disk.
func Sync(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		return SyncEntry(path)
	})
}

// SyncEntry makes sure that one file is, or which files a folder has.
func SyncEntry(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
