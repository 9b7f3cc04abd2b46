package machines

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"nodestorm/fakecloud"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/machine/cloudinit"
	"nodestorm/sim/machine/node"
)

// Uninitialized is the taint that a kubelet with --cloud-provider=external registers
// with, for a cloud controller manager to lift (k8s.io/cloud-provider/api).
var Uninitialized = corev1.Taint{Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true", Effect: corev1.TaintEffectNoSchedule}

// providedIP is the annotation with which a kubelet hints its --node-ip at a cloud
// controller manager (k8s.io/cloud-provider/api).
const providedIP = "alpha.kubernetes.io/provided-node-ip"

// spec is the node that an instance boots into, the system it boots, and its kubelet's
// command line.
func (j *Joiner) spec(i fakecloud.Instance) (node.Spec, *cloudinit.System, []string, error) {
	system, k, err := j.settings(i)
	if err != nil {
		return node.Spec{}, nil, nil, err
	}
	t := j.cfg.Cloud.Catalogue().ServerType(i.Type)
	if t == nil {
		return node.Spec{}, nil, nil, fmt.Errorf("server type %q is not in the catalogue", i.Type)
	}
	s := node.Spec{Name: k.NodeName, ProviderID: k.ProviderID, Labels: k.Labels, Taints: k.Taints}
	s.Info.Architecture = map[string]string{"arm": "arm64", "x86": "amd64"}[t.Architecture]
	if s.Capacity, s.Allocatable, err = Resources(t, k.ExtraArgs); err != nil {
		return node.Spec{}, nil, nil, err
	}
	external := k.CloudProvider == "external"
	if external {
		s.Taints = append(s.Taints, Uninitialized)
	}
	s.Addresses = addresses(i, k, external)
	if ip := k.ExtraArgs["node-ip"]; external && len(s.Addresses) > 1 && ip != "" {
		s.Annotations = map[string]string{providedIP: ip}
	}
	if j.cfg.Profile != nil {
		s.Profile = j.cfg.Profile(i)
	} else {
		s.Profile = node.DefaultProfile()
		s.Profile.BootDelay = 0
	}
	if s.Profile.BootDelay == 0 {
		s.Profile.BootDelay = j.delay(i)
	}
	var args []string
	for _, a := range k.Args {
		args = append(args, "--"+a.Name+"="+a.Value)
	}
	return s, system, args, nil
}

// real is the machine that a real kubelet runs on, as the simulated one is.
func (j *Joiner) real(i fakecloud.Instance, s node.Spec, system *cloudinit.System) kubelet.Machine {
	memory, disk := s.Capacity[corev1.ResourceMemory], s.Capacity[corev1.ResourceEphemeralStorage]
	cores := s.Capacity[corev1.ResourceCPU]
	m := kubelet.Machine{
		Name: s.Name, System: system,
		Cores: int(cores.Value()), Memory: uint64(memory.Value()), Disk: uint64(disk.Value()),
		BootDelay: s.Profile.BootDelay, NetworkDelay: s.Profile.ReadyDelay,
		PullDelay: s.Profile.PodStartDelay, StopDelay: s.Profile.PodStopDelay,
	}
	m.Addresses = machineAddresses(i)
	return m
}

// container is the same as a container. Whatever its user data is, it is carried out: what
// is not understood here is for the machine to find out.
func (j *Joiner) container(i fakecloud.Instance) *Container {
	c := &Container{
		Name: i.Name, Node: i.Name, ID: strconv.FormatInt(i.ID, 10), UserData: i.UserData,
		Metadata: j.machine(i).Metadata, Addresses: machineAddresses(i), Profile: node.DefaultProfile(),
	}
	if j.cfg.Profile != nil {
		c.Profile = j.cfg.Profile(i)
	} else {
		c.Profile.BootDelay = 0
	}
	if system, k, err := j.settings(i); err == nil {
		c.Node = k.NodeName
		c.Endpoint, c.Token = system.KubeadmJoin()
	}
	if t := j.cfg.Cloud.Catalogue().ServerType(i.Type); t != nil {
		c.Cores, c.Memory = t.Cores, uint64(float64(t.MemoryGB)*Usable*(1<<30))
	}
	return c
}

// machineAddresses are those that the cloud has given the instance.
func machineAddresses(i fakecloud.Instance) (list []netip.Addr) {
	for _, ip := range append([]netip.Addr{i.PublicIPv4}, i.PrivateIPs()...) {
		if ip.IsValid() {
			list = append(list, ip)
		}
	}
	return list
}

// addresses are those that the kubelet itself puts into its Node
// (pkg/kubelet/nodestatus/setters.go, NodeAddress, v1.36.3): with an external cloud
// provider and without --node-ip only its name.
func addresses(i fakecloud.Instance, k cloudinit.Kubelet, external bool) []corev1.NodeAddress {
	name := corev1.NodeAddress{Type: corev1.NodeHostName, Address: k.NodeName}
	given := k.ExtraArgs["node-ip"]
	if external && given == "" {
		return []corev1.NodeAddress{name}
	}
	var list []corev1.NodeAddress
	for _, text := range strings.Split(given, ",") {
		if ip, err := netip.ParseAddr(text); err == nil && !ip.IsUnspecified() {
			list = append(list, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: ip.String()})
		}
	}
	if list == nil {
		// That of the interface with the default route.
		ip := i.PublicIPv4
		if private := i.PrivateIPs(); !ip.IsValid() && len(private) > 0 {
			ip = private[0]
		}
		if !ip.IsValid() {
			ip = i.PublicIPv6
		}
		if ip.IsValid() {
			list = append(list, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: ip.String()})
		}
	}
	return append(list, name)
}

const (
	// Usable is the part of a server's nominal memory that Linux has: firmware and
	// kernel take the rest. Servers of 2, 4 and 8 GB show 1.9, 3.7 and 7.6 GiB.
	Usable = 0.95
	// evictionMemory is a kubelet's default for --eviction-hard memory.available,
	// and evictionDisk for nodefs.available, as a part.
	evictionMemory = 100 << 20
	evictionDisk   = 0.1
	defaultMaxPods = 110
)

// Resources are capacity and allocatable of a server type, with what the kubelet's
// arguments reserve.
func Resources(t *fakecloud.ServerType, args map[string]string) (capacity, allocatable corev1.ResourceList, err error) {
	pods := int64(defaultMaxPods)
	if text, given := args["max-pods"]; given {
		if pods, err = strconv.ParseInt(text, 10, 32); err != nil || pods < 0 {
			return nil, nil, fmt.Errorf("--max-pods is %.40q: want a number", text)
		}
	}
	memory := int64(float64(t.MemoryGB) * Usable * (1 << 30))
	disk := int64(t.DiskGB) * 1_000_000_000
	capacity = corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(int64(t.Cores), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(memory, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(disk, resource.BinarySI),
		corev1.ResourcePods:             *resource.NewQuantity(pods, resource.DecimalSI),
	}
	allocatable = capacity.DeepCopy()
	memoryKept := *resource.NewQuantity(evictionMemory, resource.BinarySI)
	if text, given := evictionHard(args["eviction-hard"], "memory.available"); given {
		if memoryKept, err = part(text, memory); err != nil {
			return nil, nil, fmt.Errorf("--eviction-hard: memory.available<%.40q: %w", text, err)
		}
	}
	subtract(allocatable, corev1.ResourceMemory, memoryKept)
	subtract(allocatable, corev1.ResourceEphemeralStorage, *resource.NewQuantity(int64(float64(disk)*evictionDisk), resource.BinarySI))
	for _, flag := range []string{"kube-reserved", "system-reserved"} {
		for _, pair := range strings.FieldsFunc(args[flag], func(r rune) bool { return r == ',' }) {
			name, text, _ := strings.Cut(pair, "=")
			quantity, err := resource.ParseQuantity(text)
			if err != nil {
				return nil, nil, fmt.Errorf("--%s: %.60q: want resource=quantity, such as memory=300Mi", flag, pair)
			}
			subtract(allocatable, corev1.ResourceName(strings.TrimSpace(name)), quantity)
		}
	}
	return capacity, allocatable, nil
}

// evictionHard is the threshold of a signal in --eviction-hard.
func evictionHard(flag, signal string) (text string, given bool) {
	for _, pair := range strings.Split(flag, ",") {
		if name, value, found := strings.Cut(strings.TrimSpace(pair), "<"); found && name == signal {
			text, given = value, true
		}
	}
	return text, given
}

// part is a quantity, or as many per cent of all as a text says.
func part(text string, all int64) (resource.Quantity, error) {
	percent, is := strings.CutSuffix(text, "%")
	if !is {
		return resource.ParseQuantity(text)
	}
	of100, err := strconv.ParseFloat(percent, 64)
	if err != nil || of100 < 0 || of100 > 100 {
		return resource.Quantity{}, errors.New("want a quantity or per cent of all")
	}
	return *resource.NewQuantity(int64(float64(all)*of100/100), resource.BinarySI), nil
}

// subtract lowers a resource, to nothing at least. Those that the machine does not have
// (pid) are left out.
func subtract(list corev1.ResourceList, name corev1.ResourceName, quantity resource.Quantity) {
	have, found := list[name]
	if !found {
		return
	}
	have.Sub(quantity)
	if have.Sign() < 0 {
		have.Set(0)
	}
	list[name] = have
}
