package ec2

import (
	"net/netip"

	"nodestorm/fakecloud"
)

// Discovery is the tag by which Karpenter's own guide has NodeClasses find subnets and security groups.
const Discovery = discovery

// Subnet is one of a VPC, with the addresses that AWS keeps for itself.
func Subnet(id, zone string, at netip.Prefix, tags map[string]string) fakecloud.Subnet {
	return fakecloud.Subnet{Type: "cloud", Name: id, Range: at, Zone: zone, Labels: tags, Reserved: reservedIPs}
}
