package buildstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/executable"
	"nodestorm/harness/builds/registry"
	"nodestorm/harness/builds/repository"
	"nodestorm/harness/builds/tree"
	"nodestorm/sim/strict"
)

// Add stores the program in file, which someone else built for this machine. r
// says under which name and for which provider; its Assets come from its Dir.
// A Go program lives in virtual time as it is; another one in real time only.
func (s *Store) Add(ctx context.Context, r Recipe, file string) (builds.Target, error) {
	return s.add(ctx, r, nil, func(reporter, string) (builds.Source, func(string) error, error) {
		file, err := filepath.Abs(file)
		put := func(to string) error { return strict.WithHint(tree.CopyFile(to, file), "name a compiled program") }
		return builds.Source{Kind: builds.FromBinary, File: file}, put, err
	})
}

// AddImage stores the program called name in a container image, see image.Open for
// what from can be; an empty name is what the image runs. As a container the whole image
// runs, and the program states what it knows. The rest is as in Add.
func (s *Store) AddImage(ctx context.Context, r Recipe, from, name string, container bool, progress Progress) (builds.Target, error) {
	return s.add(ctx, r, progress, func(report reporter, tmp string) (builds.Source, func(string) error, error) {
		stage := Unpacking
		if !registry.Local(from) {
			stage = Pulling
		}
		im, err := registry.Open(ctx, from, runtime.GOARCH, filepath.Join(tmp, "image"), func(done, total int) {
			report.send(Update{Stage: stage, Done: done, Total: total, Package: from})
		})
		if err == nil && name == "" {
			name, err = im.Program()
		}
		name = path.Join("/", name)
		if err != nil {
			return builds.Source{}, nil, err
		}
		put := func(to string) error {
			out, err := os.Create(to)
			if err != nil {
				return err
			}
			return errors.Join(im.Copy(ctx, name, out), out.Close())
		}
		if abs, err := filepath.Abs(from); err == nil && registry.Local(from) {
			from = abs
		}
		source := builds.Source{Kind: builds.FromImage, Image: from, Digest: im.Digest(), File: name}
		if container {
			source.Container, source.ImageID = true, im.ID()
		}
		return source, put, nil
	})
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// add stores the program that open finds and copies.
func (s *Store) add(
	ctx context.Context, r Recipe, progress Progress,
	open func(report reporter, tmp string) (builds.Source, func(to string) error, error),
) (_ builds.Target, err error) {
	defer func() {
		if err != nil {
			err = withHint(fmt.Errorf("adding %s: %w", r.Ref, err))
		}
	}()
	if err := r.Ref.Check(); err != nil {
		return builds.Target{}, err
	}
	report := reporter{ref: r.Ref, start: time.Now(), to: progress}
	tmp, done, err := s.begin(ctx, r.Ref, report)
	if err != nil {
		return builds.Target{}, err
	}
	defer func() { err = errors.Join(err, done()) }()
	source, put, err := open(report, tmp)
	if err != nil {
		return builds.Target{}, err
	}
	source.Dir = r.Dir
	d := newDraft(tmp)
	bin := d.binary(r.Name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(bin), 0o755), put(bin)); err != nil {
		return builds.Target{}, err
	}
	m := builds.Manifest{Ref: r.Ref, Source: source}
	if err := executable.Inspect(bin, &m); err != nil {
		if source.Kind == builds.FromImage {
			err = fmt.Errorf("%w; name the program itself with --path", err)
		}
		return builds.Target{}, fmt.Errorf("%s %w", source.File, err)
	}
	if err := os.Chmod(bin, 0o755); err != nil {
		return builds.Target{}, err
	}
	root := r.Dir
	if root == "" {
		r.Assets = nil
	}
	if r.At != "" {
		var repo *repository.Repository
		if root, repo, err = s.checkout(ctx, r, tmp, report); err != nil {
			return builds.Target{}, err
		}
		m.Source.Dir, m.Source.Ref = repo.Name, r.At
	}
	if err := d.fill(r, root); err != nil {
		return builds.Target{}, err
	}
	content, err := d.content()
	if err != nil {
		return builds.Target{}, err
	}
	key := keyOf(r.Provider, m.Source, content)
	if t, ok := s.reuse(r.Ref, key, m.Source); ok {
		return t, nil
	}
	return s.publish(d, key, m)
}
