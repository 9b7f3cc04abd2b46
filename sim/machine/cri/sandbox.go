package cri

import (
	"context"
	"maps"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// sandbox is a pod's. What changes is guarded by Runtime.mu.
type sandbox struct {
	id      string
	config  *runtimeapi.PodSandboxConfig
	created int64
	ip      string // empty on the host's network
	ready   bool
}

func (s *sandbox) hostNetwork() bool {
	return s.namespaces().GetNetwork() == runtimeapi.NamespaceMode_NODE
}

func (s *sandbox) namespaces() *runtimeapi.NamespaceOption {
	return s.config.GetLinux().GetSecurityContext().GetNamespaceOptions()
}

func (s *sandbox) state() runtimeapi.PodSandboxState {
	if s.ready {
		return runtimeapi.PodSandboxState_SANDBOX_READY
	}
	return runtimeapi.PodSandboxState_SANDBOX_NOTREADY
}

// RunPodSandbox needs a network, unless the pod uses the host's.
func (r *Runtime) RunPodSandbox(_ context.Context, req *runtimeapi.RunPodSandboxRequest) (*runtimeapi.RunPodSandboxResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &sandbox{id: r.newID(), config: req.GetConfig(), created: r.now(), ready: true}
	if !s.hostNetwork() {
		if !r.networkReady() {
			return nil, status.Errorf(codes.Unknown, "failed to setup network for sandbox %q: cni plugin not initialized", s.id)
		}
		ip, err := r.addresses.next()
		if err != nil {
			return nil, status.Errorf(codes.Unknown, "failed to setup network for sandbox %q: %v", s.id, err)
		}
		s.ip = ip.String()
	}
	r.sandboxes[s.id] = s
	return &runtimeapi.RunPodSandboxResponse{PodSandboxId: s.id}, nil
}

// StopPodSandbox ends what still runs in it.
func (r *Runtime) StopPodSandbox(ctx context.Context, req *runtimeapi.StopPodSandboxRequest) (*runtimeapi.StopPodSandboxResponse, error) {
	r.mu.Lock()
	s := r.sandboxes[req.GetPodSandboxId()]
	var inside []*container
	for _, c := range r.containers {
		if c.sandbox == s {
			inside = append(inside, c)
		}
	}
	r.mu.Unlock()
	for _, c := range inside {
		if err := r.stop(ctx, c, 0); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s != nil { // one that is gone is stopped
		s.ready = false
	}
	return &runtimeapi.StopPodSandboxResponse{}, nil
}

// RemovePodSandbox forgets it and its containers.
func (r *Runtime) RemovePodSandbox(ctx context.Context,
	req *runtimeapi.RemovePodSandboxRequest) (*runtimeapi.RemovePodSandboxResponse, error) {
	id := req.GetPodSandboxId()
	if _, err := r.StopPodSandbox(ctx, &runtimeapi.StopPodSandboxRequest{PodSandboxId: id}); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sandboxes, id)
	maps.DeleteFunc(r.containers, func(_ string, c *container) bool { return c.sandbox.id == id })
	return &runtimeapi.RemovePodSandboxResponse{}, nil
}

// PodSandboxStatus has the pod's address.
func (r *Runtime) PodSandboxStatus(_ context.Context,
	req *runtimeapi.PodSandboxStatusRequest) (*runtimeapi.PodSandboxStatusResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sandboxes[req.GetPodSandboxId()]
	if s == nil {
		return nil, status.Errorf(codes.NotFound, "an error occurred when try to find sandbox: not found: %q", req.GetPodSandboxId())
	}
	return &runtimeapi.PodSandboxStatusResponse{Status: &runtimeapi.PodSandboxStatus{
		Id: s.id, Metadata: s.config.GetMetadata(), State: s.state(), CreatedAt: s.created,
		Network:     &runtimeapi.PodSandboxNetworkStatus{Ip: s.ip},
		Linux:       &runtimeapi.LinuxPodSandboxStatus{Namespaces: &runtimeapi.Namespace{Options: s.namespaces()}},
		Labels:      s.config.GetLabels(),
		Annotations: s.config.GetAnnotations(),
	}}, nil
}

// ListPodSandbox lists the oldest first.
func (r *Runtime) ListPodSandbox(_ context.Context, req *runtimeapi.ListPodSandboxRequest) (*runtimeapi.ListPodSandboxResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	filter := req.GetFilter()
	var items []*runtimeapi.PodSandbox
	for _, s := range r.sandboxes {
		if filter.GetId() != "" && filter.GetId() != s.id || filter.GetState() != nil && filter.GetState().State != s.state() ||
			!selects(filter.GetLabelSelector(), s.config.GetLabels()) {
			continue
		}
		items = append(items, &runtimeapi.PodSandbox{
			Id: s.id, Metadata: s.config.GetMetadata(), State: s.state(), CreatedAt: s.created,
			Labels: s.config.GetLabels(), Annotations: s.config.GetAnnotations(),
		})
	}
	slices.SortFunc(items, func(a, b *runtimeapi.PodSandbox) int { return int(a.CreatedAt - b.CreatedAt) })
	return &runtimeapi.ListPodSandboxResponse{Items: items}, nil
}

func selects(selector, labels map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return true
}
