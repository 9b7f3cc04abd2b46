// Package hcloud runs nodestorm's fake Hetzner Cloud in a container, for tests of whatever
// talks to the Hetzner Cloud API. A test has it in three lines, and a client in one more:
//
//	cloud, err := hcloud.Run(ctx, hcloud.Image)
//	testcontainers.CleanupContainer(t, cloud)
//	endpoint, err := cloud.URL(ctx)
//
// The image is made and loaded with "make image" and "docker load --input bin/image.tar",
// or is pulled from where it was pushed.
package hcloud

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"

	"nodestorm/fakecloud/testcontainers/internal/container"
)

// Image is what "nodestorm target image" calls the image.
const Image = "nodestorm/nodestorm:local"

const (
	tokenVariable = "HCLOUD_TOKEN"
	prefix        = "/v1"
)

// Container is a Hetzner Cloud project of one's own. It begins empty, and ends with the
// container.
type Container struct {
	testcontainers.Container
	token string
}

// Run starts a cloud and returns when it answers. Like all of its kind it returns the
// container with an error, too, so that it can be cleaned up.
func Run(ctx context.Context, img string, opts ...testcontainers.ContainerCustomizer) (*Container, error) {
	c := &Container{token: rand.Text()}
	all := append([]testcontainers.ContainerCustomizer{testcontainers.WithEnv(map[string]string{tokenVariable: c.token})}, opts...)
	all = append(all, testcontainers.CustomizeRequestOption(func(req *testcontainers.GenericContainerRequest) error {
		c.token = req.Env[tokenVariable] // as WithToken has it
		return testcontainers.WithWaitStrategy(wait.ForHTTP(prefix + "/locations").WithPort(container.Port).
			WithHeaders(map[string]string{"Authorization": "Bearer " + c.token})).Customize(req)
	}))
	started, err := container.Run(ctx, img, []string{"hcloud"}, all...)
	if started == nil {
		return nil, fmt.Errorf("running a fake Hetzner Cloud: %w", err)
	}
	c.Container = started
	if err != nil {
		return c, fmt.Errorf("running a fake Hetzner Cloud: %w", err)
	}
	return c, nil
}

// WithToken makes the token another than a random one.
func WithToken(token string) testcontainers.CustomizeRequestOption {
	return testcontainers.WithEnv(map[string]string{tokenVariable: token})
}

// WithFaults has the cloud fail as the faults say, in YAML: those of nodestorm cloud
// hcloud --faults.
func WithFaults(yaml string) testcontainers.CustomizeRequestOption {
	return container.WithFile("--faults", "faults.yaml", yaml)
}

// WithRateLimit has the cloud serve so many calls an hour, from 1, as the real one does
// 3600.
func WithRateLimit(calls int) testcontainers.CustomizeRequestOption {
	return testcontainers.WithCmdArgs("--rate-limit", strconv.Itoa(calls))
}

// URL is the API's endpoint, for HCLOUD_ENDPOINT or a client's WithEndpoint.
func (c *Container) URL(ctx context.Context) (string, error) {
	endpoint, err := c.PortEndpoint(ctx, container.Port, "http")
	return endpoint + prefix, err
}

// Token is what clients have to show, for HCLOUD_TOKEN or a client's WithToken.
func (c *Container) Token() string { return c.token }
