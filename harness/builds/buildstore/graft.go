package buildstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/dirhash"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/gotool"
)

// graft is a main package of ours that is compiled within the source: with the source's own dependencies,
// and without a file of it changed, as the go command lays ours over it.
type graft struct {
	name string // for people
	// source has its Go files, at the root.
	source fs.FS
	// tags are the build tags that it needs for a source, by what that has.
	tags func(root string) ([]string, error)
	// knows are the releases that it is made for, for people.
	knows string
}

// graftPackage is where it is below the root of the source.
const graftPackage = "nodestorm"

// graftOf is that of the builds of a target that have one.
func graftOf(ref builds.Ref) (*graft, error) {
	if ref.Name == builds.Kubernetes.Name {
		return controlPlaneGraft(), nil
	}
	r, err := OnInstances(Recipe{})
	return r.graft, err
}

// files are the names of those that are compiled.
func (g *graft) files() ([]string, error) {
	all, err := fs.Glob(g.source, "*.go")
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("there is no Go file of %s", g.name)
	}
	return slices.DeleteFunc(all, func(name string) bool { return strings.HasSuffix(name, "_test.go") }), err
}

// sum is the hash of its files, in go.sum's notation.
func (g *graft) sum() (string, error) {
	files, err := g.files()
	if err != nil {
		return "", err
	}
	return dirhash.Hash1(files, func(name string) (io.ReadCloser, error) { return g.source.Open(name) })
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
	for _, name := range files {
		text, err := fs.ReadFile(g.source, name)
		if err != nil {
			return "", err
		}
		copied := filepath.Join(dir, graftPackage, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(copied), 0o755), os.WriteFile(copied, text, 0o644)); err != nil {
			return "", err
		}
		content.Replace[filepath.Join(root, graftPackage, name)] = copied
	}
	text, err := json.Marshal(content)
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, "graft.json")
	return file, os.WriteFile(file, text, 0o644)
}

// unfit says that a graft does not compile within a source whose own program may.
func (g *graft) unfit(ref builds.Ref, err error) error {
	failed := &gotool.CommandError{}
	if !errors.As(err, &failed) {
		return err
	}
	return fmt.Errorf("the interface of %s is none that %s knows, which is made for %s: %w", ref, g.name, g.knows, err)
}
