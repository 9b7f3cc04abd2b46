package target

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/dirhash"
)

// fetched is source that is ready to be built.
type fetched struct {
	Source
	root string   // where the recipe's paths start
	env  []string // for the go command there
}

// fetch gets a recipe's source. A module is copied into tmp, because the module
// cache is read-only and the go.mod of a main module must not be.
func fetch(ctx context.Context, r Recipe, tmp string, report reporter) (fetched, error) {
	if r.Dir != "" {
		return fromFolder(ctx, r)
	}
	report.send(Update{Stage: Downloading, Package: r.Module + " " + r.Version})
	out, err := newGotool(tmp, tmp, alone).run(ctx, nil, "mod", "download", "-json", r.Module+"@"+r.Version)
	var mod struct{ Dir, Sum, Error string }
	if jsonErr := json.Unmarshal(out, &mod); jsonErr == nil && mod.Error != "" {
		err = fmt.Errorf("%s; what there is: go list -m -versions %s", strings.Join(strings.Fields(mod.Error), " "), r.Module)
	}
	if err != nil {
		return fetched{}, fmt.Errorf("downloading %s@%s: %w", r.Module, r.Version, err)
	}
	root := filepath.Join(tmp, "src")
	if err := os.CopyFS(root, os.DirFS(mod.Dir)); err != nil {
		return fetched{}, fmt.Errorf("copying %s@%s: %w", r.Module, r.Version, err)
	}
	src := Source{Kind: FromModule, Module: r.Module, Version: r.Version, Sum: mod.Sum, Package: r.mainPackage(), Tags: r.Tags}
	return fetched{Source: src, root: root, env: []string{alone}}, nil
}

// alone keeps a go.work of the user's out of a build that has its own graph.
const alone = "GOWORK=off"

func fromFolder(ctx context.Context, r Recipe) (fetched, error) {
	root, err := filepath.Abs(r.Dir)
	if err != nil {
		return fetched{}, err
	}
	if info, err := os.Stat(root); err != nil {
		return fetched{}, fmt.Errorf("reading the source folder: %w", err)
	} else if !info.IsDir() {
		return fetched{}, fmt.Errorf("%s is no folder", root)
	}
	if r.sealed != "" {
		sum, err := dirhash.HashDir(root, r.Name, dirhash.DefaultHash)
		if err != nil {
			return fetched{}, fmt.Errorf("hashing %s: %w", root, err)
		}
		src := Source{Kind: FromModule, Module: r.sealed, Sum: sum}
		return fetched{Source: src, root: root, env: []string{alone}}, nil
	}
	src := Source{Kind: FromFolder, Dir: root, Package: r.mainPackage(), Tags: r.Tags}
	src.Commit, src.Dirty = gitState(ctx, root)
	return fetched{Source: src, root: root}, nil
}

// gitState is the commit of the checkout that holds dir, and whether anything
// below dir differs from it. No git, or no checkout: no commit.
func gitState(ctx context.Context, dir string) (commit string, dirty bool) {
	head, err := exec.CommandContext(ctx, "git", "-C", dir, "rev-parse", "HEAD").Output()
	if err != nil {
		return "", false
	}
	status, err := exec.CommandContext(ctx, "git", "-C", dir, "status", "--porcelain", "--", ".").Output()
	return strings.TrimSpace(string(head)), err != nil || len(bytes.TrimSpace(status)) > 0
}
