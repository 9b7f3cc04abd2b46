package kind

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"
	kindexec "sigs.k8s.io/kind/pkg/exec"

	"nodestorm/harness/world/process"
	"nodestorm/sim/history/audit"
	"nodestorm/sim/oneline"
	"nodestorm/sim/strict"
)

// prefix begins the names that kind knows our clusters by: others' are none of ours.
const prefix = "nodestorm-"

// ready is how long a cluster may take to be so: 45 s on an idle machine.
const ready = 5 * time.Minute

// Cluster is one of ours. Its name is what users call it.
type Cluster struct {
	Name string
	// Dir is the folder with its kubeconfig and the audit log of its API server.
	Dir string

	lock *flock.Flock // of a temporary cluster: held as long as we live
}

// Kubeconfig is the file with an administrator's credentials.
func (c Cluster) Kubeconfig() string { return filepath.Join(c.Dir, "kubeconfig") }

// Node is the name of the control plane's node, and of its container.
func (c Cluster) Node() string { return prefix + c.Name + "-control-plane" }

// readyFile is there once the cluster is ready, unless it is temporary.
func (c Cluster) readyFile() string { return filepath.Join(c.Dir, "made") }

// making is locked by who makes the cluster, or has made a temporary one.
func (c Cluster) making() *flock.Flock { return flock.New(filepath.Join(c.Dir, "making")) }

// SharedPath is the folder that the control plane's node and kube-apiserver share with us,
// where Shared is it.
const SharedPath = "/nodestorm"

// EverywherePath is where nodes have Spec.Share.
const EverywherePath = "/shared"

// Shared is for the files of kube-apiserver's that are ours.
func (c Cluster) Shared() string { return filepath.Join(c.Dir, "audit") }

// AuditLog is the file that kube-apiserver writes, by the policy of worlds.
func (c Cluster) AuditLog() string { return filepath.Join(c.Shared(), "audit.log") }

var names = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,28}[a-z0-9])?$`)

// CheckName says whether a cluster can be called so: it becomes part of host names.
func CheckName(name string) error {
	if !names.MatchString(name) {
		return fmt.Errorf("%q is no name for a cluster: up to 30 small letters, digits and hyphens, as in my-cluster", name)
	}
	return nil
}

// folder of all clusters' folders.
func folder() (string, error) {
	state, err := process.State()
	return filepath.Join(state, "clusters"), err
}

// Find is the cluster of that name, which need not be there.
func Find(name string) (Cluster, error) {
	if err := CheckName(name); err != nil {
		return Cluster{}, err
	}
	dir, err := folder()
	return Cluster{Name: name, Dir: filepath.Join(dir, name)}, err
}

// Spec is what a cluster is to be.
type Spec struct {
	Name    string
	Version string // of Kubernetes, and of the node image
	Workers int    // nodes in addition to the control plane's
	// APIServer, ControllerManager and Scheduler are further flags, without dashes.
	APIServer, ControllerManager, Scheduler map[string]string
	// PodSubnet is what nodes' pods get addresses of; empty is kind's default.
	PodSubnet string
	// Share is a folder of this machine that all nodes have as EverywherePath; empty: none.
	Share string
	// Temporary clusters are left behind, see Sweep, when their maker has been killed.
	Temporary bool
}

// Create makes a cluster and returns when its nodes are ready. What cannot be made is
// removed again.
func Create(ctx context.Context, spec Spec) (_ Cluster, err error) {
	name := spec.Name
	c, err := Find(name)
	if err != nil {
		return Cluster{}, err
	}
	there, err := List()
	if err != nil {
		return Cluster{}, err
	}
	if slices.Contains(there, name) {
		return Cluster{}, fmt.Errorf("there is a cluster %q already; %s removes it", name,
			oneline.Command("nodestorm", "cluster", "delete", name))
	}
	if err := os.MkdirAll(c.Shared(), 0o700); err != nil {
		return Cluster{}, err
	}
	lock := c.making()
	if ours, err := lock.TryLock(); err != nil || !ours {
		return Cluster{}, errors.Join(fmt.Errorf("another process is creating a cluster %q", name), err)
	}
	defer func() {
		if err != nil || !spec.Temporary {
			err = errors.Join(err, lock.Unlock())
		}
	}()
	if err := os.WriteFile(filepath.Join(c.Shared(), "policy.yaml"), audit.Policy(), 0o600); err != nil {
		return Cluster{}, err
	}
	provider := provider()
	defer func() {
		if err != nil {
			err = errors.Join(err, c.remove())
		}
	}()
	made := make(chan error, 1)
	go func() {
		made <- provider.Create(prefix+name, cluster.CreateWithV1Alpha4Config(c.config(spec)),
			cluster.CreateWithKubeconfigPath(c.Kubeconfig()), cluster.CreateWithRetain(true))
	}()
	select {
	case err = <-made:
	case <-ctx.Done(): // kind cannot be interrupted, but does not go on without nodes
		err := provider.Delete(prefix+name, c.Kubeconfig())
		<-made //nolint:errcheck // it ends since its nodes are gone, and says so
		return Cluster{}, errors.Join(ctx.Err(), err)
	}
	if err != nil {
		return Cluster{}, fmt.Errorf("making cluster %q: %w", name, explained(err))
	}
	if err := c.connect(ctx, provider); err != nil {
		return Cluster{}, fmt.Errorf("making the network of cluster %q: %w", name, err)
	}
	if spec.Temporary {
		c.lock = lock
		return c, nil
	}
	return c, os.WriteFile(c.readyFile(), nil, 0o600)
}

func provider() *cluster.Provider { return cluster.NewProvider(cluster.ProviderWithDocker()) }

// explained has what the command that failed said last, and the way out if it is known.
func explained(err error) error {
	said := ""
	if failed := kindexec.RunErrorForError(err); failed != nil {
		said = lastLine(withoutHelp(string(failed.Output)))
		err = fmt.Errorf("%s: %w: %s", failed.Command[0], failed.Inner, said)
	}
	if strings.Contains(said, "unable to apply caps") {
		return fmt.Errorf("%w; root lacks a capability here that this Docker asks for: Docker 23 and later ask for what there is", err)
	}
	return err
}

// List are the names of our clusters.
func List() ([]string, error) {
	all, err := provider().List()
	if err != nil {
		return nil, fmt.Errorf("listing clusters: %w", cmp.Or(CheckDocker(context.Background()), explained(err)))
	}
	var ours []string
	for _, name := range all {
		if own, ok := strings.CutPrefix(name, prefix); ok {
			ours = append(ours, own)
		}
	}
	return ours, nil
}

// Delete removes a cluster with its containers and volumes, and its folder.
func Delete(name string) error {
	c, err := Find(name)
	if err != nil {
		return err
	}
	there, err := List()
	if err != nil {
		return fmt.Errorf("cluster %q may be left behind; of a world, nodestorm clean removes it: %w", name, err)
	}
	if !slices.Contains(there, name) {
		return fmt.Errorf("there is no cluster %q; nodestorm cluster list shows those that are", name)
	}
	return c.remove()
}

func (c Cluster) remove() error {
	if err := provider().Delete(prefix+c.Name, c.Kubeconfig()); err != nil {
		return fmt.Errorf("removing cluster %q: %w", c.Name, explained(err))
	}
	return os.RemoveAll(c.Dir)
}

// Sweep removes clusters that are temporary or were never ready, and whose maker has been
// killed, and returns their names. Without such it asks nothing of Docker.
func Sweep(ctx context.Context) (swept []string, err error) {
	dir, err := folder()
	if err != nil {
		return nil, nil // without a home there are no clusters
	}
	entries, _ := os.ReadDir(dir) // none is there
	for _, entry := range entries {
		c, bad := Find(entry.Name())
		if bad != nil {
			continue // not ours
		}
		// mutant: a cluster that is ready is swept
		if _, err := os.Stat(c.readyFile()); err == nil {
			continue
		}
		lock := c.making()
		if free, e := lock.TryLock(); e != nil || !free {
			err = errors.Join(err, e)
			continue
		}
		e := CheckDocker(ctx)
		if e == nil {
			e = c.remove()
		}
		_ = lock.Unlock() // with the folder it is gone
		if e != nil {
			err = errors.Join(err, fmt.Errorf("cluster %q was left behind: %w", c.Name, e))
			continue
		}
		swept = append(swept, c.Name)
	}
	return swept, err
}

// Load gives an image, as docker save writes it, to all nodes.
func (c Cluster) Load(archive string) error {
	all, err := provider().ListInternalNodes(prefix + c.Name)
	if err != nil {
		return err
	}
	for _, node := range all {
		f, err := strict.Open(context.Background(), archive)
		if err != nil {
			return err
		}
		err = nodeutils.LoadImageArchive(node, f)
		f.Close()
		if err != nil {
			return fmt.Errorf("loading %s on node %q: %w", filepath.Base(archive), node, err)
		}
	}
	return nil
}

// initPatch: there is no CoreDNS in the image.
const initPatch = `kind: InitConfiguration
skipPhases: [preflight, addon/kube-proxy, addon/coredns]
`

// kubeletPatch lets kubelets start on machines with cgroups of v1, which those of v1.35 and later
// refuse left to themselves.
const kubeletPatch = `kind: KubeletConfiguration
failCgroupV1: false
`

// clusterPatch has kube-apiserver write the audit log into the folder that the node
// shares with us.
const clusterPatch = `kind: ClusterConfiguration
etcd:
  local:
    imageTag: "` + etcdVersion + `"
apiServer:
  extraArgs: %s
  extraVolumes:
  - {name: nodestorm, hostPath: ` + SharedPath + `, mountPath: ` + SharedPath + `, pathType: Directory}
controllerManager:
  extraArgs: %s
scheduler:
  extraArgs: %s
`

// flags is a map as JSON, which is YAML.
func flags(m map[string]string) string {
	b, _ := json.Marshal(m) // strings only
	if m == nil {
		return "{}"
	}
	return string(b)
}

func (c Cluster) config(spec Spec) *v1alpha4.Cluster {
	apiServer := map[string]string{
		"audit-policy-file": SharedPath + "/policy.yaml",
		"audit-log-path":    SharedPath + "/audit.log",
		"audit-log-maxsize": "100000", // not rotated: then its reader would lose lines
	}
	maps.Copy(apiServer, spec.APIServer)

	controlPlane := v1alpha4.Node{
		Role:        v1alpha4.ControlPlaneRole,
		Image:       Image(spec.Version),
		ExtraMounts: []v1alpha4.Mount{{HostPath: c.Shared(), ContainerPath: SharedPath}},
	}
	config := &v1alpha4.Cluster{
		Nodes: []v1alpha4.Node{controlPlane},
		KubeadmConfigPatches: []string{initPatch, kubeletPatch, fmt.Sprintf(clusterPatch, flags(apiServer), flags(spec.ControllerManager),
			flags(spec.Scheduler))},
		Networking: v1alpha4.Networking{
			IPFamily: v1alpha4.IPv4Family, APIServerAddress: "127.0.0.1",
			PodSubnet: spec.PodSubnet, DisableDefaultCNI: true, KubeProxyMode: "none",
		},
	}
	for range spec.Workers {
		config.Nodes = append(config.Nodes, v1alpha4.Node{Role: v1alpha4.WorkerRole, Image: Image(spec.Version)})
	}
	if spec.Share != "" {
		for i := range config.Nodes {
			config.Nodes[i].ExtraMounts = append(config.Nodes[i].ExtraMounts, v1alpha4.Mount{HostPath: spec.Share, ContainerPath: EverywherePath})
		}
	}
	return config
}
