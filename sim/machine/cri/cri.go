// Package cri is a container runtime without containers, behind the socket that a
// kubelet talks to (CRI v1, k8s.io/cri-api). A container is an entry in a table; one
// whose image is mapped to a program is that program, run as a process when the
// kubelet starts the container and ended when it stops it.
//
//	kubelet ──CRI──▶ Runtime ──Config.Start──▶ program, with the pod's arguments,
//	   └──probes──▶    │                       environment and volumes
//	                   └──▶ history: started, exited
//
// A Runtime is one machine's and outlives its kubelet. It answers for containerd 2,
// of which the messages are, and pulls every image that nothing is said about.
// There is no exec, attach or port-forward; commands of probes and hooks succeed.
//
// It records, with source "node" and actor "cri", about pods:
//
//	started   detail: node, container, program if it is one
//	exited    detail: node, container, code
package cri

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/clock"

	"nodestorm/sim/history"
)

// Config says what a Runtime works with. Root, Socket, Clock and PodCIDR are required.
type Config struct {
	// Node is the machine's name, in events and program names.
	Node string
	// Root is the folder that stands for the machine's "/". Host paths of mounts are
	// below it.
	Root string
	// Socket is where to listen, a path of at most 107 bytes.
	Socket string
	// Clock is the world's.
	Clock clock.WithTicker
	// History gets the events. Nil: none are kept.
	History history.Recorder
	// Program is what a container of that image runs, as the pod names the image. Nil
	// means that no image is a program.
	Program func(image string) (Program, bool)
	// Start runs a program, and Port finds it a port of loopback. Required with Program.
	Start func(Command) (Process, error)
	Port  func() (int, error)
	// Server is the API server's URL, for programs: "https://127.0.0.1:6443".
	Server string
	// PodCIDR is what pods' addresses are out of until the kubelet names another.
	PodCIDR netip.Prefix
	// PullDelay is how long an image takes to be there. Zero means at once.
	PullDelay time.Duration
	// StopDelay is from SIGTERM to the end of a container that is no program. Zero
	// means at once.
	StopDelay time.Duration
}

// Process is a program that runs.
type Process interface {
	Signal(syscall.Signal) error
	// Exited is closed when it has ended, and Code is valid then: the exit status, or
	// 128 and the signal's number.
	Exited() <-chan struct{}
	Code() int
}

// Runtime is at work from New to Close. Its methods are safe for concurrent use.
type Runtime struct {
	runtimeapi.UnimplementedRuntimeServiceServer
	runtimeapi.UnimplementedImageServiceServer

	cfg    Config
	server *grpc.Server
	gate   *http.Server // for probes
	probes net.Listener
	done   sync.WaitGroup
	ctx    context.Context
	cancel context.CancelFunc

	mu         sync.Mutex
	down       bool
	made       int // sandboxes and containers so far
	addresses  addresses
	sandboxes  map[string]*sandbox
	containers map[string]*container
	images     map[string]bool
}

// New listens and serves.
func New(cfg Config) (*Runtime, error) {
	if cfg.History == nil {
		cfg.History = history.Discard()
	}
	if cfg.Program == nil {
		cfg.Program = func(string) (Program, bool) { return Program{}, false }
	}
	socket, err := net.Listen("unix", cfg.Socket)
	if err != nil {
		return nil, fmt.Errorf("listening for the kubelet of %s: %w", cfg.Node, err)
	}
	probes, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listening for probes of %s: %w", cfg.Node, err), socket.Close())
	}
	r := &Runtime{
		cfg: cfg, probes: probes,
		addresses: addresses{prefix: cfg.PodCIDR},
		sandboxes: map[string]*sandbox{}, containers: map[string]*container{}, images: map[string]bool{},
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.server = grpc.NewServer(grpc.WaitForHandlers(true), grpc.UnaryInterceptor(r.answer)) // Close has to see what is just starting
	runtimeapi.RegisterRuntimeServiceServer(r.server, r)
	runtimeapi.RegisterImageServiceServer(r.server, r)
	r.gate = &http.Server{Handler: http.HandlerFunc(r.probe)}
	r.done.Go(func() { _ = r.server.Serve(socket) }) // ends with Close
	r.done.Go(func() { _ = r.gate.Serve(probes) })
	return r, nil
}

// ProbeAddress is the host:port for the kubelet's network probes.
func (r *Runtime) ProbeAddress() string { return r.probes.Addr().String() }

// Close is the machine's end: programs are killed, and no call is answered any more.
func (r *Runtime) Close() error {
	r.cancel()
	r.server.Stop()
	err := r.gate.Close()
	r.mu.Lock()
	var running []Process
	for _, c := range r.containers {
		if c.process != nil && c.state == runtimeapi.ContainerState_CONTAINER_RUNNING {
			running = append(running, c.process)
		}
	}
	r.mu.Unlock()
	for _, p := range running {
		err = errors.Join(err, p.Signal(syscall.SIGKILL))
	}
	r.done.Wait()
	return err
}

// SetDown makes the runtime's service fail, or work again. Containers go on.
func (r *Runtime) SetDown(down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = down
}

func (r *Runtime) answer(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	r.mu.Lock()
	down := r.down
	r.mu.Unlock()
	if down {
		return nil, status.Error(codes.Unavailable, "the container runtime is down")
	}
	return handle(ctx, req)
}

// newID looks as containerd's do. The caller holds r.mu.
func (r *Runtime) newID() string {
	r.made++
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %d", r.cfg.Node, r.made)))
}

func (r *Runtime) now() int64 { return r.cfg.Clock.Now().UnixNano() }

// wait lets virtual time pass.
func (r *Runtime) wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := r.cfg.Clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-r.ctx.Done():
		return status.Error(codes.Unavailable, "the machine is off")
	}
}

// Version answers for the release whose messages are used here.
func (r *Runtime) Version(context.Context, *runtimeapi.VersionRequest) (*runtimeapi.VersionResponse, error) {
	return &runtimeapi.VersionResponse{Version: "0.1.0", RuntimeName: "containerd", RuntimeVersion: "2.1.4", RuntimeApiVersion: "v1"}, nil
}

// Status is ready but for the network, of which there must be a configuration.
func (r *Runtime) Status(context.Context, *runtimeapi.StatusRequest) (*runtimeapi.StatusResponse, error) {
	network := &runtimeapi.RuntimeCondition{Type: runtimeapi.NetworkReady, Status: true}
	if !r.networkReady() {
		network = &runtimeapi.RuntimeCondition{
			Type: runtimeapi.NetworkReady, Reason: "NetworkPluginNotReady",
			Message: "Network plugin returns error: cni plugin not initialized",
		}
	}
	return &runtimeapi.StatusResponse{Status: &runtimeapi.RuntimeStatus{Conditions: []*runtimeapi.RuntimeCondition{
		{Type: runtimeapi.RuntimeReady, Status: true}, network,
	}}}, nil
}

// NetworkFolder is where a network plugin leaves its configuration on the machine,
// and which decides about NetworkReady.
const NetworkFolder = "/etc/cni/net.d"

func (r *Runtime) networkReady() bool {
	for _, kind := range []string{"*.conflist", "*.conf", "*.json"} {
		if found, err := filepath.Glob(filepath.Join(r.onMachine(NetworkFolder), kind)); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// onMachine is where a path of the machine's is.
func (r *Runtime) onMachine(path string) string {
	return filepath.Join(r.cfg.Root, filepath.Join("/", path)) // cleaned first, so that .. ends at the machine's /
}

// RuntimeConfig leaves the cgroup driver to the kubelet's configuration.
func (r *Runtime) RuntimeConfig(context.Context, *runtimeapi.RuntimeConfigRequest) (*runtimeapi.RuntimeConfigResponse, error) {
	return &runtimeapi.RuntimeConfigResponse{}, nil
}

// UpdateRuntimeConfig learns the range of the pods' addresses.
func (r *Runtime) UpdateRuntimeConfig(_ context.Context,
	req *runtimeapi.UpdateRuntimeConfigRequest) (*runtimeapi.UpdateRuntimeConfigResponse, error) {
	if text := req.GetRuntimeConfig().GetNetworkConfig().GetPodCidr(); text != "" {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, status.Errorf(codes.InvalidArgument, "pod CIDR: %v", err)
		}
		r.mu.Lock()
		r.addresses = addresses{prefix: prefix}
		r.mu.Unlock()
	}
	return &runtimeapi.UpdateRuntimeConfigResponse{}, nil
}

// addresses hands out the addresses of a range, from its third on: the first two are
// the network and the bridge.
type addresses struct {
	prefix netip.Prefix
	last   netip.Addr
}

func (a *addresses) next() (netip.Addr, error) {
	if !a.last.IsValid() {
		a.last = a.prefix.Masked().Addr().Next()
	}
	next := a.last.Next()
	if !next.IsValid() || !a.prefix.Contains(next) {
		return netip.Addr{}, fmt.Errorf("no IP addresses available in range set: %s", a.prefix)
	}
	a.last = next
	return next, nil
}

func (r *Runtime) record(verb string, c *container, detail map[string]any) {
	detail["node"], detail["container"] = r.cfg.Node, c.config.GetMetadata().GetName()
	pod := c.sandbox.config.GetMetadata()
	r.cfg.History.Record(history.Event{
		Source: history.Node, Verb: verb, Actor: "cri", Detail: detail,
		Object: history.Object{Resource: "pods", Namespace: pod.GetNamespace(), Name: pod.GetName()},
	})
}
