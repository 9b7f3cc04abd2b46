// Package container runs targets that are images as containers of Docker: the whole image, with
// its libraries, its entry point and its user, where one program out of it is not enough.
//
// A container has this machine's network, since a world is on loopback, and real time. It has
// no capability and cannot gain any. Of this machine's files it has copies of those of the
// world that its command line and environment name. testcontainers-go makes it.
package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	apicontainer "github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
	"k8s.io/apimachinery/pkg/api/resource"

	"nodestorm/harness/world/process"
	"nodestorm/sim/oneline"
)

// byDocker is who loses containers.
const byDocker = "Docker"

// Owner is the label of the containers: which nodestorm started them, see [process.Self].
const Owner = "nodestorm.owner"

// owner is what tests replace.
var owner = process.Self

// endWithin bounds what is asked of Docker once a container is to end.
const endWithin = 30 * time.Second

// settle has testcontainers-go look for containers' ports on this machine, and start none of its
// own, which would come from a registry: both are ours to say where the user does not.
var settle = sync.OnceFunc(func() {
	for name, value := range map[string]string{"TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1", "TESTCONTAINERS_RYUK_DISABLED": "true"} {
		if _, set := os.LookupEnv(name); !set {
			_ = os.Setenv(name, value) // the names are right
		}
	}
	log.SetDefault(log.NewNoopLogger())
})

// connect finds Docker. Containers without a network of their own need none made.
func connect(ctx context.Context) (*testcontainers.DockerProvider, error) {
	settle()
	type found struct {
		docker *testcontainers.DockerProvider
		err    error
	}
	done := make(chan found, 1)
	go func() { // it takes no context
		docker, err := testcontainers.NewDockerProvider(testcontainers.WithDefaultBridgeNetwork("host"),
			testcontainers.WithLogger(log.NewNoopLogger()))
		if err == nil {
			_, err = docker.Client().Ping(ctx, client.PingOptions{})
		}
		done <- found{docker, err}
	}()
	select {
	case f := <-done:
		if f.err != nil {
			return nil, fmt.Errorf("no Docker answers (%s); start dockerd, or name its socket in DOCKER_HOST", oneline.Of(f.err.Error()))
		}
		return f.docker, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("no Docker answers: %w; start it again, or name its socket in DOCKER_HOST", context.Cause(ctx))
	}
}

// checkLocal says why containers of this Docker are not on this machine's network.
func checkLocal(ctx context.Context, docker *testcontainers.DockerProvider) error {
	host, err := url.Parse(docker.Client().DaemonHost())
	if err == nil && host.Scheme != "unix" {
		return fmt.Errorf("the Docker in use is at %s, and the worlds that containers are to reach are on this machine's loopback: name a "+
			"socket of this machine in DOCKER_HOST", host)
	}
	said, err := docker.Client().Info(ctx, client.InfoOptions{})
	if err != nil {
		return err
	}
	if strings.Contains(said.Info.OperatingSystem, "Docker Desktop") {
		return errors.New("containers of Docker Desktop are in a machine of their own, where worlds cannot be reached: it needs Docker Engine")
	}
	for _, option := range said.Info.SecurityOptions {
		if strings.Contains(option, "name=rootless") {
			return errors.New("rootless Docker's containers have no way to this machine's loopback, where worlds are: it needs Docker with " +
				"root's rights")
		}
	}
	return nil
}

// running is a container that runs.
type running struct {
	docker client.APIClient
	name   string // the program's
	id     string
	memory int64 // the most that it may have, in bytes; 0: no limit
	pid    int
	killed atomic.Bool // by us
	wait   client.ContainerWaitResult
	forget context.CancelFunc // of what follows the container
	copied chan error         // the end of its output
	ended  chan struct{}
}

// start is what a container is made of.
type start struct {
	image      string
	world      string // folder of files that its command line and environment name, or empty
	entrypoint []string
	args       []string // before the program's
	memory     int64    // the most that it may have, in bytes; 0: no limit
	// made, if given, gets the container's ID before it starts: from then on it may be left behind.
	made func(id string) error
}

// run starts the image with the program's arguments behind its entry point.
func run(ctx context.Context, at start, spec process.Spec, out io.Writer) (_ process.Running, err error) {
	docker, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	files, err := named(at.world, append(append([]string{}, spec.Args...), spec.Env...))
	if err != nil {
		return nil, err
	}
	env := map[string]string{}
	for _, variable := range spec.Env {
		name, value, _ := strings.Cut(variable, "=")
		env[name] = value
	}
	follow, forget := context.WithCancel(context.Background())
	r := &running{docker: docker.Client(), name: spec.Name, memory: at.memory, forget: forget, copied: make(chan error, 1),
		ended: make(chan struct{})}
	made, err := docker.CreateContainer(ctx, testcontainers.ContainerRequest{
		Image: at.image, Entrypoint: at.entrypoint, Cmd: slices.Concat(at.args, spec.Args), Env: env, Files: files,
		Labels: map[string]string{Owner: owner()},
		ConfigModifier: func(of *apicontainer.Config) {
			if spec.Host != "" {
				of.Hostname = spec.Host
			}
		},
		HostConfigModifier: func(host *apicontainer.HostConfig) {
			host.NetworkMode = "host"
			host.CapDrop, host.SecurityOpt = []string{"ALL"}, []string{"no-new-privileges"}
			host.LogConfig.Type = "none" // we read its output
			host.Memory, host.MemorySwap = at.memory, at.memory
		},
		LifecycleHooks: []testcontainers.ContainerLifecycleHooks{{PreStarts: []testcontainers.ContainerHook{
			func(_ context.Context, made testcontainers.Container) error {
				if at.made == nil {
					return nil
				}
				return at.made(made.GetContainerID())
			},
			r.attach(follow, out),
		}}},
	})
	if made != nil {
		r.id = made.GetContainerID()
	}
	defer func() {
		if err != nil {
			forget()
			err = errors.Join(err, r.remove())
		}
	}()
	if err != nil {
		return nil, fmt.Errorf("making its container: %s", oneline.Of(err.Error()))
	}
	r.wait = r.docker.ContainerWait(follow, r.id, client.ContainerWaitOptions{Condition: apicontainer.WaitConditionNextExit})
	if err := made.Start(ctx); err != nil {
		return nil, fmt.Errorf("starting its container: %s", oneline.Of(err.Error()))
	}
	if state, err := r.docker.ContainerInspect(ctx, r.id, client.ContainerInspectOptions{}); err == nil && state.Container.State != nil {
		r.pid = state.Container.State.Pid
	}
	return r, nil
}

// attach has the output written from the first line on.
func (r *running) attach(follow context.Context, out io.Writer) testcontainers.ContainerHook {
	return func(_ context.Context, made testcontainers.Container) error {
		stream, err := r.docker.ContainerAttach(follow, made.GetContainerID(), client.ContainerAttachOptions{Stream: true, Stdout: true,
			Stderr: true})
		if err != nil {
			return err
		}
		go func() {
			defer stream.Close()
			_, err := stdcopy.StdCopy(out, out, stream.Reader)
			r.copied <- err
		}()
		return nil
	}
}

// PID is that of the container's first process.
func (r *running) PID() int { return r.pid }

// Ended reports whether it has.
func (r *running) Ended() bool {
	select {
	case <-r.ended:
		return true
	default:
	}
	ctx, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	state, err := r.docker.ContainerInspect(ctx, r.id, client.ContainerInspectOptions{})
	return err == nil && state.Container.State != nil && !state.Container.State.Running
}

// Signal sends one to its first process.
func (r *running) Signal(s syscall.Signal) error {
	if s == syscall.SIGKILL {
		r.killed.Store(true)
	}
	ctx, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	_, err := r.docker.ContainerKill(ctx, r.id, client.ContainerKillOptions{Signal: fmt.Sprint(int(s))})
	switch {
	case err == nil, errdefs.IsNotFound(err), errdefs.IsConflict(err): // it does not run any more
		return nil
	case s == syscall.SIGKILL && r.kill() == nil:
		return nil
	}
	return err
}

// kill ends its first process without Docker, which root may.
func (r *running) kill() error {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", r.pid))
	if r.pid < 2 || err != nil || !strings.Contains(string(text), r.id) {
		return errors.New("the process of its container is not to be found")
	}
	return syscall.Kill(r.pid, syscall.SIGKILL)
}

// Wait returns when the container has ended and is removed.
func (r *running) Wait() (end process.End) {
	defer close(r.ended)
	defer r.forget()
	select {
	case said := <-r.wait.Result:
		end.Code = int(said.StatusCode)
		end.Status = fmt.Sprintf("exit status %d", end.Code)
	case err := <-r.wait.Error:
		end.Lost = &process.LostError{Name: r.name, By: byDocker, Err: oneline.Error(err)}
		if r.kill() == nil {
			end.Lost.Err = fmt.Errorf("%w; its process was killed", end.Lost.Err)
		}
		r.forget() // its output
	}
	select {
	case err := <-r.copied:
		if err != nil && end.Lost == nil {
			end.Status += ", its output ends early: " + oneline.Of(err.Error())
		}
	case <-time.After(endWithin): // it is cut off
	}
	ctx, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	if end.Lost == nil {
		state, err := r.docker.ContainerInspect(ctx, r.id, client.ContainerInspectOptions{})
		end.Status += r.outOfMemory(end.Code, err == nil && state.Container.State != nil && state.Container.State.OOMKilled)
	}
	if err := r.remove(); err != nil {
		if end.Lost == nil {
			end.Lost = &process.LostError{Name: r.name, By: byDocker, Err: err}
		} else {
			end.Lost.Err = fmt.Errorf("%w; %w", end.Lost.Err, err)
		}
	}
	return end
}

// outOfMemory says so, if that was its end. Docker may hear of the end before it hears why.
func (r *running) outOfMemory(code int, reported bool) (said string) {
	switch {
	case reported:
		said = ", out of memory"
	// mutant: a container that we killed was short of memory
	case code == 128+int(syscall.SIGKILL) && !r.killed.Load():
		said = ", killed, perhaps out of memory"
	default:
		return ""
	}
	if r.memory > 0 {
		said += ": its limit is " + resource.NewQuantity(r.memory, resource.BinarySI).String()
	}
	return said
}

// remove leaves nothing of it, its volumes neither.
func (r *running) remove() error {
	if r.id == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	return remove(ctx, r.docker, r.id)
}

func remove(ctx context.Context, docker client.APIClient, id string) error {
	if _, err := docker.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true}); err != nil &&
		!errdefs.IsNotFound(err) {
		return fmt.Errorf("removing container %.12s: %s; nodestorm clean does once Docker answers", id, oneline.Of(err.Error()))
	}
	return nil
}

// most bounds what a container gets of a world's files, in bytes.
const most = 64 << 20

// named are the files of a folder that the texts name, as everybody in the container can read
// them: its user is the image's.
func named(folder string, texts []string) (files []testcontainers.ContainerFile, err error) {
	if folder == "" {
		return nil, nil
	}
	paths := regexp.MustCompile(regexp.QuoteMeta(folder+"/") + `[^\s,:;="']+`)
	seen, size := map[string]bool{}, int64(0)
	for _, path := range paths.FindAllString(strings.Join(texts, "\n"), -1) {
		err := filepath.WalkDir(path, func(at string, d os.DirEntry, err error) error {
			if err != nil || seen[at] || !d.Type().IsRegular() {
				return err
			}
			seen[at] = true
			info, err := d.Info()
			if err != nil {
				return err
			}
			// mutant: a container gets as much of a world as is named
			if size += info.Size(); size > most {
				return fmt.Errorf("its files of the world have more than %d MiB", most>>20)
			}
			// mutant: a container gets files that only their owner can read
			files = append(files, testcontainers.ContainerFile{HostFilePath: at, ContainerFilePath: at, FileMode: 0o444})
			return nil
		})
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("giving its container %s: %w", filepath.Base(path), err)
		}
	}
	return files, nil
}

// Sweep removes the containers whose nodestorm has been killed, and returns their names. Without
// Docker there are none.
func Sweep(ctx context.Context) (removed []string, err error) {
	docker, err := connect(ctx)
	if err != nil {
		return nil, nil
	}
	list, err := docker.Client().ContainerList(ctx, client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", Owner)})
	if err != nil {
		return nil, fmt.Errorf("listing containers: %s", oneline.Of(err.Error()))
	}
	for _, c := range list.Items {
		if !process.HasEnded(c.Labels[Owner]) {
			continue
		}
		name := strings.TrimPrefix(strings.Join(c.Names, " "), "/")
		if e := remove(ctx, docker.Client(), c.ID); e != nil {
			err = errors.Join(err, e)
			continue
		}
		removed = append(removed, name)
	}
	return removed, err
}
