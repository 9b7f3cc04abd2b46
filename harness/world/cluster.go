package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Cluster is an API server with objects and users of its own, etcd, and a
// kube-controller-manager. The first of a world has simulated nodes and a scheduler
// besides; further ones have neither, so no pod runs there.
type Cluster struct {
	world *World
	name  string // begins its programs' names; empty for the first
	dir   string // for what ends with the world
	plane *envtest.ControlPlane
	ca    *authority
	admin *rest.Config
}

// StartCluster starts one more cluster and returns when it is ready. name begins the
// names of its programs and logs, and is what records of its API server's calls have as
// their detail "cluster". It ends with the world. Virtual time passes as real time does
// meanwhile.
func (w *World) StartCluster(ctx context.Context, name string) (*Cluster, error) {
	w.driver.Hold()
	defer w.driver.Release()
	c := &Cluster{world: w, name: name, dir: filepath.Join(w.tmp, name)}
	if err := os.Mkdir(c.dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of cluster %q: %w", name, err)
	}
	if err := c.startControlPlane(ctx, nil); err != nil {
		return nil, fmt.Errorf("starting etcd and kube-apiserver of cluster %q: %w", name, err)
	}
	if err := c.startController(ctx, controllerManager, c.managerFlags()); err != nil {
		return nil, fmt.Errorf("starting %s of cluster %q: %w", controllerManager, name, err)
	}
	return c, nil
}

// program is what a program of the cluster is called in the world.
func (c *Cluster) program(name string) string {
	if c.name == "" {
		return name
	}
	return c.name + "-" + name
}

// Admin is the configuration of a client with all rights.
func (c *Cluster) Admin() *rest.Config { return rest.CopyConfig(c.admin) }

// User makes an identity of the cluster with a client certificate of the
// world's CA.
func (c *Cluster) User(name string, groups ...string) (*rest.Config, error) {
	user, err := c.plane.AddUser(envtest.User{Name: name, Groups: groups}, nil)
	if err != nil {
		return nil, fmt.Errorf("making user %q: %w", name, err)
	}
	return user.Config(), nil
}

// Kubeconfig writes a kubeconfig file for a new identity, readable by us only,
// and returns its path, which ends with the world.
func (c *Cluster) Kubeconfig(name string, groups ...string) (string, error) {
	user, err := c.plane.AddUser(envtest.User{Name: name, Groups: groups}, nil)
	if err != nil {
		return "", fmt.Errorf("making user %q: %w", name, err)
	}
	b, err := user.KubeConfig()
	if err != nil {
		return "", fmt.Errorf("making the kubeconfig of %q: %w", name, err)
	}
	return c.world.writeKubeconfig(b)
}

func (w *World) writeKubeconfig(b []byte) (string, error) {
	f, err := os.CreateTemp(w.tmp, "kubeconfig-")
	if err != nil {
		return "", err
	}
	_, err = f.Write(b)
	return f.Name(), errors.Join(err, f.Close())
}
