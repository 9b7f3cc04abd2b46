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
	"sync"
	"time"

	"golang.org/x/sys/unix"

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
	was := stampOf(f)
	if known, is := hashed.Load(path); is && known.(sum).stamp == was && was != (stamp{}) {
		return known.(sum).hex, was.size, nil
	}
	hash := sha256.New()
	size, err := io.Copy(hash, f)
	found := sum{was, hex.EncodeToString(hash.Sum(nil))}
	// A file that is written to now may get no other time by that.
	if settled := time.Since(time.Unix(was.changed, 0)) > 2*time.Second; err == nil && settled && stampOf(f) == was {
		hashed.Store(path, found)
	}
	return found.hex, size, err
}

// hashed are sums of files by their paths: a program that several replays start is read once.
var hashed sync.Map

type sum struct {
	stamp
	hex string
}

// stamp is what changes with a file: who writes to it cannot set when its inode was changed.
type stamp struct {
	device, inode  uint64
	size           int64
	changed, nanos int64
}

// stampOf is zero where that is not known.
func stampOf(f *strict.File) (s stamp) {
	var of unix.Stat_t
	if unix.Fstat(int(f.Fd()), &of) == nil {
		s = stamp{uint64(of.Dev), of.Ino, of.Size, int64(of.Ctim.Sec), int64(of.Ctim.Nsec)} //nolint:unconvert // of other systems
	}
	return s
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
