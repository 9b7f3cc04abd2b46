// Package container runs a fake cloud of nodestorm's image: what its modules have in common.
package container

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/testcontainers/testcontainers-go"
)

// Port is where clouds listen, in the container.
const Port = "8080/tcp"

// folder is for files in the container. It is not the one that nodestorm writes to.
const folder = "/etc/nodestorm/"

// Run starts "nodestorm cloud" of the image with the arguments, without rights, and with
// its port on loopback only if Docker is on this machine. What was started before an error
// is returned, too.
func Run(ctx context.Context, img string, args []string, opts ...testcontainers.ContainerCustomizer) (*testcontainers.DockerContainer,
	error) {
	local, err := local(ctx)
	if err != nil {
		return nil, err
	}
	all := []testcontainers.ContainerCustomizer{
		testcontainers.WithExposedPorts(Port),
		testcontainers.WithCmd(append([]string{"cloud"}, append(args, "--everywhere", "--listen", ":"+strings.TrimSuffix(Port, "/tcp"))...)...),
		testcontainers.WithHostConfigModifier(func(host *container.HostConfig) {
			host.CapDrop, host.SecurityOpt = []string{"ALL"}, []string{"no-new-privileges"}
			if local {
				host.PortBindings = network.PortMap{network.MustParsePort(Port): {{HostIP: netip.MustParseAddr("127.0.0.1")}}}
			}
		}),
	}
	started, err := testcontainers.Run(ctx, img, append(all, opts...)...)
	if err != nil && started != nil {
		err = fmt.Errorf("%w; it said last: %s", err, lastWords(ctx, started))
	}
	return started, err
}

// lastWords is the last line that a container has written.
func lastWords(ctx context.Context, c testcontainers.Container) string {
	logs, err := c.Logs(ctx)
	if err != nil {
		return err.Error()
	}
	defer logs.Close()
	text, err := io.ReadAll(io.LimitReader(logs, 1<<20))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if err != nil {
		return err.Error()
	}
	return lines[len(lines)-1]
}

// local reports whether containers' ports are to be had on loopback.
func local(ctx context.Context) (bool, error) {
	docker, err := testcontainers.NewDockerProvider()
	if err != nil {
		return false, err
	}
	defer docker.Close()
	host, err := docker.DaemonHost(ctx)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback(), err
}

// WithFile gives the cloud a file, which the flag names.
func WithFile(flag, name, text string) testcontainers.CustomizeRequestOption {
	return func(req *testcontainers.GenericContainerRequest) error {
		if strings.TrimSpace(text) == "" {
			return fmt.Errorf("%s: the file is empty", name)
		}
		path := folder + name
		req.Files = append(req.Files, testcontainers.ContainerFile{Reader: strings.NewReader(text), ContainerFilePath: path, FileMode: 0o444})
		req.Cmd = append(req.Cmd, flag, path)
		return nil
	}
}
