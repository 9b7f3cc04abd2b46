package fakecloud

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"nodestorm/fakecloud/table"
)

// Network is a private network.
type Network struct {
	table.Meta
	Range                 netip.Prefix
	Subnets               []Subnet
	Routes                []Route
	ExposeRoutesToVSwitch bool
}

// Subnet is the part of a Network that one zone uses.
type Subnet struct {
	Type      string // "cloud", "server" (its old name) or "vswitch"
	Range     netip.Prefix
	Zone      string
	VSwitchID int64
	// Name and Labels are a subnet's own, in clouds that have such.
	Name   string            `json:",omitempty"`
	Labels map[string]string `json:",omitempty"`
	// Reserved is how many of its first addresses the cloud keeps, and its last one. Zero means two.
	Reserved int `json:",omitempty"`
	// Taken is how many of its addresses things have that are not modelled here, such as pods and other accounts.
	Taken int `json:",omitempty"`
}

// first is the first address that can be had.
func (s Subnet) first() netip.Addr {
	ip := s.Range.Masked().Addr()
	for range s.reserved() {
		ip = ip.Next()
	}
	return ip
}

func (s Subnet) reserved() int {
	if s.Reserved > 0 {
		return s.Reserved
	}
	return 2 // the network's, and the subnet's gateway
}

// Route sends traffic for a destination to an address in the network.
type Route struct {
	Destination netip.Prefix
	Gateway     netip.Addr
}

// Gateway is the network's own address in the subnet: the first of the network's range.
func (n *Network) Gateway() netip.Addr { return n.Range.Masked().Addr().Next() }

// FreeIP returns a free address of the network, in the first subnet of the zone that has
// one, or in the given subnet only. ok is false where there is none.
func (tx *Tx) FreeIP(n *Network, zone string, subnet netip.Prefix) (ip netip.Addr, ok bool) {
	taken := tx.taken(n.ID)
	taken[n.Gateway()] = true
	for _, s := range n.Subnets {
		if s.Zone != zone || (subnet.IsValid() && s.Range != subnet) || s.Taken > 0 && s.free(taken) == 0 {
			continue
		}
		last := lastIP(s.Range)
		for ip := s.first(); s.Range.Contains(ip) && ip != last; ip = ip.Next() {
			if !taken[ip] {
				return ip, true
			}
		}
	}
	return netip.Addr{}, false
}

// FreeIPs is how many addresses of each subnet of the network are free, by their ranges.
func (tx *Tx) FreeIPs(n *Network) map[netip.Prefix]int {
	free := map[netip.Prefix]int{}
	taken := tx.taken(n.ID)
	for _, s := range n.Subnets {
		free[s.Range] = s.free(taken)
	}
	return free
}

// free is how many of the subnet's addresses can be had.
func (s Subnet) free(taken map[netip.Addr]bool) int {
	left := 1<<(32-s.Range.Bits()) - s.reserved() - 1 - s.Taken
	for ip := range taken {
		// mutant: addresses that instances have are free
		if s.Range.Contains(ip) {
			left--
		}
	}
	return max(0, left)
}

// LeaveFree has things that are not modelled here take addresses of the subnet with that name, or give some back, so that so many are
// free. It fails where the subnet has not so many.
func (tx *Tx) LeaveFree(name string, free int) error {
	for _, n := range tx.Networks.All() {
		k := slices.IndexFunc(n.Subnets, func(s Subnet) bool { return s.Name == name })
		if k < 0 {
			continue
		}
		s := n.Subnets[k]
		s.Taken = 0
		most := s.free(tx.taken(n.ID))
		if free < 0 || free > most {
			return Errorf("invalid_input", "subnet %s cannot have %d free addresses: want 0 to %d", name, free, most)
		}
		s.Taken = most - free
		tx.Networks.Update(n.ID, func(n *Network) {
			n.Subnets = slices.Clone(n.Subnets)
			n.Subnets[k] = s
		})
		return nil
	}
	return Errorf("not_found", "there is no subnet %s", name)
}

// HasFree reports whether ip lies in a subnet of the network and is free.
func (tx *Tx) HasFree(n *Network, ip netip.Addr) bool {
	inside := slices.ContainsFunc(n.Subnets, func(s Subnet) bool { return s.Range.Contains(ip) })
	return inside && ip != n.Gateway() && !tx.taken(n.ID)[ip]
}

// AttachedTo are all places in a network, also those that are not attached yet.
func (tx *Tx) AttachedTo(network int64) []Attachment {
	var all []Attachment
	note := func(some []Attachment) {
		for _, a := range some {
			if a.Network == network {
				all = append(all, a)
			}
		}
	}
	for _, i := range tx.Instances.All() {
		note(i.Networks)
	}
	for _, lb := range tx.LoadBalancers.All() {
		note(lb.Networks)
	}
	return all
}

// taken are the addresses of a network that are not free. They are the caller's to change.
func (tx *Tx) taken(network int64) map[netip.Addr]bool {
	if all := tx.addresses[network]; all != nil {
		return maps.Clone(all)
	}
	return map[netip.Addr]bool{}
}

func lastIP(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().As4()
	for bit := p.Bits(); bit < 32; bit++ {
		b[bit/8] |= 1 << (7 - bit%8)
	}
	return netip.AddrFrom4(b)
}

// NewAttachment is a place in the network for an address, not attached yet.
func (tx *Tx) NewAttachment(network int64, ip netip.Addr, aliases []netip.Addr) Attachment {
	n := tx.random.Uint32()
	return Attachment{
		Network: network, IP: ip, AliasIPs: aliases,
		MACAddress: fmt.Sprintf("86:00:%02x:%02x:%02x:%02x", byte(n>>24), byte(n>>16), byte(n>>8), byte(n)),
	}
}

// reserve finds addresses in networks, in the subnet if there is one.
func (tx *Tx) reserve(networks []int64, zone string, subnet netip.Prefix) ([]Attachment, error) {
	var all []Attachment
	for _, id := range networks {
		ip, ok := tx.FreeIP(tx.Networks.Get(id), zone, subnet)
		if !ok {
			return nil, Errorf("no_subnet_available", "no subnet or IP available in network %d", id)
		}
		all = append(all, tx.NewAttachment(id, ip, nil))
	}
	return all, nil
}

// attached notes that an instance is in a network now, or not.
func (tx *Tx) attached(server, network int64, is bool) {
	tx.Instances.Update(server, func(i *Instance) {
		i.Networks = slices.Clone(i.Networks)
		i.Networks = slices.DeleteFunc(i.Networks, func(a Attachment) bool { return a.Network == network && !is })
		for k := range i.Networks {
			if i.Networks[k].Network == network {
				i.Networks[k].Attached = true
			}
		}
	})
}

// Empty detaches all instances and load balancers from a network at once. The API does so "in the
// background" when a network is deleted.
func (tx *Tx) Empty(network int64) {
	is := func(a Attachment) bool { return a.Network == network }
	for _, i := range tx.Instances.All() {
		if slices.ContainsFunc(i.Networks, is) {
			tx.attached(i.ID, network, false)
		}
	}
	for _, lb := range tx.LoadBalancers.All() {
		if slices.ContainsFunc(lb.Networks, is) {
			tx.LoadBalancers.Update(lb.ID, func(lb *LoadBalancer) { lb.Networks = nil }) // it is in one at most
		}
	}
}

// PublicIP returns the next public address. They come out of ranges that are never routed: 198.18.0.0/15
// (RFC 2544) and, a /64 each with its first host address, 2001:db8::/32 (RFC 3849).
func (tx *Tx) PublicIP(kind string) netip.Addr {
	tx.ips++
	n := tx.ips % (1 << 17)
	if kind == "ipv4" {
		return netip.AddrFrom4([4]byte{198, 18 + byte(n>>16), byte(n >> 8), byte(n)})
	}
	b := netip.MustParseAddr("2001:db8::1").As16()
	b[4], b[5], b[6], b[7] = byte(tx.ips>>24), byte(tx.ips>>16), byte(tx.ips>>8), byte(tx.ips)
	return netip.AddrFrom16(b)
}

// publicIP gives an instance an existing primary IP, or a new one that goes with it.
func (tx *Tx) publicIP(id int64, kind string, i *Instance) (int64, netip.Addr) {
	if id == 0 {
		id = tx.NewPrimaryIP(fmt.Sprintf("primary_ip-%d", tx.id+1), kind, i.Location, nil, true)
	}
	tx.PrimaryIPs.Update(id, func(p *PrimaryIP) { p.AssigneeID, p.AssigneeType = i.ID, "server" })
	return id, tx.PrimaryIPs.Get(id).IP
}

// NewPrimaryIP creates a new address.
func (tx *Tx) NewPrimaryIP(name, kind, location string, labels map[string]string, autoDelete bool) int64 {
	p := PrimaryIP{
		Meta: tx.NewMeta(name, labels), Type: kind, IP: tx.PublicIP(kind), Location: location,
		AssigneeType: "unassigned", AutoDelete: autoDelete,
	}
	tx.PrimaryIPs.Put(p)
	return p.ID
}

// ReleaseIPs lets go of the primary IPs of an instance or load balancer: they are deleted, or kept without
// assignee.
func (tx *Tx) ReleaseIPs(ids ...int64) {
	for _, id := range ids {
		if p := tx.PrimaryIPs.Get(id); p != nil && p.AutoDelete {
			tx.PrimaryIPs.Delete(id)
		}
		tx.PrimaryIPs.Update(id, func(p *PrimaryIP) { p.AssigneeID, p.AssigneeType = 0, "unassigned" })
	}
}

// release lets go of all that refers to an instance that is gone.
func (tx *Tx) release(i *Instance) {
	tx.ReleaseIPs(i.PrimaryIPv4ID, i.PrimaryIPv6ID)
	for _, v := range tx.Volumes.All() {
		if v.Server == i.ID {
			tx.Volumes.Update(v.ID, func(v *Volume) { v.Server = 0 })
		}
	}
	for _, f := range tx.FloatingIPs.All() {
		if f.Server == i.ID {
			tx.FloatingIPs.Update(f.ID, func(f *FloatingIP) { f.Server = 0 })
		}
	}
	for _, f := range tx.Firewalls.All() {
		if slices.Contains(f.Servers, i.ID) {
			tx.Firewalls.Update(f.ID, func(f *Firewall) { f.Servers = withoutID(f.Servers, i.ID) })
		}
	}
	for _, lb := range tx.LoadBalancers.All() {
		is := func(t Target) bool { return t.Server == i.ID }
		if slices.ContainsFunc(lb.Targets, is) {
			tx.LoadBalancers.Update(lb.ID, func(lb *LoadBalancer) { lb.Targets = slices.DeleteFunc(slices.Clone(lb.Targets), is) })
		}
	}
}

func withoutID(ids []int64, id int64) []int64 {
	return slices.DeleteFunc(slices.Clone(ids), func(other int64) bool { return other == id })
}

// Retag replaces the labels of the subnet of that name.
func (n *Network) Retag(subnet string, labels map[string]string) {
	n.Subnets = slices.Clone(n.Subnets)
	for k := range n.Subnets {
		if n.Subnets[k].Name == subnet {
			n.Subnets[k].Labels = labels
		}
	}
}
