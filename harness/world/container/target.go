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
	"slices"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/registry"
	"nodestorm/harness/world"
	"nodestorm/harness/world/process"
	"nodestorm/sim/oneline"
)

// Settings are what a Deployment says of the container.
type Settings struct {
	// Command replaces the image's entry point; empty keeps it.
	Command []string
	// Args stand before those of the program's Spec.
	Args []string
	// Arguments says that the Deployment has args: then the image's CMD counts for nothing.
	Arguments bool
	// Memory is the most that it may have, in bytes; 0: as much as there is.
	Memory int64
}

// Program says how a target runs in a world: as a process, or as a container of its image by
// the Settings.
func Program(w *world.World, t builds.Target, settings Settings, spec process.Spec) process.Spec {
	if !t.Source.Container {
		spec.Path, spec.Launch = t.Binary(), w.Launch(t.Virtual())
		return spec
	}
	spec.Elsewhere = func(ctx context.Context, spec process.Spec, out io.Writer) (process.Running, error) {
		at, err := ensure(ctx, t, settings)
		if err != nil {
			return nil, err
		}
		at.world, at.made = w.Dir(), w.WatchContainer
		return run(ctx, at, spec, out)
	}
	return spec
}

// Check makes sure that a target that is a container can run here: that Docker is, on this
// machine, and has the image, or gets it. Of all others it says nothing.
func Check(ctx context.Context, t builds.Target) error {
	if !t.Source.Container {
		return nil
	}
	if _, err := ensure(ctx, t, Settings{}); err != nil {
		return fmt.Errorf("%s runs in a container: %w", t.Ref, err)
	}
	return nil
}

// Help is what a target says to --help, and the error of its exit status, which some have.
func Help(ctx context.Context, t builds.Target, settings Settings) ([]byte, error) {
	if !t.Source.Container {
		cmd := exec.CommandContext(ctx, t.Binary(), "--help")
		cmd.Env = []string{"HOME=" + os.TempDir()} // no credentials of the user's
		cmd.WaitDelay = time.Second
		return cmd.CombinedOutput()
	}
	at, err := ensure(ctx, t, settings)
	if err != nil {
		return nil, err
	}
	var said bytes.Buffer
	r, err := run(ctx, at, process.Spec{Name: t.Name, Args: []string{"--help"}}, &said)
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

// ensure gives Docker the image if it has not got it, and returns what is to run.
func ensure(ctx context.Context, t builds.Target, settings Settings) (at start, err error) {
	docker, err := connect(ctx)
	if err != nil {
		return start{}, err
	}
	if err := checkLocal(ctx, docker); err != nil {
		return start{}, err
	}
	// Docker knows an image by its configuration, or, with containerd's store, by a manifest of
	// its own: then by our name, which has the digest.
	name := imageName(t.Source.ImageID)
	found, err := inspect(ctx, docker, t.Source.ImageID, name)
	if errdefs.IsNotFound(err) {
		if err = noteImage(docker.Client().DaemonHost(), name, t.Dir); err == nil {
			err = load(ctx, docker, t, name)
		}
		if err == nil {
			found, err = inspect(ctx, docker, t.Source.ImageID, name)
		}
	} else if err == nil && slices.Contains(found.RepoTags, name) { // for another target of it
		err = noteImage(docker.Client().DaemonHost(), name, t.Dir)
	}
	if err != nil {
		return start{}, fmt.Errorf("there is no image %.19s for Docker: %s", t.Source.ImageID, oneline.Of(err.Error()))
	}
	if found.Architecture != runtime.GOARCH {
		return start{}, fmt.Errorf("its image is for %s/%s, and this machine is linux/%s", found.Os, found.Architecture, runtime.GOARCH)
	}
	at = start{image: found.ID, entrypoint: settings.Command, args: settings.Args, memory: settings.Memory}
	if len(settings.Command) == 0 && found.Config != nil && len(found.Config.Entrypoint) == 0 && len(settings.Args) == 0 {
		if settings.Arguments {
			return start{}, errors.New("its image has no entry point and the Deployment no command: the first of args would be the program, and " +
				"it is a flag")
		}
		at.entrypoint = found.Config.Cmd // what is given are flags for it
	}
	return at, nil
}

func inspect(ctx context.Context, docker *testcontainers.DockerProvider, names ...string) (found client.ImageInspectResult, err error) {
	for _, name := range names {
		if found, err = docker.Client().ImageInspect(ctx, name); !errdefs.IsNotFound(err) {
			return found, err
		}
	}
	return found, err
}

// addAgain is the command that adds a target out of an image.
func addAgain(t builds.Target, image string) string {
	return oneline.Command("nodestorm", "target", "add", t.Ref.String(), "--as", "container", "--image", image)
}

// load gives Docker the image from where it was added.
func load(ctx context.Context, docker *testcontainers.DockerProvider, t builds.Target, name string) (err error) {
	dir, remove, err := process.Scratch("nodestorm-image-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	im, err := registry.Open(ctx, t.Source.Image, runtime.GOARCH, dir, nil)
	if err != nil {
		return fmt.Errorf("%w; load it with docker load, or add it again from where it is: %s", err, addAgain(t, "IMAGE"))
	}
	if im.ID() != t.Source.ImageID {
		return fmt.Errorf("%s is another image now, %.19s; add that: %s", t.Source.Image, im.ID(), addAgain(t, t.Source.Image))
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
