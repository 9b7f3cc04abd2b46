package kubelet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"

	"k8s.io/kubernetes/cmd/kubelet/app/options"
	"k8s.io/kubernetes/pkg/kubelet"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
)

// MachineEnv is the environment variable with the Machine, as JSON.
const MachineEnv = "NODESTORM_MACHINE"

// Machine is what the kubelet runs on.
type Machine struct {
	// Root is the folder that stands for the machine's "/".
	Root string `json:"root"`
	// Hostname is the machine's; --hostname-override goes over it.
	Hostname string `json:"hostname"`
	// Runtime is the endpoint of the container runtime: "unix:///…/cri.sock".
	Runtime string `json:"runtime"`
	// Port is where the kubelet serves, on 127.0.0.1.
	Port int32 `json:"port"`
	// Probes is the host:port that stands for all containers in the eyes of probes:
	// see probes.
	Probes string `json:"probes"`
	// Address is that of the interface with the default route. Empty means none.
	Address string `json:"address,omitempty"`
	// Cores, Memory and Disk, in bytes, are the machine's capacity.
	Cores  int    `json:"cores"`
	Memory uint64 `json:"memory"`
	Disk   uint64 `json:"disk"`

	MachineID string `json:"machineID"`
	BootID    string `json:"bootID"`
	Kernel    string `json:"kernel"`
	OS        string `json:"os"`
}

func machineOf(text string) (Machine, error) {
	var m Machine
	d := json.NewDecoder(bytes.NewBufferString(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, fmt.Errorf("%s: %w; it tells the kubelet its machine, and nodestorm sets it", MachineEnv, err)
	}
	if !filepath.IsAbs(m.Root) || m.Hostname == "" || m.Runtime == "" || m.Port == 0 || m.Probes == "" {
		return m, fmt.Errorf("%s: want root (an absolute path), hostname, runtime, port and probes", MachineEnv)
	}
	return m, nil
}

// path is where a path of the machine's is; none stays none.
func (m Machine) path(p string) string {
	if p == "" {
		return ""
	}
	return filepath.Join(m.Root, filepath.Join("/", p)) // cleaned first, so that .. ends at the machine's /
}

// confine keeps the kubelet to its machine: paths are below the machine's folder,
// everything it serves is on loopback, and what would change this host is off.
func (m Machine) confine(s *options.KubeletServer) {
	for _, p := range append(kubeletconfig.KubeletConfigurationPathRefs(&s.KubeletConfiguration),
		&s.KubeConfig, &s.BootstrapKubeconfig, &s.CertDirectory, &s.RootDirectory, &s.LockFilePath,
		&s.ImageCredentialProviderConfigPath, &s.ImageCredentialProviderBinDir) {
		*p = m.path(*p)
	}
	kubelet.ContainerLogsDir = m.path(kubelet.ContainerLogsDir)
	if s.HostnameOverride == "" {
		s.HostnameOverride = m.Hostname
	}
	if s.CloudProvider == "" && s.NodeIP == "" {
		// It would resolve its name and look for a default route.
		s.NodeIP = m.Address
	}
	s.ContainerRuntimeEndpoint, s.ImageServiceEndpoint = m.Runtime, ""
	s.Address, s.Port = "127.0.0.1", m.Port
	s.ReadOnlyPort, s.HealthzPort = 0, 0
	s.CgroupsPerQOS, s.EnforceNodeAllocatable = false, nil
	s.KubeReservedCgroup, s.SystemReservedCgroup = "", ""
	s.KubeletCgroups, s.SystemCgroups, s.RuntimeCgroups = "", "", ""
	s.MakeIPTablesUtilChains = false
	s.StaticPodURL = ""
	s.ShutdownGracePeriod.Duration, s.ShutdownGracePeriodCriticalPods.Duration = 0, 0 // asks logind
}
