package buildstore

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nodestorm/harness/builds"
	"nodestorm/sim/strict"
)

// sourceIn is the folder of a checkout that a target is built in: dir, or the
// folder of the target's name in it where only that has a go.mod, as in a
// repository of several programs. Module is where the go.mod is, there or above.
func sourceIn(dir, name string) (source, module string, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", "", strict.WithHint(err, "name the folder of a checkout")
	}
	if !info.IsDir() {
		return "", "", fmt.Errorf("%s is not a folder; name the folder of a checkout", dir)
	}
	if below := filepath.Join(dir, name); !hasMod(dir) && hasMod(below) {
		return below, below, nil
	}
	module = dir
	for !hasMod(module) {
		if module == filepath.Dir(module) {
			return "", "", fmt.Errorf("it is no checkout of a Go program: there is no go.mod in it, in its folder %s, or above it", name)
		}
		module = filepath.Dir(module)
	}
	return dir, module, nil
}

func hasMod(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil && info.Mode().IsRegular()
}

// checkVersion makes sure that a source whose version/version.go names a release
// is not built as another.
func checkVersion(ref builds.Ref, root string) error {
	says := statedVersion(filepath.Join(root, "version", "version.go"))
	asked, stated := "v"+strings.TrimPrefix(ref.Version, "v"), "v"+strings.TrimPrefix(says, "v")
	if !builds.IsRelease(asked) || !builds.IsRelease(stated) || asked == stated {
		return nil
	}
	return fmt.Errorf("its version/version.go says %s: build it as %s@%[1]s, or under a version of your own such as %[2]s@%[3]s-mine",
		says, ref.Name, ref.Version)
}

// statedVersion is the string that a Go file gives to a name which ends with
// Version, empty if it has none. What the least version is, or that of Kubernetes, is another's.
func statedVersion(file string) (version string) {
	text, err := strict.ReadFile(file, maxText)
	if err != nil {
		return ""
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if err != nil {
		return ""
	}
	for _, d := range parsed.Decls {
		group, _ := d.(*ast.GenDecl)
		if group == nil {
			continue
		}
		for _, spec := range group.Specs {
			v, _ := spec.(*ast.ValueSpec)
			if v == nil || len(v.Names) != 1 || len(v.Values) != 1 {
				continue
			}
			name := v.Names[0].Name
			if !strings.HasSuffix(name, "Version") || strings.HasPrefix(name, "Min") || strings.Contains(name, "Kubernetes") {
				continue
			}
			if text, is := v.Values[0].(*ast.BasicLit); is && text.Kind == token.STRING {
				version, _ = strconv.Unquote(text.Value)
			}
		}
	}
	return version
}

// checkTags makes sure that the source knows each of the build tags. One that it
// does not know would change nothing, and the build not be what its manifest says.
func checkTags(root string, tags []string) error {
	if len(tags) == 0 {
		return nil
	}
	known, err := tagsIn(root)
	if err != nil {
		return fmt.Errorf("looking for build tags: %w", err)
	}
	for _, tag := range tags {
		if !known[tag] {
			return fmt.Errorf("no file of its source has the build tag %q; the tags there are %s", tag,
				strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	return nil
}

// tagsIn are the tags that the constraints of a module's Go files name.
func tagsIn(root string) (map[string]bool, error) {
	tags := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (d.Name() == "vendor" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.Type().IsRegular() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			return addTags(tags, path)
		}
		return nil
	})
	return tags, err
}

// addTags adds those of one file, which stand above its package clause.
func addTags(tags map[string]bool, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, 8<<10))
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "package ") {
			break
		}
		if !constraint.IsGoBuild(lines.Text()) {
			continue
		}
		expr, err := constraint.Parse(lines.Text())
		if err != nil {
			return nil // the go command will say so
		}
		expr.Eval(func(tag string) bool { tags[tag] = true; return false })
		break
	}
	return nil
}
