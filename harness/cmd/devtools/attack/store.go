package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"nodestorm/harness/builds/buildstore"
)

// storeFolder is the store of who attacks.
func storeFolder() (string, error) {
	store, err := buildstore.Open("")
	if err != nil {
		return "", err
	}
	return store.Dir(), nil
}

// store is the one of the cases.
func (l *lab) store() string { return filepath.Join(l.dir, "store") }

// makeStore makes a store of the same builds, which takes no room where it can share their files. What
// attacks add to it is gone with it.
func (l *lab) makeStore() error {
	if err := os.Mkdir(l.store(), 0o755); err != nil {
		return err
	}
	from := filepath.Join(l.source, "targets")
	if _, err := os.Stat(from); err != nil {
		return fmt.Errorf("the store has no builds; nodestorm target get --all makes them: %w", err)
	}
	var errs error
	for _, way := range []string{"--link", "--reflink=auto"} {
		out, err := exec.Command("cp", "--archive", way, from, l.store()).CombinedOutput()
		if err == nil {
			return nil
		}
		err = fmt.Errorf("copying the store: %w: %s", err, last(string(out)))
		errs = errors.Join(errs, err, os.RemoveAll(filepath.Join(l.store(), "targets")))
	}
	return errs
}

// has reports whether the store has a build of NAME@VERSION.
func (l *lab) has(target string) bool {
	name, version, _ := strings.Cut(target, "@")
	return len(names(filepath.Join(l.store(), "targets", name, version))) > 0
}

// compile makes the program that does one thing in place of a target.
func (l *lab) compile(ctx context.Context, does string) (string, error) {
	to := filepath.Join(l.dir, does)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w -X main.does="+does, "-o", to, ".")
	cmd.Dir = filepath.Join(l.root, "harness", "replay", "testdata", "inert")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program that is %s: %w: %s", does, err, last(string(out)))
	}
	return to, nil
}

// modules have the charts and custom resources that worlds need of targets.
var modules = map[string]string{"karpenter": "sigs.k8s.io/karpenter", "cluster-api": "sigs.k8s.io/cluster-api"}

// add puts a program into the store as the target, with what else that brings into a world, and returns
// what it is called there.
func (l *lab) add(ctx context.Context, target, does, program string) (string, error) {
	name, version, _ := strings.Cut(target, "@")
	as := target + "-" + does
	args := []string{"target", "add", as, program}
	if module := modules[name]; module != "" {
		if !l.has(target) {
			return "", fmt.Errorf("%s is not in the store", target)
		}
		cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module+"@"+version)
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
		cmd.Dir = l.dir
		out, err := cmd.Output()
		var found struct{ Dir, Error string }
		if errors.Join(err, json.Unmarshal(out, &found)) != nil || found.Dir == "" {
			return "", fmt.Errorf("the source of %s is not there: %s", target, cmp.Or(found.Error, fmt.Sprint(err)))
		}
		args = append(args, "--source", found.Dir)
	}
	if l.has(as) {
		return as, nil
	}
	result := l.command(ctx, run{args: args, within: 2 * time.Minute})
	if result.Status != 0 || result.late {
		return "", fmt.Errorf("%s cannot be added: %s", as, last(result.stderr))
	}
	return as, nil
}

// killed ends a process at once.
func killed(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }
