package account

import (
	"maps"
	"net/netip"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws"
	"nodestorm/fakecloud/aws/ec2"
	"nodestorm/fakecloud/aws/offer"
)

// Settings are what its cloud has in its configuration; clock, seed and recorder are missing.
func (a *Account) Settings() fakecloud.Config {
	cfg := aws.Settings()
	cfg.Catalogue = offer.In(a.Region, a.Zones, a.offers)
	return cfg
}

// Config is that of a server of the cloud, which has begun.
func (a *Account) Config(c *fakecloud.Cloud, keys map[string]string) aws.Config {
	cfg := aws.Config{
		Cloud: c, Region: a.Region, Account: a.Account, Keys: keys, Queue: a.Queue, Latency: aws.Latency, Roles: a.Roles,
		Parameters: a.parameters(),
		Cluster: aws.Cluster{
			Name: a.Cluster.Name, Endpoint: a.Cluster.Endpoint, CABundle: a.Cluster.CertificateAuthority,
			ServiceCIDR: a.Cluster.ServiceCIDR, Version: a.Cluster.Version,
		},
	}
	for _, p := range a.InstanceProfiles {
		cfg.Profiles = append(cfg.Profiles, aws.Profile{Name: p.Name, Path: p.Path, Role: p.Role, Tags: p.Tags})
	}
	return cfg
}

// Begin makes the VPC, and what it and the account have.
func (a *Account) Begin(tx *fakecloud.Tx) error {
	drawn := func(id, prefix string) string {
		if id != "" {
			return id
		}
		return prefix + "-" + tx.Hex(17)
	}
	of := netip.MustParsePrefix(a.VPC.Range) // checked
	n := fakecloud.Network{Meta: tx.NewMeta(drawn(a.VPC.ID, "vpc"), named(a.VPC.Tags, a.Cluster.Name)), Range: of}
	for _, s := range a.subnets(of) {
		n.Subnets = append(n.Subnets, ec2.Subnet(drawn(s.ID, "subnet"), s.Zone, netip.MustParsePrefix(s.Range), named(s.Tags, s.Name)))
	}
	tx.Networks.Put(n)
	groups := a.SecurityGroups
	if groups == nil {
		groups = []SecurityGroup{{Name: a.Cluster.Name + "-nodes", Tags: a.discovered()}}
	}
	for _, g := range groups {
		tx.Firewalls.Put(fakecloud.Firewall{Meta: tx.NewMeta(drawn(g.ID, "sg"), named(g.Tags, g.Name))})
	}
	for _, i := range a.Images {
		is := fakecloud.Image{
			Meta: tx.NewMeta(i.Name, maps.Clone(i.Tags)), Type: "snapshot", Description: i.Description, OSFlavor: "linux", DiskGB: 20,
			Architecture: map[string]string{"x86_64": "x86", "arm64": "arm"}[i.Architecture],
		}
		if !i.Created.IsZero() {
			is.Created = i.Created
		}
		tx.Images.Put(is)
	}
	return nil
}

// subnets are those of the file, or one in each zone.
func (a *Account) subnets(of netip.Prefix) []Subnet {
	if a.Subnets != nil {
		return a.Subnets
	}
	var all []Subnet
	for k, zone := range a.Zones {
		all = append(all, Subnet{Name: a.Cluster.Name + "-" + zone, Zone: zone, Range: slice(of, k).String(), Tags: a.discovered()})
	}
	return all
}

// discovered are the tags by which Karpenter's guide has NodeClasses find subnets and security groups.
func (a *Account) discovered() map[string]string {
	return map[string]string{ec2.Discovery: a.Cluster.Name}
}

// named are tags, of which one is the name, unless they have another.
func named(tags map[string]string, name string) map[string]string {
	all := map[string]string{"Name": name}
	maps.Copy(all, tags)
	return all
}
