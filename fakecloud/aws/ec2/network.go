package ec2

import (
	"strconv"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/ec2/listing"
)

// What is said of subnets.
type (
	subnetsRequest struct {
		DryRun     bool
		Filters    []listing.Filter `wire:"filter"`
		SubnetIDs  []string         `wire:"subnetId"`
		MaxResults *int64           `wire:",min=5,max=1000"`
		NextToken  string
	}
	subnetsAnswer struct {
		Subnets   []subnet `wire:"subnetSet"`
		NextToken string
	}
	subnet struct {
		SubnetID                string `wire:"subnetId"`
		SubnetARN               string `wire:"subnetArn"`
		State                   string
		OwnerID                 string `wire:"ownerId"`
		VPCID                   string `wire:"vpcId"`
		CIDRBlock               string `wire:"cidrBlock"`
		AvailableIPAddressCount int64  `wire:"availableIpAddressCount"`
		AvailabilityZone        string
		AvailabilityZoneID      string        `wire:"availabilityZoneId"`
		DefaultForAZ            bool          `wire:"defaultForAz"`
		MapPublicIPOnLaunch     bool          `wire:"mapPublicIpOnLaunch"`
		Tags                    []listing.Tag `wire:"tagSet"`
		labels                  map[string]string
	}
)

var ofSubnets = listing.Kind[subnet]{
	Tags: func(s *subnet) map[string]string { return s.labels },
	By: map[string]func(*subnet) []string{
		"subnet-id":                  listing.One(func(s *subnet) string { return s.SubnetID }),
		"vpc-id":                     listing.One(func(s *subnet) string { return s.VPCID }),
		"availability-zone":          listing.One(func(s *subnet) string { return s.AvailabilityZone }),
		"availability-zone-id":       listing.One(func(s *subnet) string { return s.AvailabilityZoneID }),
		"state":                      listing.One(func(s *subnet) string { return s.State }),
		"cidr-block":                 listing.One(func(s *subnet) string { return s.CIDRBlock }),
		"owner-id":                   listing.One(func(s *subnet) string { return s.OwnerID }),
		"available-ip-address-count": listing.One(func(s *subnet) string { return strconv.FormatInt(s.AvailableIPAddressCount, 10) }),
	},
}

// subnets are those of all networks.
func (s *Service) subnets(tx *fakecloud.Tx) (all []*subnet) {
	for _, n := range tx.Networks.All() {
		free := tx.FreeIPs(n)
		for _, of := range n.Subnets {
			all = append(all, &subnet{
				SubnetID: of.Name, SubnetARN: "arn:aws:ec2:" + s.Region + ":" + s.Account + ":subnet/" + of.Name, State: "available",
				OwnerID: s.Account, VPCID: n.Name, CIDRBlock: of.Range.String(), AvailableIPAddressCount: int64(free[of.Range]),
				AvailabilityZone: of.Zone, AvailabilityZoneID: s.zoneID(of.Zone), Tags: listing.Tags(of.Labels), labels: of.Labels,
			})
		}
	}
	return all
}

// subnetNamed is a subnet and its network, or nil.
func subnetNamed(tx *fakecloud.Tx, id string) (*fakecloud.Network, *fakecloud.Subnet) {
	for _, n := range tx.Networks.All() {
		for k := range n.Subnets {
			if n.Subnets[k].Name == id {
				return n, &n.Subnets[k]
			}
		}
	}
	return nil, nil
}

func (s *Service) describeSubnets(c *api.Call, in *subnetsRequest) (*subnetsAnswer, error) {
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	if err := listing.NoPage(in.MaxResults, in.SubnetIDs, "subnetIds"); err != nil {
		return nil, err
	}
	all, err := listing.Chosen(s.subnets(c.Tx), in.SubnetIDs, func(s *subnet) string { return s.SubnetID }, func(id string) error {
		return missing("SubnetID", "subnet ID", id)
	})
	if err != nil {
		return nil, err
	}
	if all, err = ofSubnets.Filtered(c, all, in.Filters); err != nil {
		return nil, err
	}
	some, next, err := listing.Page(all, in.MaxResults, in.NextToken, 1000)
	if err != nil {
		return nil, err
	}
	out := &subnetsAnswer{Subnets: []subnet{}, NextToken: next}
	for _, s := range some {
		out.Subnets = append(out.Subnets, *s)
	}
	return out, nil
}

// What is said of security groups.
type (
	groupsRequest struct {
		DryRun     bool
		Filters    []listing.Filter `wire:"filter"`
		GroupIDs   []string         `wire:"groupId"`
		GroupNames []string         `wire:"groupName"`
		MaxResults *int64           `wire:",min=5,max=1000"`
		NextToken  string
	}
	groupsAnswer struct {
		Groups    []group `wire:"securityGroupInfo"`
		NextToken string
	}
	group struct {
		OwnerID          string `wire:"ownerId"`
		GroupID          string `wire:"groupId"`
		GroupName        string
		GroupDescription string
		VPCID            string        `wire:"vpcId"`
		Tags             []listing.Tag `wire:"tagSet"`
		labels           map[string]string
	}
)

var ofGroups = listing.Kind[group]{
	Tags: func(g *group) map[string]string { return g.labels },
	By: map[string]func(*group) []string{
		"group-id":    listing.One(func(g *group) string { return g.GroupID }),
		"group-name":  listing.One(func(g *group) string { return g.GroupName }),
		"description": listing.One(func(g *group) string { return g.GroupDescription }),
		"vpc-id":      listing.One(func(g *group) string { return g.VPCID }),
		"owner-id":    listing.One(func(g *group) string { return g.OwnerID }),
	},
}

// groups are the security groups: the cloud's firewalls.
func (s *Service) groups(tx *fakecloud.Tx) (all []*group) {
	vpc := ""
	if networks := tx.Networks.All(); len(networks) > 0 {
		vpc = networks[0].Name
	}
	for _, f := range tx.Firewalls.All() {
		all = append(all, &group{
			OwnerID: s.Account, GroupID: f.Name, GroupName: f.Labels["Name"], GroupDescription: "nodes of " + s.Cluster, VPCID: vpc,
			Tags: listing.Tags(f.Labels), labels: f.Labels,
		})
	}
	return all
}

func (s *Service) describeGroups(c *api.Call, in *groupsRequest) (*groupsAnswer, error) {
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	if err := listing.NoPage(in.MaxResults, in.GroupIDs, "groupIds"); err != nil {
		return nil, err
	}
	all, err := listing.Chosen(s.groups(c.Tx), in.GroupIDs, func(g *group) string { return g.GroupID }, func(id string) error {
		return missing("Group", "security group", id)
	})
	if err != nil {
		return nil, err
	}
	all, err = listing.Chosen(all, in.GroupNames, func(g *group) string { return g.GroupName }, func(name string) error {
		return missing("Group", "security group", name)
	})
	if err != nil {
		return nil, err
	}
	if all, err = ofGroups.Filtered(c, all, in.Filters); err != nil {
		return nil, err
	}
	some, next, err := listing.Page(all, in.MaxResults, in.NextToken, 1000)
	if err != nil {
		return nil, err
	}
	out := &groupsAnswer{Groups: []group{}, NextToken: next}
	for _, g := range some {
		out.Groups = append(out.Groups, *g)
	}
	return out, nil
}

// What is said of zones.
type (
	zonesRequest struct {
		DryRun               bool
		AllAvailabilityZones bool
		Filters              []listing.Filter `wire:"filter"`
		ZoneNames            []string         `wire:"zoneName"`
		ZoneIDs              []string         `wire:"zoneId"`
	}
	zonesAnswer struct {
		Zones []zone `wire:"availabilityZoneInfo"`
	}
	zone struct {
		ZoneName           string
		ZoneState          string
		RegionName         string
		ZoneID             string `wire:"zoneId"`
		GroupName          string
		NetworkBorderGroup string
		OptInStatus        string
		ZoneType           string
	}
)

var ofZones = listing.Kind[zone]{By: map[string]func(*zone) []string{
	"zone-name":   listing.One(func(z *zone) string { return z.ZoneName }),
	"zone-id":     listing.One(func(z *zone) string { return z.ZoneID }),
	"zone-type":   listing.One(func(z *zone) string { return z.ZoneType }),
	"region-name": listing.One(func(z *zone) string { return z.RegionName }),
	"state":       listing.One(func(z *zone) string { return z.ZoneState }),
}}

func (s *Service) describeZones(c *api.Call, in *zonesRequest) (*zonesAnswer, error) {
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	var all []*zone
	for _, l := range s.Cloud.Catalogue().Locations {
		all = append(all, &zone{l.Name, "available", s.Region, l.Datacenter, s.Region, s.Region, "opt-in-not-required", "availability-zone"})
	}
	unknown := func(name string) error { return missing("Zone", "zone", name) }
	all, err := listing.Chosen(all, in.ZoneNames, func(z *zone) string { return z.ZoneName }, unknown)
	if err == nil {
		all, err = listing.Chosen(all, in.ZoneIDs, func(z *zone) string { return z.ZoneID }, unknown)
	}
	if err == nil {
		all, err = ofZones.Filtered(c, all, in.Filters)
	}
	if err != nil {
		return nil, err
	}
	out := &zonesAnswer{Zones: []zone{}}
	for _, z := range all {
		out.Zones = append(out.Zones, *z)
	}
	return out, nil
}
