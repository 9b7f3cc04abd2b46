package installer

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"nodestorm/harness/program/deploy"
	"nodestorm/sim/strict"
)

// Orders of released installers: NAME/VERSION.yaml, and beside them their manifests.
//
//go:embed kubespray
var files embed.FS

// Kubespray is an installer.
var Kubespray = kind("kubespray")

func kind(name string) deploy.Kind {
	return deploy.Kind{Name: name, Sentences: []deploy.Sentences{sentences}, Orders: &deploy.Orders{
		Known: func(version string) ([]byte, map[string][]byte, error) { return filesOf(Known(name, version)) },
		Load:  func(file string) ([]byte, map[string][]byte, error) { return filesOf(Load(file)) },
	}}
}

// filesOf are an order's text, and the files that it applies.
func filesOf(o *Order, text []byte, err error) ([]byte, map[string][]byte, error) {
	if err != nil {
		return nil, nil, err
	}
	files := map[string][]byte{}
	for _, s := range o.Steps {
		if s.Apply != "" {
			files[s.Apply] = s.text
		}
	}
	return text, files, nil
}

// Versions are the releases of an installer whose order is known; none of another name.
func Versions(name string) []string {
	found, _ := fs.Glob(files, name+"/v*.*.*.yaml") // the pattern is right
	for i, file := range found {
		found[i] = strings.TrimSuffix(path.Base(file), ".yaml")
	}
	return found
}

// Load is a user's own order, and its text; its manifests are in the file's folder or
// below. Errors are one line and name the file.
func Load(file string) (*Order, []byte, error) {
	text, err := strict.ReadFile(file, maxSize)
	if err != nil {
		return nil, nil, strict.WithHint(err, "name a file with the installer's steps (nodestorm explain order)")
	}
	root, err := os.OpenRoot(filepath.Dir(file)) // which links do not leave
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	o, err := Parse(text, strict.RootFS(root))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	return o, text, nil
}

// Known is the order of a release, and its text.
func Known(name, version string) (*Order, []byte, error) {
	fsys, err := fs.Sub(files, name)
	if err != nil {
		return nil, nil, err
	}
	text, err := fs.ReadFile(fsys, version+".yaml")
	if err != nil {
		return nil, nil, fmt.Errorf("the order of %s@%s is not known (known: %s)", name, version, strings.Join(Versions(name), ", "))
	}
	o, err := Parse(text, fsys)
	if err != nil {
		return nil, nil, fmt.Errorf("%s/%s.yaml: %w", name, version, err)
	}
	return o, text, nil
}
