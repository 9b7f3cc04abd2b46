package tree

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/dirhash"

	"nodestorm/sim/strict"
)

// Digest is a hash, in go.sum's notation, over the names and the contents of all files below dir but those at the slashed
// paths except; of a link, over where it leads. It is empty if there are none. What is neither a file, a folder nor a
// link is an error.
func Digest(dir string, except ...string) (string, error) {
	links, names := map[string]string{}, []string{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if slices.Contains(except, name) {
			return nil
		}
		if d.Type() == fs.ModeSymlink {
			if links[name], err = os.Readlink(file); err != nil {
				return err
			}
		}
		names = append(names, name)
		return nil
	})
	if err != nil {
		return "", err
	}
	return hash(names, func(name string) (io.ReadCloser, error) {
		if to, is := links[name]; is {
			return io.NopCloser(strings.NewReader("link to " + to)), nil
		}
		return strict.Open(context.Background(), filepath.Join(dir, filepath.FromSlash(name)))
	})
}

// DigestOf is Digest of files that are at hand, by their slashed paths.
func DigestOf(files map[string][]byte) (string, error) {
	return hash(slices.Collect(maps.Keys(files)), func(name string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files[name])), nil
	})
}

func hash(names []string, open func(string) (io.ReadCloser, error)) (string, error) {
	if len(names) == 0 {
		return "", nil
	}
	return dirhash.Hash1(names, open)
}
