package kubelet

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nodestorm/sim/machine/cloudinit"
)

// Machine is one to boot. Name is required, and unique among those that are on.
type Machine struct {
	Name string
	// Cores are 2, Memory is 4 GiB and Disk 40 GiB (in bytes) where zero. Memory is
	// what Linux sees.
	Cores        int
	Memory, Disk uint64
	// Addresses are the machine's. The first is that of the interface with the
	// default route.
	Addresses []netip.Addr

	// UserData decides how the kubelet is started (see sim/machine/cloudinit). Empty means a
	// machine that kubeadm has joined, whose /etc/default/kubelet has Args.
	UserData string
	// Args are KUBELET_EXTRA_ARGS: "--cloud-provider=external". Only without UserData.
	Args []string
	// System is a machine whose user data has been followed already. Over UserData
	// and Args.
	System *cloudinit.System

	// ServerTLSBootstrap has the kubelet ask for a serving certificate. It goes into
	// the configuration that kubeadm join writes, so it counts only where user data
	// does not write /var/lib/kubelet/config.yaml itself. Without it the kubelet
	// makes its own, and no approval is needed.
	ServerTLSBootstrap bool
	// BootDelay is from power to the kubelet's start. Zero means at once.
	BootDelay time.Duration
	// NetworkDelay is from there until the network plugin's configuration is there.
	// Zero means from the start.
	NetworkDelay time.Duration
	// NoNetwork is a machine that gets none by itself: see SetNetwork.
	NoNetwork bool
	// PullDelay and StopDelay are those of the container runtime (sim/machine/cri).
	PullDelay, StopDelay time.Duration
}

// GiB is 2^30 bytes.
const GiB = 1 << 30

func (s Machine) withDefaults() Machine {
	if s.Cores == 0 {
		s.Cores = 2
	}
	if s.Memory == 0 {
		s.Memory = 4 * GiB
	}
	if s.Disk == 0 {
		s.Disk = 40 * GiB
	}
	return s
}

// system is the machine after cloud-init.
func (s Machine) system() (*cloudinit.System, error) {
	if s.System != nil {
		return s.System, nil
	}
	if s.UserData != "" && len(s.Args) > 0 {
		return nil, errors.New("want UserData or Args, not both: arguments are in user data's files")
	}
	config := &cloudinit.Config{Files: []cloudinit.File{{
		Path: "/etc/default/kubelet", Mode: 0o644, From: "kubeadm",
		Content: fmt.Sprintf("KUBELET_EXTRA_ARGS=\"%s\"\n", strings.Join(s.Args, " ")),
	}}}
	if s.UserData != "" {
		var err error
		if config, err = cloudinit.Parse(s.UserData); err != nil {
			return nil, err
		}
	}
	return config.Boot(cloudinit.Machine{Name: s.Name})
}

const (
	bootstrapFile = "/etc/kubernetes/bootstrap-kubelet.conf"
	kubeletFile   = "/etc/kubernetes/kubelet.conf"
	caFile        = "/etc/kubernetes/pki/ca.crt"
	configFile    = "/var/lib/kubelet/config.yaml"
)

// config is what kubeadm join writes for v1.34, without what only concerns systemd.
const config = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous:
    enabled: false
  webhook:
    cacheTTL: 0s
    enabled: true
  x509:
    clientCAFile: ` + caFile + `
authorization:
  mode: Webhook
clusterDNS:
- 10.0.0.10
clusterDomain: cluster.local
rotateCertificates: true
serverTLSBootstrap: %t
staticPodPath: /etc/kubernetes/manifests
`

// arguments is the kubelet's command line: the machine's, with kubeadm's files where
// it names none (k3s brings its own).
func arguments(k cloudinit.Kubelet) []string {
	var args []string
	for name, file := range map[string]string{"bootstrap-kubeconfig": bootstrapFile, "kubeconfig": kubeletFile, "config": configFile} {
		if _, given := k.ExtraArgs[name]; !given {
			args = append(args, "--"+name+"="+file)
		}
	}
	for _, a := range k.Args {
		args = append(args, "--"+a.Name+"="+a.Value)
	}
	return args
}

// write puts the machine's files into its folder.
func (m *Machines) write(root string, s Machine, system *cloudinit.System) error {
	bootstrap, err := m.bootstrapKubeconfig()
	if err != nil {
		return err
	}
	ca, err := m.world.ClientCA()
	if err != nil {
		return err
	}
	files := map[string]string{
		configFile:         fmt.Sprintf(config, s.ServerTLSBootstrap),
		"/etc/resolv.conf": "", "/etc/hosts": "127.0.0.1 localhost\n",
	}
	for path, f := range system.Files() {
		files[path] = f.Content
	}
	// The way to the cluster is the world's, whatever user data says.
	files[bootstrapFile], files[caFile] = string(bootstrap), string(ca)
	delete(files, kubeletFile)
	for path, content := range files {
		file := filepath.Join(root, filepath.Join("/", path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			return err
		}
	}
	return os.MkdirAll(filepath.Join(root, "etc/kubernetes/manifests"), 0o755)
}
