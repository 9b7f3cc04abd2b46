// Package kinds has what EC2 says of instance types, and what can be required of them.
package kinds

import (
	"math"
	"strconv"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/ec2/listing"
	"nodestorm/fakecloud/aws/offer"
)

// Info is what is said of a type.
type (
	Info struct {
		InstanceType                  string
		CurrentGeneration             bool
		FreeTierEligible              bool
		SupportedUsageClasses         []string
		SupportedRootDeviceTypes      []string
		SupportedVirtualizationTypes  []string
		BareMetal                     bool
		Hypervisor                    string
		ProcessorInfo                 processorInfo
		VCPUInfo                      vCPUInfo `wire:"vCpuInfo"`
		MemoryInfo                    memoryInfo
		InstanceStorageSupported      bool
		InstanceStorageInfo           *storageInfo
		EBSInfo                       ebsInfo `wire:"ebsInfo"`
		NetworkInfo                   networkInfo
		GPUInfo                       *gpuInfo `wire:"gpuInfo"`
		PlacementGroupInfo            placementInfo
		HibernationSupported          bool
		BurstablePerformanceSupported bool
		DedicatedHostsSupported       bool
	}
	processorInfo struct {
		Manufacturer             string
		SupportedArchitectures   []string
		SustainedClockSpeedInGHz float64 `wire:"sustainedClockSpeedInGhz"`
	}
	vCPUInfo struct {
		DefaultVCPUs          int64 `wire:"defaultVCpus"`
		DefaultCores          int64
		DefaultThreadsPerCore int64
	}
	memoryInfo struct {
		SizeInMiB int64
	}
	storageInfo struct {
		TotalSizeInGB     int64
		NvmeSupport       string
		EncryptionSupport string
	}
	ebsInfo struct {
		EBSOptimizedSupport string `wire:"ebsOptimizedSupport"`
		EncryptionSupport   string
		EBSOptimizedInfo    *ebsOptimizedInfo `wire:"ebsOptimizedInfo"`
		NvmeSupport         string
	}
	ebsOptimizedInfo struct {
		MaximumBandwidthInMbps  int64
		MaximumThroughputInMBps float64
	}
	networkInfo struct {
		NetworkPerformance           string
		MaximumNetworkInterfaces     int64
		MaximumNetworkCards          int64
		DefaultNetworkCardIndex      int64
		NetworkCards                 []networkCard
		IPv4AddressesPerInterface    int64 `wire:"ipv4AddressesPerInterface"`
		IPv6AddressesPerInterface    int64 `wire:"ipv6AddressesPerInterface"`
		IPv6Supported                bool  `wire:"ipv6Supported"`
		EnaSupport                   string
		EfaSupported                 bool
		EncryptionInTransitSupported bool
	}
	networkCard struct {
		NetworkCardIndex         int64
		NetworkPerformance       string
		MaximumNetworkInterfaces int64
	}
	gpuInfo struct {
		GPUs                []gpu `wire:"gpus"`
		TotalGPUMemoryInMiB int64 `wire:"totalGpuMemoryInMiB"`
	}
	gpu struct {
		Name, Manufacturer string
		Count              int64
		MemoryInfo         memoryInfo
	}
	placementInfo struct {
		SupportedStrategies []string
	}
)

// Of is what is said of a type. What the table of types does not have is left out where AWS does so for some types.
func Of(t *fakecloud.ServerType) Info {
	is := offer.Named(t.Name)
	if is == nil { // a scenario's own
		is = &offer.Type{
			Name: t.Name, Family: t.Category, Maker: "Intel", GHz: 3, VCPUs: int64(t.Cores), MemoryMiB: int64(t.MemoryGB * 1024), ENIs: 4, IPv4: 15,
		}
		if t.Architecture == "arm" {
			is.Maker = "AWS"
		}
	}
	info := Info{
		InstanceType: is.Name, CurrentGeneration: true, SupportedUsageClasses: []string{"on-demand"},
		SupportedRootDeviceTypes: []string{"ebs"}, SupportedVirtualizationTypes: []string{"hvm"}, BareMetal: is.Metal, Hypervisor: hypervisor(is),
		ProcessorInfo:      processorInfo{is.Maker, []string{Architecture(is.ARM())}, is.GHz},
		VCPUInfo:           vCPUInfo{DefaultVCPUs: is.VCPUs, DefaultCores: is.VCPUs, DefaultThreadsPerCore: 1},
		MemoryInfo:         memoryInfo{SizeInMiB: is.MemoryMiB},
		EBSInfo:            ebsInfo{EBSOptimizedSupport: "unsupported", EncryptionSupport: "supported", NvmeSupport: "required"},
		PlacementGroupInfo: placementInfo{SupportedStrategies: []string{"partition", "spread"}}, BurstablePerformanceSupported: is.Burstable(),
		NetworkInfo: networkInfo{
			NetworkPerformance: performance(is), MaximumNetworkInterfaces: is.ENIs, MaximumNetworkCards: 1,
			NetworkCards:              []networkCard{{NetworkPerformance: performance(is), MaximumNetworkInterfaces: is.ENIs}},
			IPv4AddressesPerInterface: is.IPv4, IPv6AddressesPerInterface: is.IPv4, IPv6Supported: true, EnaSupport: "required",
		},
	}
	for _, p := range t.Prices {
		if p.Spot > 0 {
			info.SupportedUsageClasses = []string{"on-demand", "spot"}
		}
	}
	if is.Maker == "Intel" && is.VCPUs > 1 {
		info.VCPUInfo.DefaultCores, info.VCPUInfo.DefaultThreadsPerCore = is.VCPUs/2, 2
	}
	if !is.Burstable() {
		info.PlacementGroupInfo.SupportedStrategies = append([]string{"cluster"}, info.PlacementGroupInfo.SupportedStrategies...)
	}
	if is.EBSMbps > 0 {
		info.EBSInfo.EBSOptimizedSupport = "default"
		info.EBSInfo.EBSOptimizedInfo = &ebsOptimizedInfo{is.EBSMbps, float64(is.EBSMbps) / 8}
	}
	if is.DisksGB > 0 {
		info.InstanceStorageSupported = true
		info.InstanceStorageInfo = &storageInfo{TotalSizeInGB: is.DisksGB, NvmeSupport: "required", EncryptionSupport: "required"}
	}
	if g := is.GPU; g.Count > 0 {
		info.GPUInfo = &gpuInfo{
			GPUs:                []gpu{{Name: g.Name, Manufacturer: g.Maker, Count: g.Count, MemoryInfo: memoryInfo{g.MemoryMiB}}},
			TotalGPUMemoryInMiB: g.Count * g.MemoryMiB,
		}
	}
	return info
}

// hypervisor is empty for metal, of which AWS says none.
func hypervisor(t *offer.Type) string {
	switch {
	case t.Metal:
		return ""
	case t.Xen:
		return "xen"
	}
	return "nitro"
}

// Architecture is what AWS calls one.
func Architecture(arm bool) string {
	if arm {
		return "arm64"
	}
	return "x86_64"
}

// performance is the network's, in AWS's words.
func performance(t *offer.Type) string {
	gigabit := math.Round(float64(t.NetworkMbps)/100) / 10
	if t.NetworkMbps < 10_000 {
		return "Up to 10 Gigabit"
	}
	return strconv.FormatFloat(gigabit, 'f', -1, 64) + " Gigabit"
}

// Filters are what types can be filtered by.
var Filters = listing.Kind[Info]{By: map[string]func(*Info) []string{
	"instance-type":                         listing.One(func(t *Info) string { return t.InstanceType }),
	"bare-metal":                            listing.One(func(t *Info) string { return strconv.FormatBool(t.BareMetal) }),
	"hypervisor":                            listing.One(func(t *Info) string { return t.Hypervisor }),
	"current-generation":                    listing.One(func(t *Info) string { return strconv.FormatBool(t.CurrentGeneration) }),
	"memory-info.size-in-mib":               listing.One(func(t *Info) string { return strconv.FormatInt(t.MemoryInfo.SizeInMiB, 10) }),
	"vcpu-info.default-vcpus":               listing.One(func(t *Info) string { return strconv.FormatInt(t.VCPUInfo.DefaultVCPUs, 10) }),
	"processor-info.supported-architecture": func(t *Info) []string { return t.ProcessorInfo.SupportedArchitectures },
	"supported-virtualization-type":         func(t *Info) []string { return t.SupportedVirtualizationTypes },
	"supported-usage-class":                 func(t *Info) []string { return t.SupportedUsageClasses },
	"supported-root-device-type":            func(t *Info) []string { return t.SupportedRootDeviceTypes },
	"instance-storage-supported":            listing.One(func(t *Info) string { return strconv.FormatBool(t.InstanceStorageSupported) }),
	"burstable-performance-supported": listing.One(func(t *Info) string {
		return strconv.FormatBool(t.BurstablePerformanceSupported)
	}),
}}

// Requirements are what types can be required to have, as far as it is known here: the rest is refused as unknown.
type (
	Requirements struct {
		VCPUs     *span `wire:"vCpuCount,required"`
		MemoryMiB *span `wire:"memoryMiB,required"`
	}
	span struct {
		Min *int64 `wire:",required,min=0"`
		Max *int64 `wire:",min=0"`
	}
)

// has reports whether a number is within the span.
func (s *span) has(n int64) bool { return n >= *s.Min && (s.Max == nil || n <= *s.Max) }

// Fits reports whether a type has what is required.
func (r *Requirements) Fits(is *Info) bool {
	return r.VCPUs.has(is.VCPUInfo.DefaultVCPUs) && r.MemoryMiB.has(is.MemoryInfo.SizeInMiB)
}
