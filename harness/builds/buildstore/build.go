package buildstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/gotool"
	"nodestorm/harness/builds/repository"
)

// Build makes a target by its recipe and returns it. What the store already has
// from the same source, toolchain, clock and flags is not built again. Of two
// builds of one target at once the second waits for the first. An error, or the
// end of ctx, leaves the store as it was.
//
// Afterwards Get returns this build.
func (s *Store) Build(ctx context.Context, r Recipe, progress Progress) (builds.Target, error) {
	if err := r.check(); err != nil {
		return builds.Target{}, err
	}
	t, err := s.build(ctx, r, reporter{ref: r.Ref, start: time.Now(), expected: s.Expected(r.Ref), to: progress})
	if err != nil {
		what := r.Ref.String()
		if r.Dir != "" {
			what += " from " + repository.Redacted(r.Dir)
			if r.At != "" {
				what += " at " + r.At
			}
		}
		return builds.Target{}, withHint(fmt.Errorf("building %s: %w", what, err))
	}
	return t, nil
}

func (s *Store) build(ctx context.Context, r Recipe, report reporter) (_ builds.Target, err error) {
	tmp, done, err := s.begin(ctx, r.Ref, report)
	if err != nil {
		return builds.Target{}, err
	}
	defer func() { err = errors.Join(err, done()) }()

	log, keepLog, err := s.log(r.Ref)
	if err != nil {
		return builds.Target{}, err
	}
	defer func() { err = keepLog(err) }()

	p, err := s.plan(ctx, r, tmp, log, report)
	if err != nil {
		return builds.Target{}, err
	}
	key := keyOf(r.Provider, p.known...)
	if t, ok := s.reuse(r.Ref, key, p.source); ok {
		return t, nil
	}
	d := newDraft(tmp)
	if t, found, err := s.sealAgain(r, p, d); found || err != nil {
		return t, err
	}
	if err := s.compile(ctx, r, p, d, report); err != nil {
		return builds.Target{}, err
	}
	if err := d.fill(r, p.root); err != nil {
		return builds.Target{}, err
	}
	if p.source.Kind == builds.FromFolder {
		// Only the outcome reports whether anything in the folder, or in those
		// that its go.mod points to, has changed.
		content, err := d.content()
		if err != nil {
			return builds.Target{}, err
		}
		key = keyOf(r.Provider, append(p.known, content)...)
		if t, ok := s.reuse(r.Ref, key, p.source); ok {
			return t, nil
		}
	}
	return s.publish(d, key, p.manifest)
}

// compile makes the program of a recipe.
func (s *Store) compile(ctx context.Context, r Recipe, p *plan, d draft, report reporter) error {
	if err := compile(ctx, p.tool, p.flags, r.mainPackage(), d.binary(r.Name), report); err != nil {
		if missing := (*gotool.ModulesError)(nil); r.complete != nil && errors.As(err, &missing) {
			return fmt.Errorf("the module proxy does not serve %s, of which %s is made: take another release, or a folder with its programs",
				strings.Join(missing.Modules, ", "), r.Ref)
		}
		if r.graft != nil {
			err = r.graft.unfit(r.Ref, err)
		}
		return err
	}
	s.noteTime(r.Ref, time.Since(report.start))
	return nil
}

// plan is how a recipe is built on this machine.
type plan struct {
	tool     gotool.Tool
	root     string        // of the source
	source   builds.Source // as it was found
	flags    []string      // of go build
	manifest builds.Manifest
	known    []any // all that the build depends on
}

// plan fetches the source and finds out what builds it.
func (s *Store) plan(ctx context.Context, r Recipe, tmp string, log io.Writer, report reporter) (*plan, error) {
	src, err := s.fetch(ctx, r, tmp, log, report)
	if err != nil {
		return nil, err
	}
	if r.Race {
		src.env = append(src.env, "CGO_ENABLED=1")
	}
	tool := gotool.New(src.root, tmp, log, src.env...)
	tool.Yields = s.Yields
	chain, err := tool.Toolchain(ctx)
	if err != nil {
		return nil, err
	}
	src.Workspace = chain.Workspace
	if src.Kind == builds.FromFolder {
		now, err := stateOf(ctx, builds.Source{Dir: src.root, Workspace: src.Workspace})
		if err != nil {
			return nil, err
		}
		src.Commit, src.Dirty, src.Sum = now.commit, now.dirty, now.sum
		if src.Ref != "" {
			src.Dirty = false // what a checkout of git's own differs in are line ends and the like
			src.Workspace = strings.TrimPrefix(src.Workspace, filepath.Join(tmp, "src")+"/")
		}
	}
	m := builds.Manifest{Ref: r.Ref, Source: src.Source, GoVersion: chain.GOVERSION, GOROOT: chain.GOROOT}
	tags, overlay := r.Tags, ""
	if s.Overlay != nil && !r.Plain && !r.Race {
		if overlay, m.OverlayHash, err = s.Overlay(chain.GOROOT, runtime.GOARCH, filepath.Join(tmp, "overlay")); err != nil {
			return nil, err
		}
	}
	known := []any{placeless(src.Source), chain, m.OverlayHash, r.LDFlags, r.Assets, r.Faces}
	if r.graft != nil {
		span, err := r.graft.tags(src.root)
		if err != nil {
			return nil, err
		}
		if overlay, err = r.graft.overlay(src.root, overlay, tmp); err != nil {
			return nil, err
		}
		if src.Graft, err = r.graft.sum(); err != nil {
			return nil, err
		}
		m.Source, tags, known = src.Source, slices.Concat(tags, span), append(known, src.Graft)
	}
	if r.Race {
		known = append(known, "race")
	}
	return &plan{tool: tool, root: src.root, source: src.Source, flags: r.flags(tags, overlay), manifest: m, known: known}, nil
}

// flags are those of go build.
func (r Recipe) flags(tags []string, overlay string) []string {
	flags := []string{"-trimpath", "-buildvcs=false", "-tags=" + strings.Join(tags, ","), "-ldflags=-s -w " + r.LDFlags}
	if r.Race {
		flags = append(flags, "-race")
	}
	if overlay != "" {
		flags = append(flags, "-overlay="+overlay)
	}
	if r.complete != nil {
		flags = append(flags, "-mod=mod")
	}
	return flags
}

// compile builds the main package pkg into the file bin.
func compile(ctx context.Context, tool gotool.Tool, flags []string, pkg, bin string, report reporter) error {
	downloading := func(line string) bool {
		module, found := strings.CutPrefix(line, "go: downloading ")
		if found {
			report.send(Update{Stage: Downloading, Package: module})
		}
		return found
	}
	out, err := tool.Run(ctx, downloading, command("list", flags, "-deps", "--", pkg)...)
	if err != nil {
		return err
	}
	packages := strings.Fields(string(out))
	pending := map[string]bool{}
	for _, p := range packages {
		pending[p] = true
	}
	u := Update{Stage: Compiling, Total: len(packages)}
	report.send(u)
	compiling := func(line string) bool {
		if !pending[line] {
			return downloading(line)
		}
		delete(pending, line)
		u.Done, u.Package = u.Done+1, line
		if line == packages[len(packages)-1] { // the main package comes last
			u.Stage, u.Done = Linking, u.Total
		}
		report.send(u)
		return true
	}
	if err := os.MkdirAll(filepath.Dir(bin), 0o755); err != nil {
		return err
	}
	_, err = tool.Run(ctx, compiling, command("build", flags, "-v", "-o="+bin, "--", pkg)...)
	return err
}

func command(name string, flags []string, rest ...string) []string {
	return append(append([]string{name}, flags...), rest...)
}
