package target

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/dirhash"
)

// graft is a main package of ours that is compiled within the source: with the source's own dependencies,
// and without a file of it changed, as the go command lays ours over it.
type graft struct {
	// dir is the folder of its Go files, in our checkout.
	dir string
	// tags are the build tags that it needs for a source, by what that has.
	tags func(root string) ([]string, error)
	// knows are the releases that it is made for, for people.
	knows string
}

// graftPackage is where it is below the root of the source.
const graftPackage = "nodestorm"

// files are those that are compiled, by name.
func (g *graft) files() (map[string]string, error) {
	all, err := filepath.Glob(filepath.Join(g.dir, "*.go"))
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("there is no Go file in %s", g.dir)
	}
	files := map[string]string{}
	for _, file := range all {
		if name := filepath.Base(file); !strings.HasSuffix(name, "_test.go") {
			files[name] = file
		}
	}
	return files, err
}

// sum is the hash of its files, in go.sum's notation.
func (g *graft) sum() (string, error) {
	files, err := g.files()
	if err != nil {
		return "", err
	}
	return dirhash.Hash1(slices.Collect(maps.Keys(files)), func(name string) (io.ReadCloser, error) { return os.Open(files[name]) })
}

// overlay puts the graft into an overlay for a source, which is that of the file, or a new one in dir. It
// returns the file.
func (g *graft) overlay(root, file, dir string) (string, error) {
	var content struct{ Replace map[string]string }
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		if err := json.Unmarshal(text, &content); err != nil {
			return "", fmt.Errorf("reading %s: %w", file, err)
		}
	}
	if content.Replace == nil {
		content.Replace = map[string]string{}
	}
	files, err := g.files()
	if err != nil {
		return "", err
	}
	for name, file := range files {
		content.Replace[filepath.Join(root, graftPackage, name)] = file
	}
	text, err := json.Marshal(content)
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, "graft.json")
	return file, os.WriteFile(file, text, 0o644)
}

// unfit says that a graft does not compile within a source whose own program may.
func (g *graft) unfit(ref Ref, err error) error {
	failed := &CommandError{}
	if !errors.As(err, &failed) {
		return err
	}
	return fmt.Errorf("the interface of %s is none that %s knows, which is made for %s: %w", ref, path.Base(g.dir), g.knows, err)
}
