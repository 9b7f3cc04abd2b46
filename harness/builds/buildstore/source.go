package buildstore

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/gotool"
	"nodestorm/sim/oneline"
	"nodestorm/sim/strict"
)

// fetched is source that is ready to be built.
type fetched struct {
	builds.Source
	root string   // where the recipe's paths start
	env  []string // for the go command there
}

// fetch gets a recipe's source, and makes sure that it fits the recipe.
func (s *Store) fetch(ctx context.Context, r Recipe, tmp string, log io.Writer, report reporter) (fetched, error) {
	if r.At != "" {
		return s.fromRepository(ctx, r, tmp, report)
	}
	if r.Dir != "" {
		return fromFolder(r)
	}
	src, err := fromModule(ctx, r, tmp, log, report)
	if err == nil {
		err = checkTags(src.root, r.Tags)
	}
	return src, err
}

// alone keeps a go.work of the user's out of a build that has its own graph.
const alone = "GOWORK=off"

// fromModule copies a module into tmp, because the module cache is read-only and
// the go.mod of a main module must not be.
func fromModule(ctx context.Context, r Recipe, tmp string, log io.Writer, report reporter) (fetched, error) {
	tool := gotool.New(tmp, tmp, log, alone)
	root := filepath.Join(tmp, "src")
	main, err := download(ctx, tool, r.Module, r.query(), root, report)
	if err != nil {
		return fetched{}, fmt.Errorf("downloading %s@%s: %w; other ways in are --source DIR, and nodestorm target add with a program or an "+
			"--image", r.Module, r.query(), err)
	}
	src := builds.Source{Kind: builds.FromModule, Module: r.Module, Version: main.Version, Sum: main.Sum, Package: r.mainPackage(),
		Tags: r.Tags}
	if r.complete != nil {
		if err := r.complete(root, main.Version); err != nil {
			return fetched{}, err
		}
	}
	nested, err := nestedModules(root)
	if err != nil {
		return fetched{}, err
	}
	for _, dir := range nested {
		// Modules of one repository belong together at one commit.
		version := main.Version
		if module.IsPseudoVersion(version) {
			if version, err = module.PseudoVersionRev(version); err != nil {
				return fetched{}, err
			}
		}
		name := path.Join(r.Module, filepath.ToSlash(dir))
		got, err := download(ctx, tool, name, version, filepath.Join(root, dir), report)
		if err != nil {
			return fetched{}, fmt.Errorf("downloading %s@%s, which %s has in a folder: %w", name, version, r.Module, err)
		}
		src.Sum += " " + got.Sum
	}
	return fetched{Source: src, root: root, env: []string{alone}}, nil
}

// nestedModules are the folders that a go.mod puts in place of modules. If they
// are modules of their own, the zip of the one around them lacks them.
func nestedModules(root string) (dirs []string, err error) {
	mod, err := strict.ReadFile(filepath.Join(root, "go.mod"), maxText)
	if err != nil {
		return nil, err
	}
	file, err := modfile.Parse("go.mod", mod, nil)
	if err != nil {
		return nil, err
	}
	for _, replace := range file.Replace {
		dir := replace.New.Path
		if modfile.IsDirectoryPath(dir) && filepath.IsLocal(dir) && !hasMod(filepath.Join(root, dir)) {
			dirs = append(dirs, filepath.Clean(dir))
		}
	}
	return dirs, nil
}

// unserved is how the go command says that a proxy has no such thing, or does not
// give it away.
var unserved = regexp.MustCompile(`: (403 Forbidden|404 Not Found|410 Gone)`)

// download copies what a query finds of a module into a folder.
func download(
	ctx context.Context, tool gotool.Tool, path, query, to string, report reporter,
) (m struct{ Version, Dir, Sum, Error string }, err error) {
	report.send(Update{Stage: Downloading, Package: path + " " + query})
	out, err := tool.Run(ctx, nil, "mod", "download", "-json", path+"@"+query)
	if jsonErr := json.Unmarshal(out, &m); jsonErr == nil && m.Error != "" {
		text := oneline.Of(m.Error)
		if status := unserved.FindString(text); status != "" {
			text = "the module proxy does not serve it (" + strings.TrimPrefix(status, ": ") + ")"
			if others := nearbyReleases(ctx, tool, path, query); len(others) > 0 {
				return m, fmt.Errorf("there is no %s@%s that the module proxy serves; the nearest: %s", path, query, strings.Join(others, ", "))
			}
		}
		err = fmt.Errorf("%s; what there is: go list -m -versions %s", text, path)
	}
	if err != nil {
		return m, err
	}
	return m, os.CopyFS(to, os.DirFS(m.Dir))
}

// nearbyReleases are the releases of a module next to one, none if that cannot be determined.
func nearbyReleases(ctx context.Context, tool gotool.Tool, path, version string) []string {
	if !semver.IsValid(version) || module.IsPseudoVersion(version) {
		return nil
	}
	out, err := tool.Run(ctx, nil, "list", "-m", "-versions", "-json", path)
	var has struct{ Versions []string }
	if err != nil || json.Unmarshal(out, &has) != nil {
		return nil
	}
	return nearest(version, has.Versions)
}

func fromFolder(r Recipe) (fetched, error) {
	root, err := filepath.Abs(r.Dir)
	if err != nil {
		return fetched{}, err
	}
	root, top, err := sourceIn(root, r.Name)
	if err != nil {
		return fetched{}, err
	}
	if r.sealed != "" {
		sum, err := dirhash.HashDir(root, r.Name, dirhash.DefaultHash)
		if err != nil {
			return fetched{}, fmt.Errorf("hashing %s: %w", root, err)
		}
		src := builds.Source{Kind: builds.FromModule, Module: r.sealed, Sum: sum}
		return fetched{Source: src, root: root, env: []string{alone}}, nil
	}
	if err := checkVersion(r.Ref, top); err != nil {
		return fetched{}, err
	}
	if err := checkTags(top, r.Tags); err != nil {
		return fetched{}, err
	}
	src := builds.Source{Kind: builds.FromFolder, Dir: root, Package: r.mainPackage(), Tags: r.Tags}
	return fetched{Source: src, root: root}, nil
}
