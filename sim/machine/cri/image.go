package cri

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"nodestorm/sim/machine/node"
)

// nonroot is the user that all images name, so that runAsNonRoot is content.
const nonroot = 65532

func digestOf(image string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(image))) }

// referenceOf is how a pod's status names the image of a container.
func referenceOf(image string) string { return node.Repository(image) + "@" + digestOf(image) }

func imageOf(name string) *runtimeapi.Image {
	return &runtimeapi.Image{
		Id: digestOf(name), RepoTags: []string{name}, Size: 50 << 20,
		Uid: &runtimeapi.Int64Value{Value: nonroot}, Spec: &runtimeapi.ImageSpec{Image: name},
	}
}

// PullImage has every image, except of a program that is not there.
func (r *Runtime) PullImage(ctx context.Context, req *runtimeapi.PullImageRequest) (*runtimeapi.PullImageResponse, error) {
	name := req.GetImage().GetImage()
	if program, mapped := r.cfg.Program(name); mapped {
		if _, err := os.Stat(program.Path); err != nil {
			return nil, status.Errorf(codes.NotFound,
				"failed to pull and unpack image %q: the program that stands for it is not there: %v", name, err)
		}
	}
	if err := r.wait(ctx, r.cfg.PullDelay); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.images[name] = true
	return &runtimeapi.PullImageResponse{ImageRef: digestOf(name)}, nil
}

// ImageStatus knows what has been pulled, by name or digest.
func (r *Runtime) ImageStatus(_ context.Context, req *runtimeapi.ImageStatusRequest) (*runtimeapi.ImageStatusResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.images {
		if want := req.GetImage().GetImage(); want == name || want == digestOf(name) {
			return &runtimeapi.ImageStatusResponse{Image: imageOf(name)}, nil
		}
	}
	return &runtimeapi.ImageStatusResponse{}, nil
}

// ListImages lists by name.
func (r *Runtime) ListImages(context.Context, *runtimeapi.ListImagesRequest) (*runtimeapi.ListImagesResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	answer := &runtimeapi.ListImagesResponse{}
	for _, name := range slices.Sorted(maps.Keys(r.images)) {
		answer.Images = append(answer.Images, imageOf(name))
	}
	return answer, nil
}

// RemoveImage forgets one.
func (r *Runtime) RemoveImage(_ context.Context, req *runtimeapi.RemoveImageRequest) (*runtimeapi.RemoveImageResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.images, func(name string, _ bool) bool {
		return req.GetImage().GetImage() == name || req.GetImage().GetImage() == digestOf(name)
	})
	return &runtimeapi.RemoveImageResponse{}, nil
}

// ImageFsInfo is what images take on the machine's one file system.
func (r *Runtime) ImageFsInfo(context.Context, *runtimeapi.ImageFsInfoRequest) (*runtimeapi.ImageFsInfoResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	usage := &runtimeapi.FilesystemUsage{
		Timestamp: r.now(), FsId: &runtimeapi.FilesystemIdentifier{Mountpoint: "/var/lib/containerd"},
		UsedBytes:  &runtimeapi.UInt64Value{Value: uint64(len(r.images)) * 50 << 20},
		InodesUsed: &runtimeapi.UInt64Value{Value: uint64(len(r.images)) * 1000},
	}
	return &runtimeapi.ImageFsInfoResponse{ImageFilesystems: []*runtimeapi.FilesystemUsage{usage},
		ContainerFilesystems: []*runtimeapi.FilesystemUsage{usage}}, nil
}
