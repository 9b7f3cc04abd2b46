package world

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Cluster is a control plane in a world, with objects and users of its own. The first of
// a world also has simulated nodes and a scheduler; further ones have neither, so no
// pod runs there.
type Cluster struct {
	world *World
	name  string // empty for the first
	plane ControlPlane
}

// StartCluster starts one more cluster and returns when it is ready. name begins the
// names of its programs and logs, and is what events of its API server's calls have as
// their detail "cluster". It ends with the world. See [World.StartComponent] for how time
// passes until it returns.
func (w *World) StartCluster(ctx context.Context, name string) (*Cluster, error) {
	if !w.jumps() {
		w.driver.Hold()
		defer w.driver.Release()
	}
	dir := filepath.Join(w.tmp, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of cluster %q: %w", name, err)
	}
	c, err := w.startCluster(ctx, name, dir, ClusterOptions{})
	if err != nil {
		return nil, fmt.Errorf("cluster %q: %w", name, err)
	}
	return c, nil
}

func (w *World) startCluster(ctx context.Context, name, dir string, wishes ClusterOptions) (*Cluster, error) {
	c := &Cluster{world: w, name: name}
	start := w.cfg.Start
	if start == nil {
		start = startLocal
	}
	var err error
	c.plane, err = start(ctx, Site{World: w, Name: name, Dir: dir, Calls: c.recordCalls(), Wishes: wishes})
	return c, err
}

// Admin is the configuration of a client with all rights.
func (c *Cluster) Admin() *rest.Config { return c.patient(c.plane.Admin()) }

// User makes an identity of the cluster with a client certificate, for a client of ours.
func (c *Cluster) User(name string, groups ...string) (*rest.Config, error) {
	user, err := c.identity(name, groups...)
	if err != nil {
		return nil, err
	}
	return c.patient(user), nil
}

// identity is for programs, whose calls are passed on as they are.
func (c *Cluster) identity(name string, groups ...string) (*rest.Config, error) {
	user, err := c.plane.User(name, groups...)
	if err != nil {
		return nil, fmt.Errorf("making user %q: %w", name, err)
	}
	return user, nil
}

// patient is for clients of ours, which wait in virtual time. Their calls are nodestorm's, whatever its program is called.
func (c *Cluster) patient(user *rest.Config) *rest.Config {
	user = rest.CopyConfig(user)
	user.UserAgent = "nodestorm"
	user.Wrap(func(next http.RoundTripper) http.RoundTripper { return retries{next, c.world.Clock()} })
	return user
}

// Plane is the control plane, for who knows of what kind it is.
func (c *Cluster) Plane() ControlPlane { return c.plane }

// Reach lets kube-apiserver reach what serves on a port of loopback until forget is called:
// as a webhook, and in a world with ClusterOptions.Kubelets under any address of a node.
func (c *Cluster) Reach(port int) (forget func()) { return c.plane.Reach(port) }

// Kubeconfig writes a kubeconfig file for a new identity, readable by us only,
// and returns its path, which ends with the world.
func (c *Cluster) Kubeconfig(name string, groups ...string) (string, error) {
	user, err := c.identity(name, groups...)
	if err != nil {
		return "", err
	}
	b, err := clientcmd.Write(kubeconfig(user))
	if err != nil {
		return "", fmt.Errorf("making the kubeconfig of %q: %w", name, err)
	}
	return c.world.writeKubeconfig(b)
}

// kubeconfig has a client's configuration, which is of certificates in memory.
func kubeconfig(c *rest.Config) clientcmdapi.Config {
	const name = "world"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: c.Host, CertificateAuthorityData: c.CAData}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: c.CertData, ClientKeyData: c.KeyData}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return *config
}

func (w *World) writeKubeconfig(b []byte) (string, error) {
	f, err := os.CreateTemp(w.tmp, "kubeconfig-")
	if err != nil {
		return "", err
	}
	_, err = f.Write(b)
	return f.Name(), errors.Join(err, f.Close())
}
