package ec2

import (
	"fmt"
	"net/netip"
	"slices"

	"nodestorm/fakecloud"
)

// subnetBits is the size of subnets: 8,192 addresses.
const subnetBits = 19

// newSubnet is one of the VPC's, the k-th, which is discovered and called so by its tag.
func (s *Service) newSubnet(tx *fakecloud.Tx, k int, name, zone string) fakecloud.Subnet {
	at := netip.AddrFrom4([4]byte{10, 0, byte(k << (24 - subnetBits)), 0})
	return fakecloud.Subnet{
		Type: "cloud", Name: "subnet-" + tx.Hex(17), Range: netip.PrefixFrom(at, subnetBits), Zone: zone, Reserved: reservedIPs,
		Labels: map[string]string{"Name": name, discovery: s.Cluster},
	}
}

// room is how many addresses can be had in a subnet: all but those that AWS keeps.
const room = 1<<(32-subnetBits) - reservedIPs - 1

// AddSubnet has the VPC have one more subnet in a zone, which is called name by its tag, is discovered like the first ones, and has
// so many free addresses. It fails where the VPC has no room for it, or has one that is called so.
func (s *Service) AddSubnet(name, zone string, free int) error {
	return s.Cloud.Update(func(tx *fakecloud.Tx) error {
		vpc := tx.Networks.All()[0]
		most := 1 << (subnetBits - vpc.Range.Bits())
		switch {
		case s.Cloud.Catalogue().Location(zone) == nil:
			return fmt.Errorf("there is no zone %q in %s", zone, s.Region)
		case called(vpc, name) != nil:
			return fmt.Errorf("there is a subnet %q already", name)
		case free < 0 || free > room:
			return fmt.Errorf("subnet %q: it cannot have %d free addresses: want 0 to %d", name, free, room)
		case len(vpc.Subnets) >= most:
			return fmt.Errorf("the VPC %s has %d subnets, and no room for %q", vpc.Range, most, name)
		}
		tx.Networks.Update(vpc.ID, func(n *fakecloud.Network) {
			n.Subnets = append(slices.Clone(n.Subnets), s.newSubnet(tx, len(n.Subnets), name, zone))
		})
		return tx.LeaveFree(called(tx.Networks.Get(vpc.ID), name).Name, free)
	})
}

// LeaveFree has other things take addresses of the subnet that is called name by its tag, or give some back, so that so many are free.
func (s *Service) LeaveFree(name string, free int) error {
	return s.Cloud.Update(func(tx *fakecloud.Tx) error {
		of := called(tx.Networks.All()[0], name)
		if of == nil {
			var names []string
			for _, is := range tx.Networks.All()[0].Subnets {
				names = append(names, is.Labels["Name"])
			}
			return fmt.Errorf("there is no subnet %q: there are %q", name, names)
		}
		return tx.LeaveFree(of.Name, free)
	})
}

// called is the subnet with that name as its tag, or nil.
func called(n *fakecloud.Network, name string) *fakecloud.Subnet {
	k := slices.IndexFunc(n.Subnets, func(s fakecloud.Subnet) bool { return s.Labels["Name"] == name })
	if k < 0 {
		return nil
	}
	return &n.Subnets[k]
}
