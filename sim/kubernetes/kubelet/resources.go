package kubelet

import (
	"context"
	"fmt"
	"time"

	cadvisorapi "github.com/google/cadvisor/info/v1"
	cadvisorapiv2 "github.com/google/cadvisor/info/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
	evictionapi "k8s.io/kubernetes/pkg/kubelet/eviction/api"
)

// resources is a container manager that has capacity and reservations, and no cgroups.
type resources struct {
	cm.ContainerManager
	disk     resource.Quantity
	reserved corev1.ResourceList
	// beforeWatcher is called when the kubelet is about to make its watcher of
	// out-of-memory kills.
	beforeWatcher func()
}

// newResources adds up what is reserved as pkg/kubelet/cm does
// (GetNodeAllocatableReservation): kube, system, and what hard eviction keeps free.
func newResources(m Machine, s *options.KubeletServer) (*resources, error) {
	r := &resources{
		ContainerManager: cm.NewStubContainerManager(),
		disk:             *resource.NewQuantity(int64(m.Disk), resource.BinarySI),
		reserved:         corev1.ResourceList{},
	}
	for flag, given := range map[string]map[string]string{"kube-reserved": s.KubeReserved, "system-reserved": s.SystemReserved} {
		for name, text := range given {
			q, err := resource.ParseQuantity(text)
			if err != nil || q.Sign() < 0 {
				return nil, fmt.Errorf("--%s: %s=%q is no quantity of zero or more", flag, name, text)
			}
			switch name := corev1.ResourceName(name); name {
			case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
				r.reserve(name, q)
			case "pid":
			default:
				return nil, fmt.Errorf("--%s: cannot reserve %q", flag, name)
			}
		}
	}
	if s.ExperimentalNodeAllocatableIgnoreEvictionThreshold {
		return r, nil
	}
	thresholds, err := eviction.ParseThresholdConfig(nil, s.EvictionHard, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	capacity := map[evictionapi.Signal]corev1.ResourceName{
		evictionapi.SignalMemoryAvailable: corev1.ResourceMemory,
		evictionapi.SignalNodeFsAvailable: corev1.ResourceEphemeralStorage,
	}
	of := map[corev1.ResourceName]*resource.Quantity{
		corev1.ResourceMemory:           resource.NewQuantity(int64(m.Memory), resource.BinarySI),
		corev1.ResourceEphemeralStorage: &r.disk,
	}
	for _, t := range thresholds {
		if name, counts := capacity[t.Signal]; counts && t.Operator == evictionapi.OpLessThan {
			r.reserve(name, *evictionapi.GetThresholdQuantity(t.Value, of[name]))
		}
	}
	return r, nil
}

func (r *resources) reserve(name corev1.ResourceName, q resource.Quantity) {
	sum := r.reserved[name]
	sum.Add(q)
	r.reserved[name] = sum
}

func (r *resources) GetNodeAllocatableReservation() corev1.ResourceList { return r.reserved }

func (r *resources) GetCapacity(bool) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceEphemeralStorage: r.disk}
}

func (r *resources) GetPodCgroupRoot() string {
	r.beforeWatcher()
	return r.ContainerManager.GetPodCgroupRoot()
}

// cadvisor says what the machine has, and that next to nothing of it is in use.
type cadvisor struct{ machine Machine }

func (c cadvisor) Start() error { return nil }

func (c cadvisor) MachineInfo() (*cadvisorapi.MachineInfo, error) {
	return &cadvisorapi.MachineInfo{
		NumCores: c.machine.Cores, MemoryCapacity: c.machine.Memory,
		MachineID: c.machine.MachineID, SystemUUID: c.machine.MachineID, BootID: c.machine.BootID,
	}, nil
}

func (c cadvisor) VersionInfo() (*cadvisorapi.VersionInfo, error) {
	return &cadvisorapi.VersionInfo{KernelVersion: c.machine.Kernel, ContainerOsVersion: c.machine.OS}, nil
}

// ContainerInfoV2 has the machine itself, "/", of which the eviction manager asks.
func (c cadvisor) ContainerInfoV2(name string, _ cadvisorapiv2.RequestOptions) (map[string]cadvisorapiv2.ContainerInfo, error) {
	if name != "/" {
		return nil, fmt.Errorf("there are no cgroups: %q", name)
	}
	return map[string]cadvisorapiv2.ContainerInfo{name: {
		Spec: cadvisorapiv2.ContainerSpec{
			HasCpu: true, HasMemory: true,
			Memory: cadvisorapiv2.MemorySpec{Limit: c.machine.Memory},
		},
		Stats: []*cadvisorapiv2.ContainerStats{{
			Timestamp: time.Now(),
			Cpu:       &cadvisorapi.CpuStats{},
			CpuInst:   &cadvisorapiv2.CpuInstStats{},
			Memory:    &cadvisorapi.MemoryStats{Usage: c.machine.Memory / 10, WorkingSet: c.machine.Memory / 10},
		}},
	}}, nil
}

func (c cadvisor) GetRequestedContainersInfo(string, cadvisorapiv2.RequestOptions) (map[string]*cadvisorapi.ContainerInfo, error) {
	return nil, nil
}

func (c cadvisor) fs() (cadvisorapiv2.FsInfo, error) {
	inodes, free := uint64(10_000_000), uint64(9_000_000)
	return cadvisorapiv2.FsInfo{
		Timestamp: time.Now(), Device: "/dev/sda1", Mountpoint: "/",
		Capacity: c.machine.Disk, Usage: c.machine.Disk / 10, Available: c.machine.Disk / 10 * 9,
		Inodes: &inodes, InodesFree: &free,
	}, nil
}

func (c cadvisor) ImagesFsInfo(context.Context) (cadvisorapiv2.FsInfo, error)    { return c.fs() }
func (c cadvisor) ContainerFsInfo(context.Context) (cadvisorapiv2.FsInfo, error) { return c.fs() }
func (c cadvisor) RootFsInfo() (cadvisorapiv2.FsInfo, error)                     { return c.fs() }
func (c cadvisor) GetDirFsInfo(string) (cadvisorapiv2.FsInfo, error)             { return c.fs() }
