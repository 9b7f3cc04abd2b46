package ec2

import (
	"math"
	"strconv"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/ec2/listing"
	"nodestorm/fakecloud/aws/offer"
	"nodestorm/fakecloud/aws/wire"
)

// What is said of instance types.
type (
	describeTypesRequest struct {
		DryRun        bool
		Filters       []listing.Filter `wire:"filter"`
		InstanceTypes []string         `wire:"instanceType,max=100"`
		MaxResults    *int64           `wire:",min=5,max=100"`
		NextToken     string
	}
	describeTypesAnswer struct {
		InstanceTypes []typeInfo `wire:"instanceTypeSet"`
		NextToken     string
	}
	typeInfo struct {
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

// infoOf is what is said of a type. What the table of types does not have is left out where AWS does so for some types.
func infoOf(t *fakecloud.ServerType) typeInfo {
	is := offer.Named(t.Name)
	if is == nil { // a scenario's own
		is = &offer.Type{
			Name: t.Name, Family: t.Category, Maker: "Intel", GHz: 3, VCPUs: int64(t.Cores), MemoryMiB: int64(t.MemoryGB * 1024), ENIs: 4, IPv4: 15,
		}
		if t.Architecture == "arm" {
			is.Maker = "AWS"
		}
	}
	info := typeInfo{
		InstanceType: is.Name, CurrentGeneration: true, SupportedUsageClasses: []string{"on-demand"},
		SupportedRootDeviceTypes: []string{"ebs"}, SupportedVirtualizationTypes: []string{"hvm"}, BareMetal: is.Metal, Hypervisor: hypervisor(is),
		ProcessorInfo:      processorInfo{is.Maker, []string{architecture(is.ARM())}, is.GHz},
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

func architecture(arm bool) string {
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

var ofTypes = listing.Kind[typeInfo]{By: map[string]func(*typeInfo) []string{
	"instance-type":                         listing.One(func(t *typeInfo) string { return t.InstanceType }),
	"bare-metal":                            listing.One(func(t *typeInfo) string { return strconv.FormatBool(t.BareMetal) }),
	"hypervisor":                            listing.One(func(t *typeInfo) string { return t.Hypervisor }),
	"current-generation":                    listing.One(func(t *typeInfo) string { return strconv.FormatBool(t.CurrentGeneration) }),
	"memory-info.size-in-mib":               listing.One(func(t *typeInfo) string { return strconv.FormatInt(t.MemoryInfo.SizeInMiB, 10) }),
	"vcpu-info.default-vcpus":               listing.One(func(t *typeInfo) string { return strconv.FormatInt(t.VCPUInfo.DefaultVCPUs, 10) }),
	"processor-info.supported-architecture": func(t *typeInfo) []string { return t.ProcessorInfo.SupportedArchitectures },
	"supported-virtualization-type":         func(t *typeInfo) []string { return t.SupportedVirtualizationTypes },
	"supported-usage-class":                 func(t *typeInfo) []string { return t.SupportedUsageClasses },
	"supported-root-device-type":            func(t *typeInfo) []string { return t.SupportedRootDeviceTypes },
	"instance-storage-supported":            listing.One(func(t *typeInfo) string { return strconv.FormatBool(t.InstanceStorageSupported) }),
	"burstable-performance-supported": listing.One(func(t *typeInfo) string {
		return strconv.FormatBool(t.BurstablePerformanceSupported)
	}),
}}

func (s *Service) describeTypes(c *api.Call, in *describeTypesRequest) (*describeTypesAnswer, error) {
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	if err := listing.NoPage(in.MaxResults, in.InstanceTypes, "instanceTypes"); err != nil {
		return nil, err
	}
	if s.offered == nil {
		types := s.Cloud.Catalogue().ServerTypes
		for k := range types {
			s.offered = append(s.offered, infoOf(&types[k]))
		}
	}
	var all []*typeInfo
	for k := range s.offered {
		if len(in.InstanceTypes) == 0 {
			all = append(all, &s.offered[k])
		}
	}
	for _, name := range in.InstanceTypes {
		t := s.types[name]
		if t == nil {
			return nil, wire.Errorf("InvalidInstanceType", "The following supplied instance types do not exist: [%.80s]", name)
		}
		info := infoOf(t)
		all = append(all, &info)
	}
	all, err := ofTypes.Filtered(c, all, in.Filters)
	if err != nil {
		return nil, err
	}
	some, next, err := listing.Page(all, in.MaxResults, in.NextToken, 100)
	if err != nil {
		return nil, err
	}
	out := &describeTypesAnswer{InstanceTypes: []typeInfo{}, NextToken: next}
	for _, t := range some {
		out.InstanceTypes = append(out.InstanceTypes, *t)
	}
	return out, nil
}

// What is said of where types are offered.
type (
	offeringsRequest struct {
		DryRun       bool
		Filters      []listing.Filter `wire:"filter"`
		LocationType string           `wire:",enum=region|availability-zone|availability-zone-id"`
		MaxResults   *int64           `wire:",min=5,max=1000"`
		NextToken    string
	}
	offeringsAnswer struct {
		Offerings []offering `wire:"instanceTypeOfferingSet"`
		NextToken string
	}
	offering struct {
		InstanceType, LocationType, Location string
	}
)

var ofOfferings = listing.Kind[offering]{By: map[string]func(*offering) []string{
	"instance-type": listing.One(func(o *offering) string { return o.InstanceType }),
	"location":      listing.One(func(o *offering) string { return o.Location }),
}}

// describeOfferings lists where types are sold. One that has run out is sold all the same.
func (s *Service) describeOfferings(c *api.Call, in *offeringsRequest) (*offeringsAnswer, error) {
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	var all []*offering
	catalogue := s.Cloud.Catalogue()
	for k := range catalogue.ServerTypes {
		t := &catalogue.ServerTypes[k]
		switch in.LocationType {
		case "", "region":
			all = append(all, &offering{t.Name, "region", s.Region})
			continue
		}
		for _, p := range t.Prices {
			if supply := c.Tx.Supply(t, p.Location); !supply.RetiredSince.IsZero() {
				continue
			}
			at := p.Location
			if in.LocationType == "availability-zone-id" {
				at = s.zoneID(p.Location)
			}
			all = append(all, &offering{t.Name, in.LocationType, at})
		}
	}
	all, err := ofOfferings.Filtered(c, all, in.Filters)
	if err != nil {
		return nil, err
	}
	some, next, err := listing.Page(all, in.MaxResults, in.NextToken, 1000)
	if err != nil {
		return nil, err
	}
	out := &offeringsAnswer{Offerings: []offering{}, NextToken: next}
	for _, o := range some {
		out.Offerings = append(out.Offerings, *o)
	}
	return out, nil
}

// zoneID is the ID of a zone.
func (s *Service) zoneID(zone string) string {
	if l := s.Cloud.Catalogue().Location(zone); l != nil {
		return l.Datacenter
	}
	return ""
}

// What is said of spot prices.
type (
	spotPricesRequest struct {
		DryRun              bool
		Filters             []listing.Filter `wire:"filter"`
		AvailabilityZone    string
		InstanceTypes       []string `wire:"instanceType"`
		ProductDescriptions []string `wire:"productDescription"`
		StartTime, EndTime  *time.Time
		MaxResults          *int64 `wire:",min=1"`
		NextToken           string
	}
	spotPricesAnswer struct {
		Prices    []spotPrice `wire:"spotPriceHistorySet"`
		NextToken string
	}
	spotPrice struct {
		InstanceType, ProductDescription, SpotPrice string
		Timestamp                                   time.Time
		AvailabilityZone                            string
		AvailabilityZoneID                          string `wire:"availabilityZoneId"`
	}
)

var ofSpotPrices = listing.Kind[spotPrice]{By: map[string]func(*spotPrice) []string{
	"instance-type":       listing.One(func(p *spotPrice) string { return p.InstanceType }),
	"availability-zone":   listing.One(func(p *spotPrice) string { return p.AvailabilityZone }),
	"product-description": listing.One(func(p *spotPrice) string { return p.ProductDescription }),
	"spot-price":          listing.One(func(p *spotPrice) string { return p.SpotPrice }),
}}

// linux is the product that spot prices are of.
const linux = "Linux/UNIX"

// describeSpotPrices lists the prices as they are now: the cloud's have no history.
func (s *Service) describeSpotPrices(c *api.Call, in *spotPricesRequest) (*spotPricesAnswer, error) {
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	fits := func(want []string, is string) bool {
		for _, w := range want {
			if w == is {
				return true
			}
		}
		return len(want) == 0
	}
	var all []*spotPrice
	for _, t := range s.Cloud.Catalogue().ServerTypes {
		if !fits(in.InstanceTypes, t.Name) || !fits(in.ProductDescriptions, linux) {
			continue
		}
		for _, p := range t.Prices {
			if p.Spot > 0 && (in.AvailabilityZone == "" || in.AvailabilityZone == p.Location) {
				all = append(all, &spotPrice{
					t.Name, linux, strconv.FormatFloat(p.Spot*p.Hourly()/p.Monthly, 'f', 6, 64), c.Tx.Now(), p.Location, s.zoneID(p.Location),
				})
			}
		}
	}
	all, err := ofSpotPrices.Filtered(c, all, in.Filters)
	if err != nil {
		return nil, err
	}
	some, next, err := listing.Page(all, in.MaxResults, in.NextToken, 2000)
	if err != nil {
		return nil, err
	}
	out := &spotPricesAnswer{Prices: []spotPrice{}, NextToken: next}
	for _, p := range some {
		out.Prices = append(out.Prices, *p)
	}
	return out, nil
}
