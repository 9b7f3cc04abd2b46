package world

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"nodestorm/harness/world/process"
)

// etcd's addresses, for clients and for peers, of which there are none: sockets in the
// folder that etcd and kube-apiserver run in, which only we can enter. They are named like
// hosts with ports since etcd wants that; a whole path may be longer than a socket's can be.
const (
	etcdClients = "etcd:2379"
	etcdPeers   = "etcd:2380"
	etcdURL     = "unix://" + etcdClients
)

// etcd says how the cluster's etcd starts.
func (c *local) etcd() (component, error) {
	w := c.World
	data := filepath.Join(c.Dir, "etcd")
	if err := os.Mkdir(data, 0o700); err != nil {
		return component{}, err
	}
	folder, err := os.Open(c.Dir)
	if err != nil {
		return component{}, err
	}
	w.OnStop(folder.Close)
	c.dialStore = func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), etcdClients))
	}
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return c.dialStore(ctx) },
		DisableKeepAlives: true,
	}}
	path, launch := w.controlPlaneProgram("etcd")
	return component{Spec: process.Spec{
		Name: c.program("etcd"),
		Path: path, Launch: launch,
		Dir: c.Dir,
		Env: w.isolatedEnvironment([]string{fewerCollections, fewerProcessors}),
		Args: []string{
			"--data-dir=" + data,
			// mutant: etcd listens on a port
			"--listen-client-urls=" + etcdURL, "--advertise-client-urls=" + etcdURL,
			"--listen-peer-urls=unix://" + etcdPeers, "--initial-advertise-peer-urls=unix://" + etcdPeers,
			"--initial-cluster=default=unix://" + etcdPeers,
			"--enable-grpc-gateway=false",
			// One member waits for up to one election timeout before it serves: half a
			// second in place of one. Data goes with the world, so nothing is synced.
			"--heartbeat-interval=100", "--election-timeout=500",
			"--unsafe-no-fsync",
		},
		Ready: healthy(client, "http://etcd/health"),
	}}, nil
}
