package ec2

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/ec2/kinds"
	"nodestorm/fakecloud/aws/ec2/listing"
	"nodestorm/fakecloud/aws/wire"
)

// What is said of instances.
type (
	instance struct {
		InstanceID            string  `wire:"instanceId"`
		ImageID               string  `wire:"imageId"`
		State                 stateOf `wire:"instanceState"`
		PrivateDNSName        string  `wire:"privateDnsName"`
		DNSName               string  `wire:"dnsName"`
		AMILaunchIndex        int64   `wire:"amiLaunchIndex"`
		ProductCodes          []string
		InstanceType          string
		LaunchTime            time.Time
		Placement             placementOf
		Monitoring            monitoring
		SubnetID              string `wire:"subnetId"`
		VPCID                 string `wire:"vpcId"`
		PrivateIPAddress      string `wire:"privateIpAddress"`
		SourceDestCheck       bool
		Groups                []groupIdentifier `wire:"groupSet"`
		StateReason           *reason
		Architecture          string
		RootDeviceType        string
		RootDeviceName        string
		BlockDevices          []instanceDisk `wire:"blockDeviceMapping"`
		VirtualizationType    string
		InstanceLifecycle     string
		SpotRequestID         string `wire:"spotInstanceRequestId"`
		ClientToken           string
		Tags                  []listing.Tag `wire:"tagSet"`
		Hypervisor            string
		NetworkInterfaces     []networkInterface `wire:"networkInterfaceSet"`
		IAMInstanceProfile    *profileOf         `wire:"iamInstanceProfile"`
		EBSOptimized          bool               `wire:"ebsOptimized"`
		ENASupport            bool               `wire:"enaSupport"`
		CapacityReservation   *reservationOf     `wire:"capacityReservationSpecification"`
		CapacityReservationID string             `wire:"capacityReservationId"`
		MetadataOptions       *metadataOf
		PlatformDetails       string
	}
	stateOf struct {
		Code int64
		Name string
	}
	placementOf struct {
		AvailabilityZone   string
		AvailabilityZoneID string `wire:"availabilityZoneId"`
		GroupName          string
		GroupID            string `wire:"groupId"`
		PartitionNumber    *int64
		Tenancy            string
	}
	monitoring struct{ State string }
	reason     struct{ Code, Message string }
	profileOf  struct {
		ARN string `wire:"arn"`
		ID  string `wire:"id"`
	}
	reservationOf struct {
		CapacityReservationPreference string
		Target                        *reservationTarget `wire:"capacityReservationTarget"`
	}
	metadataOf struct {
		State                   string
		HTTPTokens              string `wire:"httpTokens"`
		HTTPPutResponseHopLimit int64  `wire:"httpPutResponseHopLimit"`
		HTTPEndpoint            string `wire:"httpEndpoint"`
	}
	groupIdentifier struct {
		GroupID   string `wire:"groupId"`
		GroupName string
	}
	instanceDisk struct {
		DeviceName string
		EBS        struct {
			VolumeID            string `wire:"volumeId"`
			Status              string
			AttachTime          time.Time
			DeleteOnTermination bool
		} `wire:"ebs"`
	}
	networkInterface struct {
		ENI              string `wire:"networkInterfaceId"`
		SubnetID         string `wire:"subnetId"`
		VPCID            string `wire:"vpcId"`
		OwnerID          string `wire:"ownerId"`
		Status           string
		MACAddress       string `wire:"macAddress"`
		PrivateIPAddress string `wire:"privateIpAddress"`
		PrivateDNSName   string `wire:"privateDnsName"`
		SourceDestCheck  bool
		Groups           []groupIdentifier `wire:"groupSet"`
		InterfaceType    string
		Attachment       attachment
		PrivateIPs       []privateIP `wire:"privateIpAddressesSet"`
	}
	attachment struct {
		DeviceIndex         int64
		Status              string
		AttachTime          time.Time
		DeleteOnTermination bool
	}
	privateIP struct {
		PrivateIPAddress string `wire:"privateIpAddress"`
		PrivateDNSName   string `wire:"privateDnsName"`
		Primary          bool
	}
	reservation struct {
		ReservationID string            `wire:"reservationId"`
		OwnerID       string            `wire:"ownerId"`
		Groups        []groupIdentifier `wire:"groupSet"`
		Instances     []instance        `wire:"instancesSet"`
	}
)

// states are EC2's of the cloud's.
var states = map[fakecloud.State]stateOf{
	fakecloud.Creating: {0, "pending"}, fakecloud.Starting: {0, "pending"}, fakecloud.Running: {16, "running"},
	fakecloud.Rebuilding: {16, "running"}, fakecloud.Deleting: {32, "shutting-down"}, fakecloud.Gone: {48, "terminated"},
	fakecloud.Stopping: {64, "stopping"}, fakecloud.Off: {80, "stopped"},
}

// PrivateDNSName is the name that an instance with that address has in its VPC.
func PrivateDNSName(region string, ip netip.Addr) string {
	suffix := region + ".compute.internal"
	if region == "us-east-1" {
		suffix = "ec2.internal"
	}
	return "ip-" + strings.ReplaceAll(ip.String(), ".", "-") + "." + suffix
}

// PrivateIP is the address of an instance in its subnet; not valid if it has none.
func PrivateIP(i *fakecloud.Instance) netip.Addr {
	if len(i.Networks) == 0 {
		return netip.Addr{}
	}
	return i.Networks[0].IP
}

// InstanceARN is the resource name of an instance.
func InstanceARN(region, account, id string) string {
	return "arn:aws:ec2:" + region + ":" + account + ":instance/" + id
}

// describe is what is said of an instance. Of one that has ended EC2 forgets network and disks. Names are those of security groups.
func (s *Service) describe(tx *fakecloud.Tx, i *fakecloud.Instance, names map[string]string) instance {
	m := s.machines[i.ID]
	if m == nil { // of a cloud that was restored
		m = &machine{}
	}
	is := instance{
		InstanceID: i.Name, State: states[i.State], InstanceType: i.Type, LaunchTime: i.Created, Architecture: "x86_64", RootDeviceType: "ebs",
		RootDeviceName: "/dev/xvda", VirtualizationType: "hvm", SpotRequestID: m.spotRequest, ClientToken: m.token, Tags: listing.Tags(i.Labels),
		Hypervisor: "xen", EBSOptimized: true, ENASupport: true, PlatformDetails: linux, Monitoring: monitoring{"disabled"},
		Placement: placementOf{
			AvailabilityZone: i.Location, AvailabilityZoneID: s.zoneID(i.Location), Tenancy: "default", GroupID: m.placement.GroupID,
			GroupName: m.placement.GroupName, PartitionNumber: m.placement.PartitionNumber,
		},
	}
	if m.placement.Tenancy != "" {
		is.Placement.Tenancy = m.placement.Tenancy
	}
	if t := s.types[i.Type]; t != nil {
		is.Architecture = kinds.Architecture(t.Architecture == "arm")
	}
	if image := tx.Images.Get(i.Image); image != nil {
		is.ImageID = s.imageID(image)
	}
	if i.Spot {
		is.InstanceLifecycle = "spot"
	}
	if m.monitoring {
		is.Monitoring.State = "enabled"
	}
	if m.profile != "" {
		is.IAMInstanceProfile = &profileOf{ARN: m.profile, ID: "AIPA000000000000000000"}
	}
	is.describeReservation(tx, i)
	is.StateReason = stateReason(i)
	if i.State != fakecloud.Gone {
		s.describeNetwork(&is, i, m, names)
	}
	return is
}

// stateReason says why an instance ends.
func stateReason(i *fakecloud.Instance) *reason {
	switch {
	case i.State != fakecloud.Gone && i.State != fakecloud.Deleting:
		return nil
	case !i.Interrupted.IsZero():
		return &reason{"Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination"}
	}
	return &reason{"Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"}
}

func (s *Service) describeNetwork(is *instance, i *fakecloud.Instance, m *machine, names map[string]string) {
	ip := PrivateIP(i)
	if ip.IsValid() {
		is.PrivateIPAddress, is.PrivateDNSName = ip.String(), PrivateDNSName(s.Region, ip)
	}
	is.SubnetID, is.VPCID, is.SourceDestCheck = m.subnet, m.vpc, true
	for _, id := range m.groups {
		is.Groups = append(is.Groups, groupIdentifier{id, names[id]})
	}
	if m.eni != "" {
		eni := networkInterface{
			ENI: m.eni, SubnetID: m.subnet, VPCID: m.vpc, OwnerID: s.Account, Status: "in-use", PrivateIPAddress: is.PrivateIPAddress,
			PrivateDNSName: is.PrivateDNSName, SourceDestCheck: true, Groups: is.Groups, InterfaceType: "interface",
			Attachment: attachment{0, "attached", i.Created, true},
			PrivateIPs: []privateIP{{is.PrivateIPAddress, is.PrivateDNSName, true}},
		}
		if len(i.Networks) > 0 {
			eni.MACAddress = i.Networks[0].MACAddress
		}
		is.NetworkInterfaces = []networkInterface{eni}
	}
	if m.volume != "" {
		disk := instanceDisk{DeviceName: "/dev/xvda"}
		disk.EBS.VolumeID, disk.EBS.Status, disk.EBS.AttachTime, disk.EBS.DeleteOnTermination = m.volume, "attached", i.Created, true
		is.BlockDevices = []instanceDisk{disk}
	}
	if o := m.metadata; o.HTTPTokens != "" {
		is.MetadataOptions = &metadataOf{State: "applied", HTTPTokens: o.HTTPTokens, HTTPEndpoint: o.HTTPEndpoint}
		if o.HTTPPutResponseHopLimit != nil {
			is.MetadataOptions.HTTPPutResponseHopLimit = *o.HTTPPutResponseHopLimit
		}
	}
}

// What DescribeInstances asks and answers.
type (
	instancesRequest struct {
		DryRun      bool
		Filters     []listing.Filter `wire:"filter"`
		InstanceIDs []string         `wire:"instanceId,max=1000"`
		MaxResults  *int64           `wire:",min=5,max=1000"`
		NextToken   string
	}
	instancesAnswer struct {
		Reservations []reservation `wire:"reservationSet"`
		NextToken    string
	}
)

func instancesSubject(_ *api.Call, in *instancesRequest) api.Subject {
	return api.Subject{Instances: in.InstanceIDs}
}

var instanceID = regexp.MustCompile(`^i-[0-9a-f]{8}([0-9a-f]{9})?$`)

// listed are the instances that a listing shows, those that are named or all, as faults have it.
func (s *Service) listed(c *api.Call, ids []string) ([]*fakecloud.Instance, error) {
	for _, id := range ids {
		if !instanceID.MatchString(id) {
			return nil, malformed("InstanceID", id)
		}
	}
	all := fakecloud.CutShort(c.Tx, c.Tx.ListInstances(c.Match), c.Match)
	return listing.Chosen(all, ids, func(i *fakecloud.Instance) string { return i.Name }, func(id string) error {
		return wire.Errorf("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", id)
	})
}

// ofInstances is what instances can be filtered by.
func (s *Service) ofInstances(tx *fakecloud.Tx) listing.Kind[fakecloud.Instance] {
	of := func(f func(*machine) string) func(*fakecloud.Instance) []string {
		return func(i *fakecloud.Instance) []string {
			if m := s.machines[i.ID]; m != nil {
				return []string{f(m)}
			}
			return nil
		}
	}
	return listing.Kind[fakecloud.Instance]{
		Tags: func(i *fakecloud.Instance) map[string]string { return i.Labels },
		By: map[string]func(*fakecloud.Instance) []string{
			"instance-id":          listing.One(func(i *fakecloud.Instance) string { return i.Name }),
			"instance-state-name":  listing.One(func(i *fakecloud.Instance) string { return states[i.State].Name }),
			"instance-state-code":  listing.One(func(i *fakecloud.Instance) string { return fmt.Sprint(states[i.State].Code) }),
			"instance-type":        listing.One(func(i *fakecloud.Instance) string { return i.Type }),
			"availability-zone":    listing.One(func(i *fakecloud.Instance) string { return i.Location }),
			"availability-zone-id": listing.One(func(i *fakecloud.Instance) string { return s.zoneID(i.Location) }),
			"private-ip-address":   listing.One(func(i *fakecloud.Instance) string { return PrivateIP(i).String() }),
			"private-dns-name":     listing.One(func(i *fakecloud.Instance) string { return PrivateDNSName(s.Region, PrivateIP(i)) }),
			"image-id": listing.One(func(i *fakecloud.Instance) string {
				if image := tx.Images.Get(i.Image); image != nil {
					return s.imageID(image)
				}
				return ""
			}),
			"instance-lifecycle": func(i *fakecloud.Instance) []string {
				if i.Spot {
					return []string{"spot"}
				}
				return nil
			},
			"subnet-id":                of(func(m *machine) string { return m.subnet }),
			"vpc-id":                   of(func(m *machine) string { return m.vpc }),
			"network-interface.vpc-id": of(func(m *machine) string { return m.vpc }),
			"reservation-id":           of(func(m *machine) string { return m.reservation }),
			"spot-instance-request-id": of(func(m *machine) string { return m.spotRequest }),
			"client-token":             of(func(m *machine) string { return m.token }),
			"instance.group-id": func(i *fakecloud.Instance) []string {
				if m := s.machines[i.ID]; m != nil {
					return m.groups
				}
				return nil
			},
		},
	}
}

// describeInstances lists instances by their reservations. AWS's own pages may have fewer than asked for.
func (s *Service) describeInstances(c *api.Call, in *instancesRequest) (*instancesAnswer, error) {
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	if err := listing.NoPage(in.MaxResults, in.InstanceIDs, "instancesSet"); err != nil {
		return nil, err
	}
	all, err := s.listed(c, in.InstanceIDs)
	if err == nil {
		all, err = s.ofInstances(c.Tx).Filtered(c, all, in.Filters)
	}
	if err != nil {
		return nil, err
	}
	some, next, err := listing.Page(all, in.MaxResults, in.NextToken, 1000)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, f := range c.Tx.Firewalls.All() {
		names[f.Name] = f.Labels["Name"]
	}
	out := &instancesAnswer{Reservations: []reservation{}, NextToken: next}
	for _, i := range some {
		id := "r-" + strings.TrimPrefix(i.Name, "i-")
		if m := s.machines[i.ID]; m != nil {
			id = m.reservation
		}
		is := s.describe(c.Tx, i, names)
		if n := len(out.Reservations); n > 0 && out.Reservations[n-1].ReservationID == id {
			out.Reservations[n-1].Instances = append(out.Reservations[n-1].Instances, is)
			continue
		}
		out.Reservations = append(out.Reservations, reservation{
			ReservationID: id, OwnerID: s.Account, Groups: []groupIdentifier{}, Instances: []instance{is},
		})
	}
	return out, nil
}
