// Package externalgrpc runs nodestorm's fake cloud of node groups in a container, for tests
// of clients of Cluster Autoscaler's provider externalgrpc. Connections are in clear.
package externalgrpc

import (
	"context"
	"fmt"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"

	"nodestorm/fakecloud/testcontainers/internal/container"
)

// Image is what "nodestorm target image" calls the image.
const Image = "nodestorm/nodestorm:local"

// Container is a cloud of one's own. It begins with the groups of WithGroups and ends with
// the container.
type Container struct{ testcontainers.Container }

// Run starts a cloud and returns when it serves. Like all of its kind it returns the
// container with an error, too, so that it can be cleaned up.
func Run(ctx context.Context, img string, opts ...testcontainers.ContainerCustomizer) (*Container, error) {
	up := testcontainers.WithWaitStrategy(wait.ForLog("The cloud is up"))
	started, err := container.Run(ctx, img, []string{"externalgrpc"}, append([]testcontainers.ContainerCustomizer{up}, opts...)...)
	if started == nil {
		return nil, fmt.Errorf("running a fake cloud of node groups: %w", err)
	}
	if err != nil {
		return &Container{started}, fmt.Errorf("running a fake cloud of node groups: %w", err)
	}
	return &Container{started}, nil
}

// WithGroups has the cloud begin with node groups, in YAML: those of nodestorm cloud
// externalgrpc --groups.
func WithGroups(yaml string) testcontainers.CustomizeRequestOption {
	return container.WithFile("--groups", "groups.yaml", yaml)
}

// WithFaults has the cloud fail as the faults say, in YAML: those of nodestorm cloud
// externalgrpc --faults.
func WithFaults(yaml string) testcontainers.CustomizeRequestOption {
	return container.WithFile("--faults", "faults.yaml", yaml)
}

// Address is host:port, as the address of a file for --cloud-config is.
func (c *Container) Address(ctx context.Context) (string, error) {
	return c.PortEndpoint(ctx, container.Port, "")
}
