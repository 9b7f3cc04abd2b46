package container

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"nodestorm/harness/process"
	"nodestorm/harness/target"
	"nodestorm/harness/target/image"
	"nodestorm/harness/world"
)

// Program says how a target runs in a world: as a process, or as a container of its image.
func Program(w *world.World, t target.Target, spec process.Spec) process.Spec {
	if !t.Source.Container {
		spec.Path, spec.Launch = t.Binary(), w.Launch(t.Virtual())
		return spec
	}
	spec.Elsewhere = func(ctx context.Context, spec process.Spec, out io.Writer) (process.Running, error) {
		id, entrypoint, err := ensure(ctx, t)
		if err != nil {
			return nil, err
		}
		return run(ctx, id, w.Dir(), entrypoint, spec, out)
	}
	return spec
}

// Check makes sure that a target that is a container can run here: that Docker is, on this
// machine, and has the image, or gets it. Of all others it says nothing.
func Check(ctx context.Context, t target.Target) error {
	if !t.Source.Container {
		return nil
	}
	if _, _, err := ensure(ctx, t); err != nil {
		return fmt.Errorf("%s runs in a container: %w", t.Ref, err)
	}
	return nil
}

// Help is what a target says to --help, and the error of its exit status, which some have.
func Help(ctx context.Context, t target.Target) ([]byte, error) {
	if !t.Source.Container {
		cmd := exec.CommandContext(ctx, t.Binary(), "--help")
		cmd.Env = []string{"HOME=" + os.TempDir()} // no credentials of the user's
		cmd.WaitDelay = time.Second
		return cmd.CombinedOutput()
	}
	id, entrypoint, err := ensure(ctx, t)
	if err != nil {
		return nil, err
	}
	var said bytes.Buffer
	r, err := run(ctx, id, os.DevNull, entrypoint, process.Spec{Name: t.Name, Args: []string{"--help"}}, &said)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = r.Signal(9) })()
	end := r.Wait()
	if end.Lost != nil {
		return nil, end.Lost
	}
	if end.Code != 0 {
		return said.Bytes(), errors.New(end.Status)
	}
	return said.Bytes(), nil
}

// ensure gives Docker the image if it has not got it, and returns what Docker knows it by, and
// what arguments go behind: where the image has no entry point, that is its command.
func ensure(ctx context.Context, t target.Target) (id string, entrypoint []string, err error) {
	docker, err := connect(ctx)
	if err != nil {
		return "", nil, err
	}
	if err := here(ctx, docker); err != nil {
		return "", nil, err
	}
	// Docker knows an image by its configuration, or, with containerd's store, by a manifest of
	// its own: then by our name, which has the digest.
	name := "nodestorm/target:" + strings.TrimPrefix(t.Source.ImageID, "sha256:")
	found, err := inspect(ctx, docker, t.Source.ImageID, name)
	if errdefs.IsNotFound(err) {
		if err = load(ctx, docker, t, name); err == nil {
			found, err = inspect(ctx, docker, t.Source.ImageID, name)
		}
	}
	if err != nil {
		return "", nil, fmt.Errorf("Docker has no image %.19s: %s", t.Source.ImageID, line(err))
	}
	if found.Architecture != runtime.GOARCH {
		return "", nil, fmt.Errorf("its image is for %s/%s, and this machine is linux/%s", found.Os, found.Architecture, runtime.GOARCH)
	}
	if found.Config != nil && len(found.Config.Entrypoint) == 0 {
		entrypoint = found.Config.Cmd
	}
	return found.ID, entrypoint, nil
}

func inspect(ctx context.Context, docker *testcontainers.DockerProvider, names ...string) (found client.ImageInspectResult, err error) {
	for _, name := range names {
		if found, err = docker.Client().ImageInspect(ctx, name); !errdefs.IsNotFound(err) {
			return found, err
		}
	}
	return found, err
}

// load gives Docker the image from where it was added.
func load(ctx context.Context, docker *testcontainers.DockerProvider, t target.Target, name string) (err error) {
	dir, remove, err := process.Scratch("nodestorm-image-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	im, err := image.Open(ctx, t.Source.Image, runtime.GOARCH, dir, nil)
	if err != nil {
		return fmt.Errorf("%w; load it with docker load, or add it again from where it is: nodestorm target add %s --as container --image IMAGE", err, t.Ref)
	}
	if im.ID() != t.Source.ImageID {
		return fmt.Errorf("%s is another image now, %.19s; add that: nodestorm target add %s --as container --image %[1]s", t.Source.Image, im.ID(), t.Ref)
	}
	r, w := io.Pipe()
	saved := make(chan error, 1)
	go func() {
		err := im.Save(name, w)
		w.CloseWithError(err)
		saved <- err
	}()
	said, err := docker.Client().ImageLoad(ctx, r)
	if err == nil {
		_, err = io.Copy(io.Discard, said)
		err = errors.Join(err, said.Close())
	}
	_ = r.Close() // ends who saves
	if e := <-saved; err == nil && e != nil {
		err = e
	}
	return err
}
