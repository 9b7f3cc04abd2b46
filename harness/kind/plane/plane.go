// Package plane makes a cluster of kind the control plane of a world: real etcd,
// kube-apiserver, kube-controller-manager and kube-scheduler in pods of a real kubelet,
// in real time. Simulated nodes, targets and faults stay outside of it, the world's.
package plane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"nodestorm/harness/kind"
	"nodestorm/harness/world"
	"nodestorm/sim/pki"
)

// plane is a cluster that is there for one world.
type plane struct {
	cluster kind.Cluster
	admin   *rest.Config
	ca      *pki.Authority
}

// Start is the way to make a world's clusters of kind, with the node image of a version
// of Kubernetes. Without Docker or the image it says so before anything starts.
func Start(version string) world.StartControlPlane {
	return func(ctx context.Context, at world.Site) (world.ControlPlane, error) {
		if err := kind.CheckDocker(ctx); err != nil {
			return nil, err
		}
		if err := kind.CheckImage(ctx, version); err != nil {
			return nil, err
		}
		spec, err := wanted(at, version)
		if err != nil {
			return nil, err
		}
		cluster, err := kind.Find(spec.Name)
		if err != nil {
			return nil, err
		}
		if err := listen(cluster, at); err != nil {
			return nil, fmt.Errorf("making a pipe for the audit log: %w", err)
		}
		if cluster, err = kind.Create(ctx, spec); err != nil {
			return nil, err
		}
		at.World.OnStop(func() error { return kind.Delete(spec.Name) })
		p := &plane{cluster: cluster}
		if err := p.connect(ctx); err != nil {
			return nil, fmt.Errorf("reaching cluster %q: %w", spec.Name, err)
		}
		watch(cluster, at)
		return p, nil
	}
}

// wanted is a cluster as the scenario has it, or an error that names what kind cannot do.
func wanted(at world.Site, version string) (kind.Spec, error) {
	if at.Wishes.Kubelets {
		return kind.Spec{}, errors.New("real kubelets on loopback cannot join a cluster of kind; such a feature needs a simulated cluster")
	}
	spec := kind.Spec{
		Name: strings.Trim("world-"+at.Name, "-") + fmt.Sprintf("-%d", os.Getpid()), Version: version, PodSubnet: at.Wishes.ClusterCIDR, Temporary: true,
		APIServer: map[string]string{
			// As in other worlds: targets' packages use the policy.
			"feature-gates":  "MutatingAdmissionPolicy=true",
			"runtime-config": "admissionregistration.k8s.io/v1beta1=true",
		},
		ControllerManager: map[string]string{},
	}
	for name, values := range at.Wishes.APIServer {
		spec.APIServer[name] = strings.Join(values, ",")
	}
	for _, flag := range at.Wishes.ControllerManager {
		name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		spec.ControllerManager[name] = value
	}
	return spec, nil
}

// listen puts a pipe where kube-apiserver writes its audit log: no call is older than
// its line, as in other worlds.
func listen(cluster kind.Cluster, at world.Site) error {
	if err := os.MkdirAll(filepath.Dir(cluster.AuditLog()), 0o700); err != nil {
		return err
	}
	if err := syscall.Mkfifo(cluster.AuditLog(), 0o600); err != nil {
		return err
	}
	// Open for writing, too: then it does not end while kube-apiserver is not there.
	pipe, err := os.OpenFile(cluster.AuditLog(), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	read := make(chan error, 1)
	go func() {
		_, err := io.Copy(at.Calls, pipe)
		read <- err
	}()
	at.World.OnStop(func() error {
		err := pipe.Close()
		if e := <-read; !errors.Is(e, os.ErrClosed) {
			err = errors.Join(err, e)
		}
		return err
	})
	return nil
}

// connect gets credentials, and keeps pods off the node of the control plane: kind lets
// them on it where it is the only one, but here nodes are the world's.
func (p *plane) connect(ctx context.Context) error {
	var err error
	if p.admin, err = clientcmd.BuildConfigFromFlags("", p.cluster.Kubeconfig()); err != nil {
		return err
	}
	p.admin.QPS = -1 // no limit
	cert, err := p.read(ctx, "/etc/kubernetes/pki/ca.crt")
	if err != nil {
		return err
	}
	key, err := p.read(ctx, "/etc/kubernetes/pki/ca.key")
	if err != nil {
		return err
	}
	if p.ca, err = pki.ReadAuthority(pki.Pair{Cert: cert, Key: key}, time.Now()); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(p.admin)
	if err != nil {
		return err
	}
	patch, err := json.Marshal(corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{{
		Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule,
	}}}})
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Nodes().Patch(ctx, p.cluster.Node(), types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	return err
}

// read is a file of the control plane's node.
func (p *plane) read(ctx context.Context, path string) ([]byte, error) {
	b, err := exec.CommandContext(ctx, "docker", "exec", p.cluster.Node(), "cat", path).Output()
	if err != nil {
		return nil, fmt.Errorf("reading %s of node %q: %w", path, p.cluster.Node(), err)
	}
	return b, nil
}

// watch tells the world when the node of the control plane ends.
func watch(cluster kind.Cluster, at world.Site) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := exec.CommandContext(ctx, "docker", "wait", cluster.Node()).Run()
		if ctx.Err() == nil {
			at.World.Died(cluster.Node(), errors.Join(fmt.Errorf("the container %s, which is the world's control plane, has ended", cluster.Node()), err))
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
