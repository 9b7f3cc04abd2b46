package cri

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/clock"

	"nodestorm/sim/machine/node"
)

// ServeAfterAnnotation on a pod: containers that are no programs pass probes this
// long after their start, a Go duration ("30s"). Without it they do at once.
const ServeAfterAnnotation = "nodestorm.sim/serve-after"

// killed is the exit code of what SIGKILL has ended.
const killed = 128 + int(syscall.SIGKILL)

// container is one attempt at a container. What changes is guarded by Runtime.mu.
type container struct {
	id      string
	config  *runtimeapi.ContainerConfig
	sandbox *sandbox
	log     *log

	state                      runtimeapi.ContainerState
	created, started, finished int64
	code                       int
	process                    Process // nil: no program
	ports                      map[int]int
	exited                     chan struct{}
	end                        clock.Timer // of one that ends by itself
}

// image is what the pod names; config.Image may be what it was resolved to.
func (c *container) image() string {
	return cmp.Or(c.config.GetImage().GetUserSpecifiedImage(), c.config.GetImage().GetImage())
}

// annotated is a duration that the pod's annotation says.
func (c *container) annotated(name string) (time.Duration, bool) {
	d, err := time.ParseDuration(c.sandbox.config.GetAnnotations()[name])
	return d, err == nil && d >= 0
}

func notFound(id string) error {
	return status.Errorf(codes.NotFound, "an error occurred when try to find container %q: not found", id)
}

// CreateContainer puts it into the table.
func (r *Runtime) CreateContainer(_ context.Context, req *runtimeapi.CreateContainerRequest) (*runtimeapi.CreateContainerResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sandboxes[req.GetPodSandboxId()]
	if s == nil || !s.ready {
		return nil, status.Errorf(codes.NotFound, "failed to find sandbox id %q: not found", req.GetPodSandboxId())
	}
	c := &container{
		id: r.newID(), config: req.GetConfig(), sandbox: s,
		log:   newLog(filepath.Join(req.GetSandboxConfig().GetLogDirectory(), req.GetConfig().GetLogPath()), r.cfg.Clock),
		state: runtimeapi.ContainerState_CONTAINER_CREATED, created: r.now(), exited: make(chan struct{}),
	}
	r.containers[c.id] = c
	return &runtimeapi.CreateContainerResponse{ContainerId: c.id}, nil
}

// StartContainer runs its program, if it has one.
func (r *Runtime) StartContainer(ctx context.Context, req *runtimeapi.StartContainerRequest) (*runtimeapi.StartContainerResponse, error) {
	r.mu.Lock()
	c := r.containers[req.GetContainerId()]
	r.mu.Unlock()
	if c == nil {
		return nil, notFound(req.GetContainerId())
	}
	if err := c.log.open(); err != nil {
		return nil, status.Errorf(codes.Unknown, "failed to open container log: %v", err)
	}
	detail := map[string]any{}
	program, isProgram := r.cfg.Program(c.image())
	var process Process
	if isProgram {
		command, err := r.command(c, program)
		if err == nil {
			process, err = r.cfg.Start(command)
		}
		if err != nil {
			r.ended(c, 128) // as containerd has it for what did not start
			return nil, status.Errorf(codes.Unknown, "failed to start container %q: %v", c.id, err)
		}
		if ctx.Err() != nil { // the kubelet has gone, or the machine: neither would stop it
			err := process.Signal(syscall.SIGKILL)
			<-process.Exited()
			r.ended(c, process.Code())
			return nil, errors.Join(ctx.Err(), err)
		}
		detail["program"] = program.Path
	}
	r.record("started", c, detail)
	r.mu.Lock()
	defer r.mu.Unlock()
	c.process, c.started, c.state = process, r.now(), runtimeapi.ContainerState_CONTAINER_RUNNING
	if process != nil {
		r.done.Go(func() {
			<-process.Exited()
			r.ended(c, process.Code())
		})
	} else if d, ok := c.annotated(node.RunForAnnotation); ok {
		c.end = r.cfg.Clock.NewTimer(d)
		r.done.Go(func() {
			select {
			case <-c.end.C():
				r.ended(c, 0)
			case <-c.exited:
			case <-r.ctx.Done():
			}
			c.end.Stop()
		})
	}
	return &runtimeapi.StartContainerResponse{}, nil
}

// ended notes the end of a container, the first time it is called.
func (r *Runtime) ended(c *container, code int) {
	r.mu.Lock()
	already := c.state == runtimeapi.ContainerState_CONTAINER_EXITED
	if !already {
		c.state, c.finished, c.code = runtimeapi.ContainerState_CONTAINER_EXITED, r.now(), code
		if c.started == 0 {
			c.started = c.finished
		}
		close(c.exited)
	}
	r.mu.Unlock()
	if !already {
		c.log.close()
		r.record("exited", c, map[string]any{"code": code})
	}
}

// StopContainer asks it to end, and makes it.
func (r *Runtime) StopContainer(ctx context.Context, req *runtimeapi.StopContainerRequest) (*runtimeapi.StopContainerResponse, error) {
	r.mu.Lock()
	c := r.containers[req.GetContainerId()]
	r.mu.Unlock()
	if c == nil { // gone is stopped
		return &runtimeapi.StopContainerResponse{}, nil
	}
	return &runtimeapi.StopContainerResponse{}, r.stop(ctx, c, time.Duration(req.GetTimeout())*time.Second)
}

func (r *Runtime) stop(ctx context.Context, c *container, grace time.Duration) error {
	r.mu.Lock()
	state, process := c.state, c.process
	r.mu.Unlock()
	if state != runtimeapi.ContainerState_CONTAINER_RUNNING {
		return nil
	}
	if process == nil {
		code, after := 0, r.cfg.StopDelay
		if d, ok := c.annotated(node.StopAfterAnnotation); ok {
			after = d
		}
		if after > grace || grace <= 0 {
			code, after = killed, grace
		}
		if err := r.wait(ctx, after); err != nil {
			return err
		}
		r.ended(c, code)
		return nil
	}
	if grace > 0 {
		if err := process.Signal(syscall.SIGTERM); err != nil {
			return status.Errorf(codes.Unknown, "failed to stop container %q: %v", c.id, err)
		}
		t := r.cfg.Clock.NewTimer(grace)
		defer t.Stop()
		select {
		case <-c.exited:
			return nil
		case <-t.C():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := process.Signal(syscall.SIGKILL); err != nil {
		return status.Errorf(codes.Unknown, "failed to kill container %q: %v", c.id, err)
	}
	select {
	case <-c.exited:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// RemoveContainer ends and forgets it.
func (r *Runtime) RemoveContainer(ctx context.Context,
	req *runtimeapi.RemoveContainerRequest) (*runtimeapi.RemoveContainerResponse, error) {
	id := req.GetContainerId()
	if _, err := r.StopContainer(ctx, &runtimeapi.StopContainerRequest{ContainerId: id}); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.containers, id)
	return &runtimeapi.RemoveContainerResponse{}, nil
}

// ListContainers lists the oldest first.
func (r *Runtime) ListContainers(_ context.Context, req *runtimeapi.ListContainersRequest) (*runtimeapi.ListContainersResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	filter := req.GetFilter()
	var list []*runtimeapi.Container
	for _, c := range r.containers {
		if filter.GetId() != "" && filter.GetId() != c.id || filter.GetState() != nil && filter.GetState().State != c.state ||
			filter.GetPodSandboxId() != "" && filter.GetPodSandboxId() != c.sandbox.id || !selects(filter.GetLabelSelector(), c.config.GetLabels()) {
			continue
		}
		list = append(list, &runtimeapi.Container{
			Id: c.id, PodSandboxId: c.sandbox.id, Metadata: c.config.GetMetadata(), Image: c.config.GetImage(), ImageRef: referenceOf(c.image()),
			ImageId: digestOf(c.image()), State: c.state, CreatedAt: c.created, Labels: c.config.GetLabels(), Annotations: c.config.GetAnnotations(),
		})
	}
	slices.SortFunc(list, func(a, b *runtimeapi.Container) int { return int(a.CreatedAt - b.CreatedAt) })
	return &runtimeapi.ListContainersResponse{Containers: list}, nil
}

// ContainerStatus has how it ended.
func (r *Runtime) ContainerStatus(_ context.Context, req *runtimeapi.ContainerStatusRequest) (*runtimeapi.ContainerStatusResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.containers[req.GetContainerId()]
	if c == nil {
		return nil, notFound(req.GetContainerId())
	}
	s := &runtimeapi.ContainerStatus{
		Id: c.id, Metadata: c.config.GetMetadata(), State: c.state, CreatedAt: c.created, StartedAt: c.started, FinishedAt: c.finished,
		ExitCode: int32(c.code), Image: &runtimeapi.ImageSpec{Image: c.image()}, ImageRef: referenceOf(c.image()), ImageId: digestOf(c.image()),
		Labels: c.config.GetLabels(), Annotations: c.config.GetAnnotations(), Mounts: c.config.GetMounts(), LogPath: c.log.path,
	}
	if c.state == runtimeapi.ContainerState_CONTAINER_EXITED {
		s.Reason = "Completed"
		if c.code != 0 {
			s.Reason = "Error"
		}
	}
	return &runtimeapi.ContainerStatusResponse{Status: s}, nil
}

// ExecSync is for exec probes and hooks: there is no container to run the command in.
func (r *Runtime) ExecSync(_ context.Context, req *runtimeapi.ExecSyncRequest) (*runtimeapi.ExecSyncResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.containers[req.GetContainerId()]; c == nil || c.state != runtimeapi.ContainerState_CONTAINER_RUNNING {
		return nil, status.Error(codes.Unknown, fmt.Sprintf("container %q is not running", req.GetContainerId()))
	}
	return &runtimeapi.ExecSyncResponse{}, nil
}

// ReopenContainerLog is asked for after the kubelet has moved a log away.
func (r *Runtime) ReopenContainerLog(_ context.Context,
	req *runtimeapi.ReopenContainerLogRequest) (*runtimeapi.ReopenContainerLogResponse, error) {
	r.mu.Lock()
	c := r.containers[req.GetContainerId()]
	r.mu.Unlock()
	if c == nil {
		return nil, notFound(req.GetContainerId())
	}
	c.log.close()
	return &runtimeapi.ReopenContainerLogResponse{}, c.log.open()
}

// UpdateContainerResources has nothing to change.
func (r *Runtime) UpdateContainerResources(context.Context,
	*runtimeapi.UpdateContainerResourcesRequest) (*runtimeapi.UpdateContainerResourcesResponse, error) {
	return &runtimeapi.UpdateContainerResourcesResponse{}, nil
}
