package kind

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// The labels by which kind knows the containers of a cluster: it removes what has them with
// the cluster, and so does Sweep.
const (
	clusterLabel = "io.x-k8s.kind.cluster"
	roleLabel    = "io.x-k8s.kind.role"
)

const (
	// MetadataSocket is in Machine.Dir: what answers there is the cloud's metadata service,
	// http://169.254.169.254 to the machine.
	MetadataSocket = "metadata.sock"
	// BootedPath is what a machine posts to its metadata service when its user data has been
	// carried out: nothing if all went well, or what was said last.
	BootedPath = "/nodestorm/booted"
)

// Machine is a machine of a cloud: a container in the network of a cluster, of which it
// knows nothing. cloud-init carries out its user data, which may make a node of it.
type Machine struct {
	// Name is the host's, and unique among the machines of the cluster.
	Name string
	// Dir is a folder of ours for the machine alone, with MetadataSocket in it.
	Dir string
	// ID is the instance's: with another one, cloud-init begins anew.
	ID       string
	UserData string
	// Endpoint is what user data calls the API server by, "10.0.0.2:6443"; empty if nothing.
	Endpoint string
	// Addresses are those that the cloud says the machine has, in addition to the container's.
	Addresses []netip.Addr
	// Cores and Memory, in bytes, are what programs of the machine find. Zero: what is there.
	Cores  int
	Memory uint64
	// CutOff is a machine that has no network when it boots.
	CutOff bool
}

// Container is the name of a machine's container, which is none of a node's of kind.
func (c Cluster) Container(machine string) string { return prefix + c.Name + "-machine-" + machine }

// Place is where machines of a cluster are, and what leads to its API server there.
type Place struct {
	network, controlPlane, service string
}

// Place finds it.
func (c Cluster) Place(ctx context.Context, client kubernetes.Interface) (Place, error) {
	found, err := docker(ctx, "inspect", "--format", `{{range $name, $at := .NetworkSettings.Networks}}{{$name}} {{$at.IPAddress}}{{end}}`,
		c.Node())
	if err != nil {
		return Place{}, err
	}
	network, address, _ := strings.Cut(found, " ")
	service, err := client.CoreV1().Services(metav1.NamespaceDefault).Get(ctx, "kubernetes", metav1.GetOptions{})
	if err != nil {
		return Place{}, err
	}
	return Place{network: network, controlPlane: net.JoinHostPort(address, "6443"), service: service.Spec.ClusterIP}, nil
}

// Boot makes a machine, which is gone with the cluster at the latest, and returns when it
// has power.
func (c Cluster) Boot(ctx context.Context, at Place, version string, m Machine) error {
	if err := m.write(at); err != nil {
		return fmt.Errorf("machine %q: %w", m.Name, err)
	}
	// As kind runs nodes (pkg/cluster/internal/providers/docker/provision.go, v0.33.0), but for
	// the restart policy: whether a machine has power is its cloud's business.
	args := []string{
		"run", "--detach", "--tty", "--name", c.Container(m.Name), "--hostname", m.Name,
		"--label", clusterLabel + "=" + prefix + c.Name, "--label", roleLabel + "=worker", "--label", label + "=machine",
		"--net", at.network, "--restart", "no", "--init=false", "--cgroupns=private",
		"--privileged", "--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined",
		"--tmpfs", "/tmp", "--tmpfs", "/run", "--volume", "/var", "--volume", "/lib/modules:/lib/modules:ro",
		"--volume", m.Dir + ":" + SharedPath, "--volume", m.seed() + ":/var/lib/cloud/seed/nocloud:ro",
	}
	if config := kernelConfig(); config != "" { // kubeadm's preflight checks read it
		args = append(args, "--volume", config+":"+config+":ro")
	}
	_, err := dockerWithin(ctx, slow, append(args, Image(version))...)
	return err
}

// kernelConfig is where distributions have it; empty if it is not there.
func kernelConfig() string {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return ""
	}
	path := "/boot/config-" + unix.ByteSliceToString(name.Release[:])
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

func (m Machine) seed() string { return filepath.Join(m.Dir, "seed") }

// write makes the files that a machine boots with.
func (m Machine) write(at Place) error {
	var host, port string
	if m.Endpoint != "" {
		endpoint, err := netip.ParseAddrPort(m.Endpoint)
		if err != nil {
			return fmt.Errorf("its user data calls the API server %.80q: want an IP address and a port", m.Endpoint)
		}
		host, port = endpoint.Addr().String(), fmt.Sprint(endpoint.Port())
	}
	var addresses []string
	for _, a := range m.Addresses {
		addresses = append(addresses, a.String())
	}
	files := map[string]string{
		"seed/user-data": m.UserData,
		"seed/meta-data": fmt.Sprintf("{instance-id: %q, local-hostname: %q}\n", m.ID, m.Name),
		"machine": fmt.Sprintf("ENDPOINT_ADDRESS='%s'\nENDPOINT_PORT='%s'\nCONTROL_PLANE='%s'\nSERVICE='%s'\nADDRESSES='%s'\nCUT_OFF='%s'\n",
			host, port, at.controlPlane, at.service, strings.Join(addresses, " "), map[bool]string{true: "yes"}[m.CutOff]),
	}
	if m.Memory > 0 {
		kib := m.Memory >> 10
		files["meminfo"] = fmt.Sprintf("MemTotal: %d kB\nMemFree: %d kB\nMemAvailable: %d kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n", kib, kib, kib)
	}
	// Cores that this machine lacks are its own once more, of a further NUMA node: kubelets
	// count them all, and give their pods those that there are.
	for n := range m.Cores {
		node, cpu := n/runtime.NumCPU(), n%runtime.NumCPU()
		core := fmt.Sprintf("node/node%d/cpu%d/topology/", node, cpu)
		files[core+"core_id"], files[core+"physical_package_id"] = fmt.Sprintln(cpu), fmt.Sprintln(node)
	}
	for name, text := range files {
		path := filepath.Join(m.Dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	return nil
}

// PowerOff is as if the plug had been pulled. The disk stays.
func (c Cluster) PowerOff(ctx context.Context, machine string) error {
	_, err := dockerWithin(ctx, slow, "kill", c.Container(machine))
	return err
}

// PowerOn boots a machine again.
func (c Cluster) PowerOn(ctx context.Context, machine string) error {
	_, err := dockerWithin(ctx, slow, "start", c.Container(machine))
	return err
}

// Discard removes a machine with its disk, whether it has power or not.
func (c Cluster) Discard(ctx context.Context, machine string) error {
	_, err := dockerWithin(ctx, slow, "rm", "--force", "--volumes", c.Container(machine))
	return err
}

// RunOn runs a command on a machine that has power, and returns what it says.
func (c Cluster) RunOn(ctx context.Context, machine string, command ...string) (string, error) {
	said, err := docker(ctx, append([]string{"exec", c.Container(machine)}, command...)...)
	if err != nil {
		return "", fmt.Errorf("%s on machine %q: %w", command[0], machine, err)
	}
	return said, nil
}

// Address is a machine's in the network of the cluster.
func (c Cluster) Address(ctx context.Context, at Place, machine string) (string, error) {
	return docker(ctx, "inspect", "--format", `{{(index .NetworkSettings.Networks "`+at.network+`").IPAddress}}`, c.Container(machine))
}

// Connect gives a machine its network plugin's configuration, for pods of a subnet.
func (c Cluster) Connect(ctx context.Context, machine, subnet string) error {
	_, err := c.RunOn(ctx, machine, "sh", "-c", `mkdir -p /etc/cni/net.d && printf %s "$1" > /etc/cni/net.d/`+conflistFile, "sh",
		fmt.Sprintf(conflist, subnet))
	return err
}

// Lead makes a machine find the pods of a subnet at another's address.
func (c Cluster) Lead(ctx context.Context, machine, subnet, address string) error {
	_, err := c.RunOn(ctx, machine, "ip", "route", "replace", subnet, "via", address)
	return err
}

// slow is how long Docker may take for a container on a machine with much to do.
const slow = 2 * time.Minute
