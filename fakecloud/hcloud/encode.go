package hcloud

import (
	"iter"
	"net/netip"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/hcloud/offers"
	"nodestorm/fakecloud/hcloud/rest"
)

// server is schema.Server with what it cannot express: addresses that are null, and the data centre, which
// the API has had until July 2026.
type server struct {
	schema.Server
	PublicNet  publicNet         `json:"public_net"`
	Datacenter schema.Datacenter `json:"datacenter"`
}

type publicNet struct {
	IPv4        *schema.ServerPublicNetIPv4 `json:"ipv4"`
	IPv6        *schema.ServerPublicNetIPv6 `json:"ipv6"`
	FloatingIPs []int64                     `json:"floating_ips"`
	Firewalls   []schema.ServerFirewall     `json:"firewalls"`
}

// statusNames are the API's words for states that it calls otherwise.
var statusNames = map[fakecloud.State]string{fakecloud.Creating: "initializing"}

func statusName(s fakecloud.State) string {
	if name, ok := statusNames[s]; ok {
		return name
	}
	return string(s)
}

func serverBody(c *rest.Call, i *fakecloud.Instance) any {
	catalogue := c.Cloud().Catalogue()
	t, l := catalogue.ServerType(i.Type), catalogue.Location(i.Location)
	s := server{
		Server: schema.Server{
			ID: i.ID, Name: i.Name, Status: statusName(i.State), Created: i.Created, ServerType: offers.ServerType(c, t),
			OutgoingTraffic: new(uint64(0)), IngoingTraffic: new(uint64(0)), RescueEnabled: i.Rescue, Locked: i.Locked(),
			Location: offers.Location(l), PrimaryDiskSize: t.DiskGB, Labels: rest.Labels(i.Labels), Volumes: []int64{}, LoadBalancers: []int64{},
			Protection: schema.ServerProtection{Delete: i.Protected, Rebuild: i.RebuildProtected}, PrivateNet: []schema.ServerPrivateNet{},
		},
		PublicNet:  publicNetBody(c, i),
		Datacenter: offers.Datacenter(l),
	}
	if price, ok := t.PriceIn(i.Location); ok {
		s.IncludedTraffic = offers.Terabytes(price.TrafficTB)
	}
	if image := c.Tx.Images.Get(i.Image); image != nil {
		s.Image = new(imageBody(c, image).(schema.Image))
	}
	if i.BackupWindow != "" {
		s.BackupWindow = new(i.BackupWindow)
	}
	if iso := find(catalogue.ISOs, func(iso fakecloud.ISO) bool { return iso.ID == i.ISO }); iso != nil {
		s.ISO = new(offers.ISO(iso))
	}
	if g := c.Tx.PlacementGroups.Get(i.PlacementGroup); g != nil {
		s.PlacementGroup = new(placementGroupBody(c, g).(schema.PlacementGroup))
	}
	for _, a := range i.Networks {
		if a.Attached {
			s.PrivateNet = append(s.PrivateNet, schema.ServerPrivateNet{
				Network: a.Network, IP: a.IP.String(), AliasIPs: addresses(a.AliasIPs), MACAddress: a.MACAddress,
			})
		}
	}
	for _, v := range c.Tx.Volumes.All() {
		if v.Server == i.ID {
			s.Volumes = append(s.Volumes, v.ID)
		}
	}
	for _, lb := range c.Tx.LoadBalancers.All() {
		if slices.ContainsFunc(lb.Targets, func(t fakecloud.Target) bool { return t.Server == i.ID }) {
			s.LoadBalancers = append(s.LoadBalancers, lb.ID)
		}
	}
	return s
}

func publicNetBody(c *rest.Call, i *fakecloud.Instance) publicNet {
	n := publicNet{FloatingIPs: []int64{}, Firewalls: []schema.ServerFirewall{}}
	if i.PublicIPv4.IsValid() {
		ip := i.PublicIPv4.String()
		n.IPv4 = &schema.ServerPublicNetIPv4{ID: i.PrimaryIPv4ID, IP: ip, DNSPtr: pointer(i.DNSPtr, i.PublicIPv4)}
	}
	if i.PublicIPv6.IsValid() {
		n.IPv6 = &schema.ServerPublicNetIPv6{ID: i.PrimaryIPv6ID, IP: prefix64(i.PublicIPv6), DNSPtr: []schema.ServerPublicNetIPv6DNSPtr{}}
		for _, ip := range sortedKeys(i.DNSPtr) {
			if ip != i.PublicIPv4.String() {
				n.IPv6.DNSPtr = append(n.IPv6.DNSPtr, schema.ServerPublicNetIPv6DNSPtr{IP: ip, DNSPtr: i.DNSPtr[ip]})
			}
		}
	}
	for _, f := range c.Tx.FloatingIPs.All() {
		if f.Server == i.ID {
			n.FloatingIPs = append(n.FloatingIPs, f.ID)
		}
	}
	for _, f := range c.Tx.Firewalls.All() {
		if slices.Contains(f.Servers, i.ID) || selected(f.Selectors, i.Labels) {
			n.Firewalls = append(n.Firewalls, schema.ServerFirewall{ID: f.ID, Status: "applied"})
		}
	}
	return n
}

// selected reports whether one of the selectors, which are known to be valid, matches.
func selected(selectors []string, labels map[string]string) bool {
	return slices.ContainsFunc(selectors, func(text string) bool {
		s, err := rest.ParseSelector(text)
		return err == nil && s.Matches(labels)
	})
}

func addresses(ips []netip.Addr) []string {
	all := []string{}
	for _, ip := range ips {
		all = append(all, ip.String())
	}
	return all
}

// prefix64 is the /64 that an IPv6 address is the first of.
func prefix64(ip netip.Addr) string { return netip.PrefixFrom(ip, 64).Masked().String() }

// pointer is an address's reverse DNS name: the one that was set, or that of the address itself.
func pointer(set map[string]string, ip netip.Addr) string {
	if name, ok := set[ip.String()]; ok {
		return name
	}
	b := ip.As4()
	return "static." + netip.AddrFrom4([4]byte{b[3], b[2], b[1], b[0]}).String() + ".clients.your-server.de"
}

// pointers are the addresses with a reverse DNS name: an IPv4 address always, of an IPv6 /64 those
// that were set.
func pointers(set map[string]string, ip netip.Addr) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		if ip.Is4() {
			yield(ip.String(), pointer(set, ip))
			return
		}
		for _, ip := range sortedKeys(set) {
			if !yield(ip, set[ip]) {
				return
			}
		}
	}
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func find[T any](all []T, is func(T) bool) *T {
	if k := slices.IndexFunc(all, is); k >= 0 {
		return &all[k]
	}
	return nil
}
