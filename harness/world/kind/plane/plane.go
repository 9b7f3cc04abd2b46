// Package plane makes a cluster of kind the control plane of a world: real etcd,
// kube-apiserver, kube-controller-manager and kube-scheduler in containers of
// containerd, in real time. Nodes, targets and faults stay outside of it, the world's.
package plane

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"nodestorm/harness/world"
	"nodestorm/harness/world/kind"
	"nodestorm/harness/world/kind/containers"
	"nodestorm/harness/world/tunnel"
	"nodestorm/sim/pki"
)

// plane is a cluster that is there for one world.
type plane struct {
	cluster kind.Cluster
	version string
	admin   *rest.Config
	ca      *pki.Authority
	tunnel  *tunnel.Tunnel
}

// Start is the way to make a world's clusters of kind, with the node image of a version
// of Kubernetes. Without Docker or the image it says so before anything starts.
func Start(version string) world.StartControlPlane {
	return func(ctx context.Context, at world.Site) (world.ControlPlane, error) {
		if len(at.Wishes.Breakable) > 0 {
			return nil, fmt.Errorf("the way of %s to kube-apiserver is inside of kind's container, where nothing can break it: "+
				"it needs a simulated cluster", strings.Join(at.Wishes.Breakable, " and "))
		}
		if err := kind.CheckDocker(ctx); err != nil {
			return nil, err
		}
		if err := kind.CheckImage(ctx, version); err != nil {
			return nil, err
		}
		spec := clusterSpec(at, version)
		cluster, err := kind.Find(spec.Name)
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(cluster.Shared(), 0o700); err != nil {
			return nil, err
		}
		p := &plane{version: version}
		if p.tunnel, err = tunnel.Listen(filepath.Join(cluster.Shared(), egressSocket)); err != nil {
			return nil, err
		}
		at.World.OnStop(p.tunnel.Close)
		if err := os.WriteFile(filepath.Join(cluster.Shared(), egressConfig), tunnel.Config(kind.SharedPath+"/"+egressSocket, tunnel.ToNodes,
			tunnel.ToWebhooks), 0o600); err != nil {
			return nil, err
		}
		calls, err := listen(cluster, at)
		if err != nil {
			return nil, fmt.Errorf("making a pipe for the audit log: %w", err)
		}
		if p.cluster, err = kind.Create(ctx, spec); err != nil {
			return nil, err
		}
		at.World.OnStop(func() error { return kind.Delete(spec.Name) })
		if err := p.connect(ctx); err != nil {
			return nil, fmt.Errorf("reaching cluster %q: %w", spec.Name, err)
		}
		watch(p.cluster, at)
		calls.Store(true)
		return p, nil
	}
}

// What kube-apiserver has of ours, in the folder that it shares with us.
const (
	egressSocket = "egress.sock"
	egressConfig = "egress.yaml"
)

// clusterSpec is a cluster as the scenario has it.
func clusterSpec(at world.Site, version string) kind.Spec {
	spec := kind.Spec{
		Name:    strings.Trim("world-"+at.Name, "-") + fmt.Sprintf("-%d", os.Getpid()),
		Version: version, PodSubnet: at.Wishes.ClusterCIDR, Temporary: true,
		APIServer: map[string]string{
			// As in other worlds: targets' packages use the policy.
			"feature-gates":               "MutatingAdmissionPolicy=true",
			"runtime-config":              strings.Join(world.Served(append([]string{world.Policies}, at.Wishes.Serves...)...), ","),
			"egress-selector-config-file": kind.SharedPath + "/" + egressConfig,
		},
		// There is one of each, and nothing starts it again when it has lost its lease.
		ControllerManager: map[string]string{"leader-elect": "false"},
		Scheduler:         map[string]string{"leader-elect": "false"},
	}
	for name, values := range at.Wishes.APIServer {
		spec.APIServer[name] = strings.Join(values, ",")
	}
	for _, flag := range at.Wishes.ControllerManager {
		name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		spec.ControllerManager[name] = value
	}
	return spec
}

// listen puts a pipe where kube-apiserver writes its audit log: no call is older than
// its line, as in other worlds. Calls count from when they are said to.
func listen(cluster kind.Cluster, at world.Site) (count *atomic.Bool, err error) {
	if err := syscall.Mkfifo(cluster.AuditLog(), 0o600); err != nil {
		return nil, err
	}
	// Open for writing, too: then it does not end while kube-apiserver is not there.
	pipe, err := os.OpenFile(cluster.AuditLog(), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	count = new(atomic.Bool)
	read := make(chan error, 1)
	go func() {
		lines := bufio.NewReader(pipe)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				read <- err
				return
			}
			if count.Load() {
				_, _ = at.Calls.Write(line) // it notes what it cannot read
			}
		}
	}()
	at.World.OnStop(func() error {
		err := pipe.Close()
		if e := <-read; !errors.Is(e, os.ErrClosed) {
			err = errors.Join(err, e)
		}
		return err
	})
	return count, nil
}

// connect gets credentials, and leaves the cluster without a Node: all that it has are the
// world's.
func (p *plane) connect(ctx context.Context) error {
	var err error
	if p.admin, err = clientcmd.BuildConfigFromFlags("", p.cluster.Kubeconfig()); err != nil {
		return err
	}
	p.admin.QPS = -1 // no limit
	cert, err := p.exec(ctx, "cat", "/etc/kubernetes/pki/ca.crt")
	if err != nil {
		return err
	}
	key, err := p.exec(ctx, "cat", "/etc/kubernetes/pki/ca.key")
	if err != nil {
		return err
	}
	if p.ca, err = pki.ReadAuthority(pki.Pair{Cert: cert, Key: key}, time.Now()); err != nil {
		return err
	}
	return p.stopKubelet(ctx)
}

// stopKubelet ends the kubelet of the control plane's node when it has started that, and removes
// its Node and pods from the API. In containers of containerd they run on.
func (p *plane) stopKubelet(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(p.admin)
	if err != nil {
		return err
	}
	if _, err := p.exec(ctx, "systemctl", "stop", "kubelet"); err != nil {
		return err
	}
	if err := client.CoreV1().Nodes().Delete(ctx, p.cluster.Node(), metav1.DeleteOptions{}); err != nil {
		return err
	}
	now := int64(0)
	return client.CoreV1().Pods(metav1.NamespaceSystem).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now},
		metav1.ListOptions{FieldSelector: "spec.nodeName=" + p.cluster.Node()})
}

// exec is what a command says on the control plane's node.
func (p *plane) exec(ctx context.Context, command ...string) ([]byte, error) {
	b, err := exec.CommandContext(ctx, "docker", append([]string{"exec", p.cluster.Node()}, command...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("%s on node %q: %w", strings.Join(command, " "), p.cluster.Node(), err)
	}
	return b, nil
}

// watch ends the world when the node of the control plane ends.
func watch(cluster kind.Cluster, at world.Site) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := exec.CommandContext(ctx, "docker", "wait", cluster.Node()).Run()
		switch down := kind.CheckDocker(ctx); {
		case ctx.Err() != nil:
		case down != nil:
			at.World.Died(cluster.Node(), down)
		default:
			at.World.Died(cluster.Node(), errors.Join(fmt.Errorf("the container %s, which is the world's control plane, has ended",
				cluster.Node()), err))
		}
	}()
	at.World.OnStop(func() error {
		cancel()
		<-ended
		return nil
	})
}

// Admin has kind's credentials.
func (p *plane) Admin() *rest.Config { return rest.CopyConfig(p.admin) }

// User has a certificate of the cluster's CA, as kubeadm's administrators do.
func (p *plane) User(name string, groups ...string) (*rest.Config, error) {
	pair, err := p.ca.Issue(name, groups)
	if err != nil {
		return nil, err
	}
	config := rest.AnonymousClientConfig(p.admin)
	config.CertData, config.KeyData = pair.Cert, pair.Key
	return config, nil
}

// ClientCA is kubeadm's.
func (p *plane) ClientCA() ([]byte, error) { return p.ca.Cert, nil }

// Reach leads out of the container, whose loopback is its own.
func (p *plane) Reach(port int) (forget func()) { return p.tunnel.Open(port) }

// Machines makes machines for the instances of a world that Start's way was taken for.
func Machines(ctx context.Context, w *world.World) (*containers.Machines, error) {
	p, ok := w.Plane().(*plane)
	if !ok {
		return nil, errors.New("machines that are containers need a cluster of kind")
	}
	return containers.New(ctx, w, p.cluster, p.version, p.tunnel.Lead)
}
